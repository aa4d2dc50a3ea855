"""`rubric-lint --judged` as it is run: what it reads, what it leaves out and why, and how it reports what it finds."""

import gzip
import json
import re
import time
from pathlib import Path

import commands
import pytest
from jsonschema import Draft7Validator
from judged import FLAT, RUBRIC, constant, output
from raters import lines

from rubric_lint.cli.given import Given
from rubric_lint.cli.lint.lint import _find_results
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.model.schema_files import load_bundled
from rubric_lint.scoring.loading import load_rubrics

SCHEMA = load_bundled("report/v1.json")

FOUND = "Found 1 hint in 1 file (1 file with rubrics, 1 rubric, 2 criteria)."
DATA = "a: 60 answers judged by `j`; not enough data for:"


@pytest.fixture
def run(folder, monkeypatch):
    """Calls `rubric-lint` in the test's folder: exit code, lines of the report, and what it complains of."""
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(folder / ".kept"))
    Path("a.rubric.yaml").write_text(RUBRIC)

    def call(*arguments, files=None, form="concise"):
        for name, held in (files or {}).items():
            data = held if isinstance(held, bytes) else (held if isinstance(held, str) else lines(held)).encode()
            Path(name).write_bytes(data)
        done = commands.run("rubric-lint", *arguments, "--format", form)
        told = [line.removeprefix("rubric-lint: ") for line in commands.complaint(done).splitlines()]
        return done.returncode, done.stdout.splitlines(), told

    return call


def review_of(run, *arguments, files=None):
    code, report, _ = run(*arguments, files=files, form="json")
    data = json.loads("\n".join(report))
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(data)] == []
    return code, data


PANEL = {"panel": [{"model": "m", "outputs": 1}, {"model": "n", "outputs": 1}]}
MEANING = load_rubrics("a.rubric.yaml", RUBRIC)["a"].hash
LABEL = {"rater": "ana", "output": output(1, 0)}
LABELS = [
    *({"id": f"a{number:03}", **LABEL} for number in range(12)),
    {"id": "a012", "output": output(1, 1)},
    {"id": "zz", **LABEL},
    {"id": "a013", "rater": "ana", "output": {"checks": [{"id": "cites", "score": 7}]}},
    {"id": "a014", **LABEL, "chosen": "somehow"},
    {"id": "a015", **LABEL, "rubric": "b"},
]
SUITE = """\
tests:
  - id: one
    rubrics: [{id: cites, expected_outcome: Cites it, required_min_score: 10}, {id: polite, expected_outcome: Thanks}]
  - id: two
    rubrics: [{id: cites, expected_outcome: Cites it, required_min_score: 10}, {id: polite, expected_outcome: Thanks}]
  - id: three
    rubrics: [{id: cites, expected_outcome: Cites it}]
"""


def versions(**more):
    judged = [("0" * 16, each) for each in constant(7)] + [(MEANING, each) for each in constant()]
    return [{**record, **more, "judge": {"rubric_hash": told}} for told, record in judged]


UNTESTED = [f"judged-{each}" for each in ("unstable", "inverse", "disagrees", "length")]


