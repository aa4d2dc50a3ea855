"""The laws that hold for every input, each a function from bytes that raises when one is broken.

The first byte of an input chooses a variant (the kind of file, the target, the option); the rest is the file itself.
"""

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from rubric_lint import (
    FileSettings,
    OutputError,
    Result,
    RubricError,
    SettingsError,
    Source,
    Verdict,
    find_settings,
    fix_source,
    lint_source,
    load_rubrics,
    score,
    show_source,
)
from rubric_lint.cli.lint.convert import convert
from rubric_lint.cli.lint.show import diff
from rubric_lint.cli.score.score import score as score_command
from rubric_lint.convert.export import TARGETS
from rubric_lint.lint.fix.silence import silence
from rubric_lint.model.messages import visible
from rubric_lint.report import Style
from rubric_lint.report.show import ShowText

NAMES = ("a.yaml", "a.rubric.yaml", "a.json", "a.jsonl", "a.rubric.json", "a.eval.yaml")
RUBRICS = """\
tests:
  - id: checks
    rubrics:
      - Names the refund window
      - {id: b, expected_outcome: Links to the policy, weight: 2.5, required_min_score: 10}
  - id: ranges
    rubrics:
      - {id: a, required_min_score: 7, score_ranges: {0: Differs from the article, 7: Agrees with the article}}
      - {id: b, weight: 0.1, score_ranges: {0: Over 80 words, 3: Over 60 words, 6: At most 60 words}}
  - id: whole
    rubrics: [{score_range: [0, 4], expected_outcome: Off topic}, {score_range: [5, 10], expected_outcome: On topic}]
  - id: steps
    rubrics:
      - {id: a, required_min_level: 2, levels: [{level: 1, expected_outcome: None}, {level: 2, expected_outcome: One}]}
"""
LOADED = load_rubrics("suite.yaml", RUBRICS)


def lint(data: bytes) -> None:
    """Linting never crashes, and each finding is in the text, is worded on one line and comes out the same again."""
    name, body = _choose(data, NAMES)
    result = lint_source(name, body)
    _check_places(result)
    assert _describe(lint_source(name, body)) == _describe(result), "two runs differ"
    for settings in (FileSettings(claimed=True), FileSettings(version="v1"), FileSettings(implicit_required=True)):
        _check_places(lint_source(name, body, settings))


def shows(data: bytes) -> None:
    """Showing never crashes, is never silent, prints on one line what is one, and scores as the library does."""
    name, body = _choose(data, NAMES)
    described = show_source(name, body)
    json.dumps(described.to_json(), allow_nan=False).encode()
    drawn: list[str] = []
    ShowText(drawn.append, Style(columns=80)).add(described)
    assert "".join(drawn).strip(), "nothing is said of the file"
    assert all(visible(line) == line for line in "".join(drawn).split("\n")), "a line gives orders"
    try:
        loaded = load_rubrics(name, body)
    except RubricError as refused:
        assert not described.rubrics or described.unscorable == refused.faults
        assert not any(rubric.examples for rubric in described.rubrics)
        return
    for rubric, scoring in zip(described.rubrics, loaded.values(), strict=True):
        for example in rubric.examples:
            scored = score(scoring, example.output)
            assert (scored.score, scored.verdict) == (example.score, example.verdict)


def fix(data: bytes) -> None:
    """A fix can be read, is stable, adds no finding, keeps the bytes of what it does not touch, and keeps scores."""
    name, body = _choose(data, NAMES)
    before = lint_source(name, body)
    for unsafe in (False, True):
        fixed = fix_source(name, body, unsafe=unsafe)
        if not fixed.is_changed:
            assert fixed.data == body, "nothing was fixed, but the bytes changed"
            continue
        after = lint_source(name, fixed.data)
        assert not any(finding.rule == "syntax" for finding in after.findings) or _counts(before)["syntax"]
        grown = {rule for rule, count in _counts(after).items() if count > _counts(before).get(rule, 0)}
        assert unsafe or not grown, f"fixing added findings of {grown}"
        again = fix_source(name, fixed.data, unsafe=unsafe)
        assert again.data == fixed.data, "fixing again changes more"
        meant = _meaning(name, body)
        if not unsafe and meant is not None:
            assert meant == _meaning(name, fixed.data), "a safe fix changed what a rubric means"


