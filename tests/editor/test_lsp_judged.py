"""What judge outputs that the settings name show in an editor, and when it is shown again."""

import asyncio

import pytest
from editor import start, uri_of
from judged import FLAT, RUBRIC, constant
from lsprotocol import types
from raters import lines

NAME = "results [1].jsonl"


def named(records, rubric="a"):
    return lines([{**record, "rubric": rubric} for record in records])


@pytest.mark.slow
async def test_hints_follow_the_file_that_the_settings_name(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text(f'judged = ["{NAME}"]\nlabels = ["people.jsonl"]\n')
    path, results = tmp_path / "a.rubric.yaml", tmp_path / NAME
    path.write_text(RUBRIC)
    results.write_text(named(constant()))
    missing = f"{tmp_path}/people.jsonl: No such file or directory; `judged` or `labels` in the settings names it"

    async with start(tmp_path) as editor:
        uri = editor.open(path, RUBRIC)
        (hint,) = await editor.diagnostics(uri)
        # As information: Visual Studio Code does not list hints among the problems.
        assert (hint.code, hint.severity, hint.range.start.line) == (
            "judged-flat",
            types.DiagnosticSeverity.Information,
            4,
        )
        assert hint.message == FLAT.partition("judged-flat: ")[2]
        assert hint.code_description.href == "https://rubric-lint.github.io/rules/judged-flat/"
        while len(editor.registered) < 4:
            await asyncio.sleep(0.01)
        watched = [watcher["globPattern"] for watcher in editor.registered[-1].register_options["watchers"]]
        assert watched == ["**/results ?1?.jsonl", "**/people.jsonl"]

        # Without a change in meaning the results still count; with one, they need not.
        editor.replace(uri, 2, f"# a comment\n{RUBRIC}")
        assert await editor.found(uri, 2) == [("judged-flat", 5)]
        ignored = RUBRIC.replace("- id: polite", "# rubric-lint: ignore[judged-flat]\n  - id: polite")
        editor.replace(uri, 3, ignored)
        assert await editor.found(uri, 3) == []
        editor.replace(uri, 4, RUBRIC)
        assert await editor.found(uri, 4) == [("judged-flat", 4)]

        results.write_text(named(constant(20)))
        assert list(await editor.touch(uri, results)) == []
        assert editor.logged == [missing]  # once
        assert await editor.end() == 0


@pytest.mark.slow
async def test_each_criterion_has_a_lens_that_says_whether_to_keep_it(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text(f'judged = ["{NAME}"]\n')
    path = tmp_path / "a.rubric.yaml"
    text = RUBRIC.replace("Cites the policy", "TODO")
    path.write_text(text)
    (tmp_path / NAME).write_text(named(constant()))
    async with start(tmp_path) as editor:
        editor.open(uri_of(path), text)
        document = types.TextDocumentIdentifier(uri_of(path))
        lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
        told = [(lens.range.start.line, lens.command.title) for lens in lenses if not lens.command.command]
        assert told == [(1, "Fix"), (4, "Inconclusive: no human labels")]
        assert await editor.end() == 0


@pytest.mark.slow
async def test_results_of_other_rubrics_and_of_suites_stay_apart(tmp_path):
    suite = "tests:\n" + "".join(
        f"  - id: {name}\n    rubrics: [{{id: cites, expected_outcome: A}}, {{id: polite, expected_outcome: B}}]\n"
        for name in ("one", "two")
    )
    (tmp_path / "rubric-lint.toml").write_text('judged = ["j.jsonl"]\n')
    path = tmp_path / "s.yaml"
    path.write_text(suite)
    (tmp_path / "j.jsonl").write_text(named(constant(), "two") + named(constant(), "three"))

    async with start(tmp_path) as editor:
        uri = editor.open(path, suite)
        assert await editor.found(uri) == [("judged-flat", 4)]
        ((action,), *_) = [
            [each for each in await editor.actions(uri, (4, 0), (4, 60)) if each.title.startswith("Ignore")]
        ]
        assert action.title == "Ignore judged-flat here"
        assert await editor.end() == 0


@pytest.mark.slow
async def test_records_with_the_hash_of_the_rubric_need_no_name(tmp_path):
    from rubric_lint.scoring.loading import load_rubrics  # noqa: PLC0415

    meaning = load_rubrics("a.rubric.yaml", RUBRIC)["a"].hash
    (tmp_path / "rubric-lint.toml").write_text('judged = ["j.jsonl"]\n')
    records = [{**record, "judge": {"rubric_hash": meaning}} for record in constant()]
    (tmp_path / "j.jsonl").write_text(lines(records))

    async with start(tmp_path) as editor:
        uri = editor.open(tmp_path / "a.rubric.yaml", RUBRIC)
        assert await editor.found(uri) == [("judged-flat", 4)]
        changed = RUBRIC.replace("Cites the policy", "Cites the law")
        editor.replace(uri, 2, changed)
        assert await editor.found(uri, 2) == []
        assert await editor.end() == 0


MIXED = """\
# yaml-language-server: $schema=https://rubric-lint.github.io/schemas/rubric-v3.schema.json
scale: [1, 5]
criteria:
  - {id: flow, expected_outcome: How it flows}
  - {id: g, criteria: [{id: x, expected_outcome: Names it, scale: [0, 1], applies_if: There is one}]}
critical_failures: [{id: forged, expected_outcome: Forges a source}]
"""


@pytest.mark.slow
async def test_criteria_of_version_3_have_lenses_too(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text('judged = ["j.jsonl"]\n')
    path = tmp_path / "a.rubric.yaml"
    path.write_text(MIXED)
    checks = [{"id": "flow", "level": 4}, {"id": "g/x", "applicable": False}, {"id": "forged", "satisfied": False}]
    (tmp_path / "j.jsonl").write_text(named([{"id": str(n), "output": {"checks": checks}} for n in range(30)]))
    async with start(tmp_path) as editor:
        uri = editor.open(path, MIXED)
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await editor.client.text_document_code_lens_async(params)
        told = [(lens.range.start.line, lens.command.title) for lens in found if not lens.command.command]
        assert told == [(line, "Inconclusive: no human labels") for line in (3, 4, 5)]
        assert await editor.end() == 0