TOLD = {
    "a judge that follows the length of an answer": {
        "j": [{"id": n, "answer": "x" * n, "output": output(n > 40, n % 2)} for n in range(80)],
        "l": [{"id": n, "rater": "ana", "output": output(n % 2, n % 2)} for n in range(80)],
    },
    "too few data for some rules": {"j": constant()},
    "of a selection, only its rules": {"j": constant(), "options": ["--select", "judged-flat,judged-inverse"]},
    "data enough for all of a selection": {"j": constant(), "options": ["--select", "judged-flat"]},
    "quiet leaves out what was not tested": {"j": constant(), "options": ["--quiet"]},
    "invalid results are counted and not used": {
        "j": [*constant(), *({"id": f"x{number}", "output": {"checks": []}} for number in range(25))]
    },
    "another version of a rubric that is not named": {"j": versions()},
    "another version of a rubric that is named": {"j": versions(rubric="a")},
    "an id that occurs twice": {"j": [*constant(), constant(1)[0]]},
    "the median of two judges": {
        "j": constant(),
        "k": [{**record, "output": output(1, number == 3)} for number, record in enumerate(constant())],
        "options": ["--judged", "k.jsonl"],
    },
    "models of a panel are judges and no samples of one": {
        "j": [{"id": f"a{n}", "outputs": [output(n % 2, 0), output(1, 0)], "judge": PANEL} for n in range(60)]
    },
    "labels with faults": {"j": constant(), "l": LABELS},
    "a person with the name of a judge": {
        "j": [{**each, "rater": "ana"} for each in constant()],
        "l": [{**constant(1)[0], "rater": "ana"}],
    },
    "a rubric with errors": {"j": constant(), "a.rubric.yaml": RUBRIC.replace("id: polite", "id: cites")},
    "each rubric of a suite": {
        "j": [*({**each, "rubric": name} for name in ("one", "two", "four") for each in constant()), *constant(2)],
        "a.rubric.yaml": SUITE,
    },
    "records of the file of their name": {
        "b.rubric.yaml": RUBRIC,
        "b.judged": constant(),
        "options": ["b.rubric.yaml", "--judged", "b.judged.jsonl"],
    },
    "rubrics of one meaning share results that name none": {
        "b.rubric.yaml": RUBRIC,
        "j": [{**record, "rubric_hash": MEANING} for record in constant()],
        "options": ["b.rubric.yaml"],
    },
    "an ignore comment": {
        "j": constant(),
        "a.rubric.yaml": RUBRIC.replace("- id: polite", "# rubric-lint: ignore[judged-flat]\n  - id: polite"),
    },
    "the severity of the settings": {
        "j": constant(),
        "rubric-lint.toml": '[severity]\njudged-flat = "error"\n',
        "options": ["--select", "judged-flat"],
    },
    "a folder": {"options": ["--judged", "."]},
    "no such file": {"options": ["--judged", "j.jsonl"]},
    "an empty file": {"j": b""},
    "blank lines": {"j": b"\n\n"},
    "a column twice": {"j": b"id,id\na,1\n"},
    "an Arrow file": {"j": gzip.compress(b"ARROW1\0\0", mtime=0)},
    "UTF-16": {"j": b"\xff\xfe{\x00}\x00"},
    "YAML": {"j": b"rubrics: [a]\n"},
    "no UTF-8": {"j": b'{"id": "\xff"}\n'},
}


LACKS = re.compile("  judged-.*: (no answers have|of two criteria|no judged answer)")
"""What most cases lack; one shows it."""


@pytest.mark.spread(3)
@pytest.mark.parametrize("case", TOLD)
def test_a_run_tells(run, case, said):
    files = {name if "." in name and "judged" not in name else f"{name}.jsonl": it for name, it in TOLD[case].items()}
    options = files.pop("options.jsonl", [])
    judged = ["--judged", "j.jsonl"] if "j.jsonl" in files else []
    labels = ["--labels", "l.jsonl"] if "l.jsonl" in files else []
    code, report, told = run("a.rubric.yaml", *judged, *labels, *options, files=files)
    hidden = LACKS.match if case != "too few data for some rules" else lambda _: False
    said(code, report, [line for line in told if not hidden(line)])


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_warnings_fail_a_run_and_hints_never_do(run, fail_on, code):
    flipping = [{"id": record["id"], "outputs": [output(0, 1), output(1, 1)]} for record in constant()]
    assert run("a.rubric.yaml", "--judged", "j.jsonl", "--fail-on", fail_on, files={"j.jsonl": constant()})[0] == 0
    code_, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", "--fail-on", fail_on, files={"j.jsonl": flipping})
    assert code_ == code
    assert [line.split()[:3] for line in report if " warning " in line] == [
        ["a.rubric.yaml:1:1", "warning", "judged-unstable:"],
        ["a.rubric.yaml:4:25", "warning", "judged-unstable:"],
    ]


