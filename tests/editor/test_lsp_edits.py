"""What an editor shows after any edits and undos is what the linter says of the text that is there in the end."""

import asyncio

import pytest
from cases import read_cases
from editor import place, start, uri_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from rubric_lint.lint.engine import lint
from rubric_lint.lint.project.settings import SettingsFinder

TABLES = read_cases(__file__)


FAULTY = """\
rubrics:
  - id: tone 😀
    score_ranges:
      - score_range: [0, 4]
        expected_outcome: Blames 😀
      - {score_range: [4, 10], expected_outcome: Helps}
  - {id: tone 😀, description: é, wieght: 1}
"""
SUITE = """\
tests:
  - id: a
    rubrics:
      - id: b # rubric-lint: ignore[overlap]
        description: Says so
        required: true
"""
TEXTS = [
    FAULTY,
    SUITE.replace("\n", "\r\n"),
    '{"rubrics": [{"id": "a", "id": "b", "expected_outcome": "", "levels": [{"level": 1}]}]}\n',
    "\ufeffrubrics:\n  - &a {id: a, expected_outcome: Says so}\n  - *a\n--- # two\nrubrics: [x, {id: 1}]\n",
    "",
]
PIECES = TABLES["PIECES"]
# Two places of a text as shares of a thousand, and what stands between them afterwards.
EDITS = st.tuples(st.integers(0, 1000), st.integers(0, 30), st.sampled_from(PIECES))
UNDO = st.just("undo")


@pytest.fixture(scope="module", params=["utf-8", "utf-16", "utf-32"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits")
    with asyncio.Runner() as runner:
        session = start(folder, encodings=[request.param], settings={folder: {"debounce": 0}})
        editor = runner.run(session.__aenter__())
        yield runner, editor, folder, request.param
        assert runner.run(editor.end()) == 0
        runner.run(session.__aexit__(None, None, None))


class Document:
    """A text in an editor, which counts positions by itself and remembers what it has to undo."""

    def __init__(self, content, encoding):
        self.content = content
        self._encoding = encoding
        self._undo = []

    def edit(self, edits):
        """Make some edits one after the other; the changes for the server."""
        undo, changes = [], []
        for share, length, new in edits:
            start = self._find_place(share * len(self.content) // 1000)
            end = self._find_place(min(start + length, len(self.content)))
            undo.insert(0, (start, start + len(new), self.content[start:end]))
            changes.append(self._splice(start, end, new))
        self._undo.append(undo)
        return changes

    def undo(self):
        """Take the last of those that were not taken back yet, which comes as one change of the server too."""
        return [self._splice(*each) for each in self._undo.pop()] if self._undo else []

    def position(self, offset):
        return types.Position(*place(self.content, offset, self._encoding))

    def _find_place(self, offset):
        return offset + (self.content[offset - 1 : offset + 1] == "\r\n" and offset > 0)

    def _splice(self, start, end, new):
        # No position is inside a CRLF, which an edit before may have made.
        if self.content[start - 1 : start + 1] == "\r\n" and start > 0:
            start, new = start - 1, "\r" + new
        if self.content[end - 1 : end + 1] == "\r\n" and end > 0:
            end, new = end + 1, new + "\n"
        change = types.TextDocumentContentChangePartial(types.Range(self.position(start), self.position(end)), new)
        self.content = self.content[:start] + new + self.content[end:]
        return change


def expected(name, document):
    """What the linter says of the text, in the terms of the editor."""
    rules = SettingsFinder(isolated=True).for_file(name)
    lead = len(document.content) - len(document.content.lstrip("\ufeff"))

    def place_of(span):
        return types.Range(document.position(span.start + lead), document.position(span.end + lead))

    return [
        (finding.rule, finding.message, place_of(finding.span), [place_of(each.span) for each in finding.related])
        for finding in lint(name, document.content.encode(), rules).findings
    ]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(TEXTS),
    st.sampled_from(["a.yaml", "a.rubric.yaml", "a.jsonl"]),
    st.lists(st.lists(EDITS, min_size=1, max_size=6) | UNDO, max_size=8),
)
def test_edits_and_undos_end_in_the_findings_of_the_text(server, text, name, notes):
    runner, editor, folder, encoding = server

    async def session():
        uri, document = uri_of(folder / name), Document(text, encoding)
        editor.published.clear()
        editor.open(uri, text)
        for version, note in enumerate(notes, 2):
            editor.change(uri, version, *(document.undo() if note == "undo" else document.edit(note)))
        found = await editor.diagnostics(uri, len(notes) + 1)
        editor.close(uri)
        return document, found

    document, found = runner.run(session())
    assert [
        (each.code, each.message, each.range, [other.location.range for other in each.related_information or ()])
        for each in found
        if each.code  # what looks like a rubric and is not read has none
    ] == expected(str(folder / name), document)