def ignore(data: bytes) -> None:
    """Comments that silence findings change no data, and silence what they are for."""
    name, body = _choose(data, NAMES[:2])
    silenced = silence(name, body)
    if silenced.is_changed and _meaning(name, body) is not None:
        assert _meaning(name, body) == _meaning(name, silenced.data), "a comment changed what a rubric means"
    marked = body.replace(b"\n", b"  # rubric-lint: ignore[overlap, vague-outcome]\n", 1)
    result = lint_source(name, b"# rubric-lint: ignore-file[missing-id]\n" + marked)
    _check_places(result)


def scores(data: bytes) -> None:
    """An output is refused with a reason, or scored exactly, and the command says the same as the library."""
    rubric_name, body = _choose(data, tuple(LOADED))
    text = body.decode("utf-8", "replace")
    rubric = LOADED[rubric_name]
    try:
        scored: Any = score(rubric, text)
    except OutputError as refused:
        assert refused.message
        assert "\n" not in refused.message
        assert "\x1b" not in refused.message
        scored = None
    else:
        _check_score(scored)
    record = json.dumps({"id": "x", "rubric": rubric_name, "output": text})
    code, output = _run(score_command, {"r.yaml": RUBRICS.encode(), "o.jsonl": record.encode()}, "r.yaml", "o.jsonl")
    assert code in (0, 1), output
    line = json.loads(output.partition("\n")[0])
    assert ("error" in line) == (scored is None), "the command and the library differ"
    if scored is not None:
        assert (line["verdict"], line["score"]) == (scored.verdict, float(scored.score))


def records(data: bytes) -> None:
    """Whatever is in a file of outputs, each entry gives one line: a result or an error."""
    _, body = _choose(data, ("o.jsonl",))
    code, output = _run(score_command, {"r.yaml": RUBRICS.encode(), "o.jsonl": body}, "r.yaml", "o.jsonl")
    assert code in (0, 1, 2), output
    for line in filter(None, output.split("\n")):
        found = json.loads(line)
        assert ("error" in found) != ("verdict" in found)


def converts(data: bytes) -> None:
    """What is written for another system can be read, and what is refused has a reason."""
    target, body = _choose(data, tuple(TARGETS))
    code, output = _run(convert, {"a.yaml": body}, "a.yaml", "--to", target)
    assert code in (0, 1, 2), output


def diffs(data: bytes) -> None:
    """A file does not differ from itself; two files differ in meaning exactly when their hashes do."""
    _, body = _choose(data, ("x",))
    old, _, new = body.partition(b"\n=====\n")
    files = {"a.yaml": old, "b.yaml": new or old}
    code, output = _run(diff, files, "a.yaml", "b.yaml")
    assert code in (0, 1, 2), output
    if not new:
        assert code in (0, 2), output


def settings(data: bytes) -> None:
    """Settings are read or refused with words."""
    name, body = _choose(data, ("rubric-lint.toml", "pyproject.toml"))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(body)
        try:
            found = find_settings(Path(folder) / "a.yaml")
        except SettingsError as refused:
            assert refused.faults
            return
    lint_source("a.yaml", RUBRICS, found)


def edits(data: bytes) -> None:
    """Changes in an editor, in any of its encodings, give the text that a plain splice gives."""
    from lsprotocol import types  # noqa: PLC0415

    from rubric_lint.editor.server.positions import DocumentText  # noqa: PLC0415

    encoding, body = _choose(data, ("utf-8", "utf-16", "utf-32"))
    text = body.decode("utf-8", "replace").replace("\ufeff", "")
    head, _, rest = text.partition("|")
    content, steps = rest or "a: 1\n", [ord(each) for each in head[:32]]
    mine = DocumentText.of(content, encoding)
    for number in range(0, len(steps) - 2, 3):
        at, length, new = steps[number] % (len(content) + 1), steps[number + 1] % 5, chr(steps[number + 2])
        end = min(at + length, len(content))
        if any(content[place - 1 : place + 1] == "\r\n" for place in (at, end)):
            continue  # no position lies between CR and LF
        place = types.Range(_position(content, at, encoding), _position(content, end, encoding))
        mine = mine.change([types.TextDocumentContentChangePartial(text=new, range=place)])
        content = content[:at] + new + content[end:]
        assert mine.content == content, "an edit went wrong"
    _check_places(lint_source("a.yaml", mine.body))


LAWS: dict[str, Callable[[bytes], None]] = {
    "lint": lint,
    "shows": shows,
    "fix": fix,
    "ignore": ignore,
    "scores": scores,
    "records": records,
    "converts": converts,
    "diffs": diffs,
    "settings": settings,
    "edits": edits,
}