def test_the_json_report_has_everything(run):
    records = [
        *constant(),
        {"id": "x", "output": {}},
        {"output": output(1, 1)},
        {"id": "z", "rubric": "b", "output": {}},
    ]
    code, found = review_of(run, "a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": lines(records) + "nope\n"})
    (rubric,) = found["review"]["judged"]["rubrics"]
    assert (code, found["summary"]["hints"], found["findings"][0]["severity"]) == (0, 1, "hint")
    assert [rubric[key] for key in ("file", "rubric", "answers", "judges", "labelled", "people", "fault")] == [
        *("a.rubric.yaml", "a", 60, ["j"], 0, [], None)
    ]
    untested = rubric["untested"][2]
    assert (untested["rule"], untested["of"], untested["needed"]) == ("judged-disagrees", [], 4)
    assert rubric["left_out"] == [{"reason": "no `id` to join by", "count": 1, "records": ["j.jsonl:62"]}]
    assert found["review"]["judged"]["unmatched"] == [{"file": "j.jsonl", "rubric": "b", "records": 1}]
    assert [(each["line"], each["id"]) for each in found["review"]["judged"]["invalid"]] == [(64, None), (61, "x")]


def test_results_of_rubrics_with_one_name_are_not_looked_at(run, said):
    case = "  - id: one\n    rubrics: [{id: cites, expected_outcome: Cites it}]\n"
    files = {
        "a.rubric.yaml": f"tests:\n{case}{case.replace('it', 'all')}",
        "j.jsonl": [{**each, "rubric": "one"} for each in constant()],
    }
    _, found = review_of(run, "a.rubric.yaml", "--judged", "j.jsonl", "--ignore", "repeated-case", files=files)
    reviews = [
        (rubric["rubric"], rubric["answers"], rubric["fault"]) for rubric in found["review"]["judged"]["rubrics"]
    ]
    assert [review[:2] for review in reviews] == [("one", 0)] * 2
    said(reviews[0][2])


@pytest.mark.parametrize(
    ("form", "sign"),
    [
        ("full", "hint judged-flat: "),
        ("agent", "a.rubric.yaml:5:5 hint judged-flat: "),
        ("github", "::notice file=a.rubric.yaml,line=5,endLine=5,col=5,endColumn=7,title=rubric-lint%3A judged-flat"),
        ("gitlab", '"severity": "info"'),
        ("sarif", '"level": "note"'),
        ("junit", "<system-out>a.rubric.yaml:5:5 hint judged-flat: "),
    ],
)
def test_every_format_has_the_hint_and_what_was_not_tested(run, form, sign):
    code, report, told = run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": constant()}, form=form)
    assert code == 0
    assert any(sign in line for line in report)
    words = [line.split()[0].strip(":") for line in (*report, *told) if line.startswith("  judged-")]
    assert (words, DATA in (*report, *told)) == (UNTESTED, True)
    if form == "junit":
        assert 'failures="0"' in report[1]


@pytest.mark.parametrize(("end", "start"), [("\r\n", b""), ("\n", b"\xef\xbb\xbf")])
def test_line_ends_and_a_byte_order_mark_change_nothing(run, end, start):
    data = start + lines(constant()).replace("\n", end).encode()
    assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": data})[1][:2] == [FLAT, FOUND]


def test_a_list_in_json_and_results_of_rubric_score_are_read_too(run):
    from rubric_lint.scoring.scorer import Scorer  # noqa: PLC0415

    rubrics = load_rubrics("a.rubric.yaml", RUBRIC)
    scored = [Scorer(rubrics).score(json.dumps(record).encode(), 1).to_json() for record in constant()]
    for data in (json.dumps(constant()), lines(scored)):
        assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": data})[1][0] == FLAT


def test_a_baseline_knows_findings_whose_figures_have_changed(run):
    arguments = ("a.rubric.yaml", "--baseline", "known.json")
    run(*arguments, "--judged", "j.jsonl", "--write-baseline", files={"j.jsonl": constant()})
    code, report, told = run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": constant(90)})
    assert (code, report[1], told) == (0, "1 finding hidden by the baseline.", [])
    assert run(*arguments)[2] == []  # not refuted: without results, the rule does not run
    assert run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": constant(20)})[2] == []
    varied = [{**each, "output": output(1, number % 3)} for number, each in enumerate(constant(90))]
    gone = run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": varied})[2]
    assert gone[0] == "known.json: 1 known finding of judged-flat no longer in a.rubric.yaml"


def test_any_rule_can_be_a_hint(run):
    text, settings = "rubrics:\n  - expected_outcome: Cites it\n", '[severity]\nmissing-id = "hint"\n'
    files = {"a.rubric.yaml": text, "rubric-lint.toml": settings}
    code, report, _ = run("a.rubric.yaml", "--fail-on", "warning", files=files)
    assert (code, report[0].split()[:3]) == (0, ["a.rubric.yaml:2:5", "hint", "missing-id:"])


def test_the_settings_name_results(run):
    Path("deep/results").mkdir(parents=True)
    files = {
        "deep/rubric-lint.toml": 'judged = ["results/j.jsonl"]\nlabels = ["results/l.jsonl"]\n',
        "deep/a.rubric.yaml": RUBRIC,
        "deep/results/j.jsonl": constant(),
        "deep/results/l.jsonl": [{**each, "rater": "ana"} for each in constant(2)],
    }
    code, report, told = run("deep/a.rubric.yaml", files=files)
    assert (code, report[0], told) == (0, f"deep/{FLAT}", [])
    assert report[2] == "a: 60 answers judged by `j`, 2 with labels by `ana`; not enough data for:"
    assert run("deep/a.rubric.yaml", "--isolated")[1] == [FOUND.replace("Found 1 hint", "No findings")]
    Path("deep/results/l.jsonl").unlink()
    code, report, told = run("deep", "deep/a.rubric.yaml")
    assert (code, report[0], told) == (0, f"deep/{FLAT}", ["deep/results/l.jsonl: No such file or directory"])


def test_a_selection_of_these_rules_needs_results(run):
    files = {"rubric-lint.toml": 'judged = ["j.jsonl"]\n', "j.jsonl": constant()}
    assert run("a.rubric.yaml", "--select", "judged-flat", files=files)[:1] == (0,)


def test_the_cache_never_answers_for_results(run):
    for records, expected in ((constant(), FLAT), (constant(20), FOUND.replace("Found 1 hint", "No findings"))):
        for _ in range(2):
            assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": records})[1][0] == expected
        assert run("a.rubric.yaml")[1] == [FOUND.replace("Found 1 hint", "No findings")]


def test_a_watcher_looks_at_results_too(run):
    run(files={"rubric-lint.toml": 'judged = ["j.jsonl"]\nlabels = ["l.jsonl"]\n', "j.jsonl": constant()})
    assert _find_results(Given(judged=("x",), labels=("y",)), "a.rubric.yaml", SettingsFinder()) == ("x", "y")
    found = _find_results(Given(judged=(), labels=()), "a.rubric.yaml", SettingsFinder())
    assert [Path(each).name for each in found] == ["j.jsonl", "l.jsonl"]


@pytest.mark.slow
def test_100_000_results_are_read_in_seconds(run):
    records = [{"id": f"a{n}", "output": output(n % 2, n % 3), "judge": {"model": "m"}} for n in range(100_000)]
    Path("j.jsonl").write_text(lines(records))
    start = time.process_time()
    code, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl")
    assert (code, report[1].startswith("a: 100,000 answers judged by `m`")) == (0, True)
    assert time.process_time() - start < 20