def _choose(data: bytes, variants: tuple[str, ...]) -> tuple[str, bytes]:
    return variants[(data[0] if data else 0) % len(variants)], data[1:]


def _counts(result: Result) -> dict[str, int]:
    counts = {"syntax": 0}
    for finding in result.findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return counts


def _describe(result: Result) -> list[tuple[Any, ...]]:
    return [(finding.rule, finding.span, finding.message, finding.pointer, finding.fix) for finding in result.findings]


def _check_places(result: Result) -> None:
    size = len(result.source.text)
    spans = [finding.span for finding in result.findings]
    assert spans == sorted(spans), "findings are not in order"
    for finding in result.findings:
        edits = [edit.span for edit in finding.fix.edits] if finding.fix else []
        for span in (finding.span, *(place.span for place in finding.related if place.source is None), *edits):
            assert 0 <= span.start <= span.end <= size, "a finding, a related place or an edit lies outside the text"
        assert all(one.end <= other.start for one, other in pairwise(edits)), "edits overlap or are not in order"
        assert finding.message == finding.message.strip() != "", "a message is empty or has blanks around it"
        assert not set("\r\n") & set(finding.message), "a message has two lines"
    told = [(finding.rule, finding.span, finding.message) for finding in result.findings]
    assert len(told) == len(set(told)), "a finding is told twice"
    assert result.source.name.endswith("l") or _counts(result)["syntax"] <= 1, "a document has two errors of syntax"


def _check_score(scored: Any) -> None:
    """Compare a result with the formula, written a second time with fractions."""
    weights = [Fraction(criterion.criterion.weight) for criterion in scored.criteria]
    values = [criterion.grade.score for criterion in scored.criteria]
    expected = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction()) / sum(weights)
    assert scored.score == expected, "a score is not the weighted average"
    met = all(criterion.grade.gate_met for criterion in scored.criteria)
    verdict = Verdict.PASS if expected >= Fraction(8, 10) else Verdict.BORDERLINE
    verdict = Verdict.FAIL if not met or expected < Fraction(6, 10) else verdict
    assert scored.verdict == verdict, "a verdict does not follow from the score"


def _meaning(name: str, data: bytes) -> Any:
    """What the rubrics of a file mean, or that they cannot be scored."""
    try:
        return {called: rubric.hash for called, rubric in load_rubrics(name, data).items()}
    except (RubricError, SettingsError):
        return None


def _run(command: click.Command, files: dict[str, bytes], *arguments: str) -> tuple[int, str]:
    """Run a command in a folder of its own; what it raises is a find. Return its exit code and standard output."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, data in files.items():
            Path(name).write_bytes(data)
        done = CliRunner().invoke(command, [*arguments, "--isolated"], standalone_mode=False)
    if isinstance(done.exception, click.ClickException):
        return done.exception.exit_code, done.exception.format_message()
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return int(done.return_value or 0), done.stdout


def _position(content: str, offset: int, encoding: str) -> Any:
    from lsprotocol import types  # noqa: PLC0415

    lines = _lines(content[:offset])
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return types.Position(len(lines) - 1, len(lines[-1].encode(f"{encoding}-le" if unit > 1 else encoding)) // unit)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def seeds() -> Iterator[bytes]:
    """Yield texts to start from: the repository's own examples, suites and rule pages."""
    root = Path(__file__).parents[2]
    for pattern in ("examples/*.*", "tests/suites/*", "tests/data/*.yaml"):
        for path in sorted(root.glob(pattern)):
            if path.is_file() and path.stat().st_size < 30_000:
                yield path.read_bytes()
    for page in sorted([*root.glob("rubric_lint/rules/*.md"), *root.glob("rubric_lint/formats/dialects/*.md")]):
        for part in page.read_text("utf-8").split("```")[1::2]:
            kind, _, text = part.partition("\n")
            if kind in ("yaml", "json", "jsonl"):
                yield text.encode()
    yield from (RUBRICS.encode(), Source("", '{"score": 7, "reasoning": "x"}').text.encode())
    yield b'<think>7?</think>\n```json\n{"checks": [{"id": "a", "score": 7}, {"id": "b", "score": 3}]}\n```'
    yield b'coverage = "warning"\n[severity]\noverlap = "warning"\n[[overrides]]\nfiles = ["a*"]\npass = 0.7\n'
