"""`rubric-lint --judged` as it is run: what it reads, what it leaves out and why, and how it reports what it finds."""

import gzip
import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from rubric_lint.cli.lint.lint import Judging, cli
from rubric_lint.project.settings import SettingsFinder
from rubric_lint.scoring.loading import load_rubrics

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "schemas/bundled/report-v1.schema.json").read_text("utf-8"))

RUBRIC = """\
rubrics:
  - id: cites
    expected_outcome: Cites the policy
    required_min_score: 10
  - id: polite
    expected_outcome: Thanks the customer
"""
CONSTANT = (
    "a.rubric.yaml:5:5 hint judged-constant: criterion `polite`: missed in all 60 judged answers, so at most 9.4% of "
    "answers meet it (corrected for 2 tests); add answers that should meet it, or remove the criterion if none can"
)
FOUND = "Found 1 hint in 1 file (1 file with rubrics, 1 rubric, 2 criteria)."
DATA = "a: 60 answers judged by `j`; not enough data for:"
UNTESTED = """\
  judged-unstable of `cites` and `verdict`: no answers have several samples by one judge; \
30 answers with samples would do
  judged-redundant of `polite`: judged alike in all 60 answers, so nothing shows whether another criterion repeats it; \
24 answers in which one of two criteria is on the rarer side would do
  judged-inverse of `cites` and `polite`: of two criteria the direction is unknown; 3 criteria would do
  judged-disagrees: no judged answer has a label; 60 labelled answers would do
  judged-order of `cites` and `polite`: no answers were judged with the criteria in a recorded random order; \
60 answers judged with `--shuffle` would do
  judged-length of `cites`, `polite` and `score`: no judged answers have a label; \
60 labelled answers with their text would do
""".splitlines()


def output(cites, polite):
    return {"checks": [{"id": "cites", "satisfied": bool(cites)}, {"id": "polite", "satisfied": bool(polite)}]}


def constant(count=60):
    """Records in which no answer is polite."""
    return [{"id": f"a{number:03}", "output": output(number % 2, 0)} for number in range(count)]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Calls `rubric-lint` in the test's folder: exit code, lines of the report, and what it complains of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUBRIC_LINT_CACHE_DIR", str(tmp_path / ".kept"))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    Path("a.rubric.yaml").write_text(RUBRIC)

    def call(*arguments, files=None, form="concise"):
        for name, held in (files or {}).items():
            data = held if isinstance(held, bytes) else (held if isinstance(held, str) else lines(held)).encode()
            Path(name).write_bytes(data)
        done = CliRunner().invoke(cli, [*arguments, "--format", form], standalone_mode=False)
        if done.exception:
            return type(done.exception).__name__, [str(done.exception)], []
        told = [line.removeprefix("rubric-lint: ") for line in done.stderr.splitlines()]
        return done.return_value, done.stdout.splitlines(), told

    return call


def review_of(run, *arguments, files=None):
    code, report, _ = run(*arguments, files=files, form="json")
    data = json.loads("\n".join(report))
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(data)] == []
    return code, data


def test_a_finding_its_figures_and_what_the_data_are_too_few_for(run):
    found = run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": constant()})
    assert found == (0, [CONSTANT, FOUND, DATA, *UNTESTED], [])


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_warnings_fail_a_run_and_hints_never_do(run, fail_on, code):
    flipping = [{"id": record["id"], "outputs": [output(0, 1), output(1, 1)]} for record in constant()]
    assert run("a.rubric.yaml", "--judged", "j.jsonl", "--fail-on", fail_on, files={"j.jsonl": constant()})[0] == 0
    code_, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", "--fail-on", fail_on, files={"j.jsonl": flipping})
    assert code_ == code
    assert [line.split()[:3] for line in report[:2]] == [
        ["a.rubric.yaml:1:1", "warning", "judged-unstable:"],
        ["a.rubric.yaml:4:25", "warning", "judged-unstable:"],
    ]


def test_only_rules_that_run_have_too_few_data(run):
    select = ("--select", "judged-constant,judged-inverse")
    found = run("a.rubric.yaml", "--judged", "j.jsonl", *select, files={"j.jsonl": constant()})
    assert found == (0, [CONSTANT, FOUND, DATA, UNTESTED[2]], [])
    head = DATA.replace("; not enough data for:", ".")
    assert run("a.rubric.yaml", "--judged", "j.jsonl", "--select", "judged-constant")[1] == [CONSTANT, FOUND, head]


SHARED = """rubrics:
  - id: accuracy
    score_ranges: &bands
      0: Wrong in the main point
      5: Right, with a small mistake
      8: Right in every point
  - id: style
    score_ranges: *bands
"""


def test_a_band_that_two_criteria_share_may_be_unused_by_both(run):
    def judged(number):
        checks = [{"id": name, "score": 9 if number % by else 2} for name, by in (("accuracy", 2), ("style", 3))]
        return {"id": number, "output": {"checks": checks}}

    files = {"a.rubric.yaml": SHARED, "j.jsonl": [judged(number) for number in range(90)]}
    report = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)[1]
    assert [line.partition(" output ")[0] for line in report[:2]] == [
        f"a.rubric.yaml:5:7 hint judged-unused-band: criterion `{name}`: no" for name in ("accuracy", "style")
    ]


def test_quiet_leaves_out_what_was_not_tested(run):
    assert run("a.rubric.yaml", "--judged", "j.jsonl", "--quiet", files={"j.jsonl": constant()}) == (0, [CONSTANT], [])


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
    untested = rubric["untested"][1]
    assert (untested["rule"], untested["of"], untested["needed"]) == ("judged-redundant", ["polite"], 24)
    assert rubric["left_out"] == [{"reason": "no `id` to join by", "count": 1, "records": ["j.jsonl:62"]}]
    assert found["review"]["judged"]["unmatched"] == [{"file": "j.jsonl", "rubric": "b", "records": 1}]
    assert [(each["line"], each["id"]) for each in found["review"]["judged"]["invalid"]] == [(64, None), (61, "x")]


@pytest.mark.parametrize(
    ("form", "sign"),
    [
        ("full", "a.rubric.yaml:5:5 hint judged-constant: "),
        ("agent", "a.rubric.yaml:5:5 hint judged-constant: "),
        ("github", "::notice file=a.rubric.yaml,line=5,endLine=5,col=5,endColumn=7,title=rubric-lint%3A judged-const"),
        ("gitlab", '"severity": "info"'),
        ("sarif", '"level": "note"'),
        ("junit", "<system-out>a.rubric.yaml:5:5 hint judged-constant: "),
    ],
)
def test_every_format_has_the_hint_and_what_was_not_tested(run, form, sign):
    code, report, told = run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": constant()}, form=form)
    assert code == 0
    assert any(sign in line for line in report)
    assert [line for line in (*report, *told) if line in {DATA, *UNTESTED}] == [DATA, *UNTESTED]
    if form == "junit":
        assert 'failures="0"' in report[1]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (None, "No such file or directory"),
        (b"", "no records found"),
        (b"\n\n", "no records found"),
        (b"id,id\na,1\n", "no records found; line 1: the column `id` occurs twice"),
        (gzip.compress(b"ARROW1\0\0", mtime=0), "no records found; line 1: this is an Arrow file"),
        (b"\xff\xfe{\x00}\x00", "no records found; line 1: this is text in UTF-16"),
        (b"rubrics: [a]\n", "no records found; line 1: not JSON at column 1"),
        (b'{"id": "\xff"}\n', "no records found; line 1: byte ff at column 9 is not UTF-8"),
    ],
)
def test_a_file_of_results_that_cannot_be_read_is_an_error(run, data, fault):
    files = {} if data is None else {"j.jsonl": data}
    code, report, (told,) = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)
    assert (code, report, told[: len(fault) + 9]) == (2, [], f"j.jsonl: {fault}")


def test_a_folder_is_not_a_file_of_results(run):
    assert run("a.rubric.yaml", "--judged", ".")[::2] == (2, [".: it is a folder, neither a file nor a pipe"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_change_nothing(run, end, start):
    data = start + lines(constant()).replace("\n", end).encode()
    assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": data})[1] == [CONSTANT, FOUND, DATA, *UNTESTED]


def test_a_list_in_json_and_results_of_rubric_score_are_read_too(run):
    from rubric_lint.scoring.scorer import score_entry  # noqa: PLC0415

    rubrics = load_rubrics("a.rubric.yaml", RUBRIC)
    scored = [score_entry(json.dumps(record).encode(), rubrics, 1).to_json() for record in constant()]
    for data in (json.dumps(constant()), lines(scored)):
        assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": data})[1][0] == CONSTANT


def test_invalid_results_are_counted_and_not_used(run):
    broken = [{"id": f"x{number}", "output": {"checks": []}} for number in range(25)]
    code, report, told = run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": [*constant(), *broken]})
    assert (code, report[0], report[2]) == (0, CONSTANT, DATA)
    assert told[0].startswith("j.jsonl:61 (id x0) ")
    assert (len(told), told[-1]) == (21, "... and 5 more invalid records; --format json lists them all")


def test_results_of_another_version_of_the_rubric_are_left_out(run):
    meaning = load_rubrics("a.rubric.yaml", RUBRIC)["a"].hash
    old = [{**record, "judge": {"rubric_hash": "0" * 16}} for record in constant(7)]
    new = [{**record, "judge": {"rubric_hash": meaning}} for record in constant()]
    for named in ({}, {"rubric": "a"}):
        files = {"j.jsonl": [{**record, **named} for record in [*old, *new]]}
        code, report, (told,) = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)
        expected = "7 records left out (judged by another version" if named else "j.jsonl: 7 records name no rubric"
        assert (code, report[0], told[: len(expected)]) == (0, CONSTANT, expected)


def test_ids_that_occur_twice_do_not_count(run):
    files = {"j.jsonl": [*constant(), constant(1)[0]]}
    code, report, (told,) = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)
    assert (code, report[-7].startswith("a: 59 answers judged by `j`;")) == (0, True)
    assert told.endswith("j.jsonl:1 (a000) and j.jsonl:61 (a000)")


def test_the_median_of_several_judges_counts_and_every_output_for_constant(run):
    other = [{**record, "output": output(1, number == 3)} for number, record in enumerate(constant())]
    files = {"j.jsonl": constant(), "k.jsonl": other}
    code, found = review_of(run, "a.rubric.yaml", "--judged", "j.jsonl", "--judged", "k.jsonl", files=files)
    (rubric,) = found["review"]["judged"]["rubrics"]
    assert (code, rubric["answers"], rubric["judges"], found["findings"]) == (0, 60, ["j", "k"], [])
    _, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", "--judged", "k.jsonl")
    assert report[1].startswith("a: 60 answers judged by `j` and `k`; the median of their outputs counts; not enough")


def test_the_models_of_a_panel_are_judges_and_no_samples_of_one(run):
    panel = {"panel": [{"model": "m", "outputs": 1}, {"model": "n", "outputs": 1}]}
    records = [{"id": f"a{n}", "outputs": [output(n % 2, 0), output(1, 0)], "judge": panel} for n in range(60)]
    _, report, told = run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": records})
    assert (report[0], told) == (CONSTANT, [])
    assert report[2].startswith("a: 60 answers judged by `m` and `n`; the median of their outputs counts")
    assert report[3] == UNTESTED[0]


def test_labels_with_faults_are_told(run):
    label = {"rater": "ana", "output": output(1, 0)}
    labels = [
        *({"id": f"a{number:03}", **label} for number in range(12)),
        {"id": "a012", "output": output(1, 1)},
        {"id": "zz", **label},
        {"id": "a013", "rater": "ana", "output": {"checks": [{"id": "cites", "score": 7}]}},
        {"id": "a014", **label, "chosen": "somehow"},
        {"id": "a015", **label, "rubric": "b"},
    ]
    arguments = ("a.rubric.yaml", "--judged", "j.jsonl", "--labels", "l.jsonl")
    code, report, told = run(*arguments, files={"j.jsonl": constant(), "l.jsonl": labels})
    assert code == 0
    assert report[2] == "a: 60 answers judged by `j`, 12 with labels by `ana`; not enough data for:"
    assert told[0].startswith("l.jsonl:15 (id a013) ")
    assert [each.rpartition(": ")[2] for each in told[1:4]] == ["l.jsonl:13 (a012)", "l.jsonl:16 (a014)", "zz by ana"]
    assert told[4].startswith("l.jsonl: 1 record is for the rubric `b`")


def test_a_person_with_the_name_of_a_judge_is_refused(run):
    files = {
        "j.jsonl": [{**each, "rater": "ana"} for each in constant()],
        "l.jsonl": [{**constant(1)[0], "rater": "ana"}],
    }
    _, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", "--labels", "l.jsonl", files=files)
    assert report[-1].startswith("a: results not looked at: `ana` names both the results and the labels")


def test_a_rubric_with_errors_is_not_looked_at(run):
    wrong = RUBRIC.replace("id: polite", "id: cites")
    files = {"j.jsonl": constant(), "a.rubric.yaml": wrong}
    code, report, told = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)
    expected = "a: results not looked at: the rubric has errors (duplicate-id); fix them first"
    assert (code, report[-1], told) == (1, expected, [])


SUITE = """\
tests:
  - id: one
    rubrics: [{id: cites, expected_outcome: Cites it, required_min_score: 10}, {id: polite, expected_outcome: Thanks}]
  - id: two
    rubrics: [{id: cites, expected_outcome: Cites it, required_min_score: 10}, {id: polite, expected_outcome: Thanks}]
  - id: three
    rubrics: [{id: cites, expected_outcome: Cites it}]
"""


def test_each_rubric_of_a_suite_has_its_own_results(run):
    records = [{**record, "rubric": name} for name in ("one", "two", "four") for record in constant()]
    files = {"j.jsonl": [*records, *constant(2)], "s.yaml": SUITE}
    code, report, told = run("s.yaml", "--judged", "j.jsonl", files=files)
    assert code == 0
    places = [line.split(": ")[0] for line in report if "judged-constant" in line]
    assert places == ["s.yaml:3:81 hint judged-constant", "s.yaml:5:81 hint judged-constant"]
    assert report[-1] == "No results for 1 rubric: `three`."
    assert told[0].startswith("j.jsonl: 60 records are for the rubric `four`")
    assert told[1].startswith("j.jsonl: 2 records name no rubric")


def test_records_that_name_no_rubric_belong_to_the_file_of_their_name(run):
    files = {"b.rubric.yaml": RUBRIC, "b.judged.jsonl": constant()}
    _, report, told = run("a.rubric.yaml", "b.rubric.yaml", "--judged", "b.judged.jsonl", files=files)
    moved = CONSTANT.replace("a.rubric", "b.rubric")
    assert (report[0], report[-1], told) == (moved, "No results for 1 rubric: `a`.", [])


def test_rubrics_of_one_meaning_share_results_that_name_none(run):
    meaning = load_rubrics("a.rubric.yaml", RUBRIC)["a"].hash
    records = [{**record, "rubric_hash": meaning} for record in constant()]
    files = {"c.rubric.yaml": RUBRIC, "j.jsonl": records}
    _, report, told = run("a.rubric.yaml", "c.rubric.yaml", "--judged", "j.jsonl", files=files)
    found = [line for line in report if "judged-constant: c" in line]
    assert (found, told) == ([CONSTANT, CONSTANT.replace("a.rubric", "c.rubric")], [])


def test_an_ignore_comment_silences_a_finding_and_is_not_unused_without_results(run):
    text = RUBRIC.replace("- id: polite", "# rubric-lint: ignore[judged-constant]\n  - id: polite")
    files = {"a.rubric.yaml": text, "j.jsonl": constant()}
    code, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", files=files)
    assert (code, report[0]) == (0, "No other findings in 1 file (1 file with rubrics, 1 rubric, 2 criteria).")
    assert run("a.rubric.yaml")[1] == ["No findings in 1 file (1 file with rubrics, 1 rubric, 2 criteria)."]


def test_a_baseline_knows_findings_whose_figures_have_changed(run):
    arguments = ("a.rubric.yaml", "--baseline", "known.json")
    run(*arguments, "--judged", "j.jsonl", "--write-baseline", files={"j.jsonl": constant()})
    code, report, told = run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": constant(90)})
    assert (code, report[1], told) == (0, "1 finding hidden by the baseline.", [])
    assert run(*arguments)[2] == []  # not refuted: without results, the rule does not run
    assert run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": constant(20)})[2] == []
    varied = [{**each, "output": output(1, number % 3)} for number, each in enumerate(constant(90))]
    gone = run(*arguments, "--judged", "j.jsonl", files={"j.jsonl": varied})[2]
    assert gone[0] == "known.json: 1 known finding of judged-constant no longer in a.rubric.yaml"


def test_severities_and_a_selection_apply(run):
    files = {"j.jsonl": constant(), "rubric-lint.toml": '[severity]\njudged-constant = "error"\n'}
    code, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl", "--select", "judged-constant", files=files)
    assert (code, report[0]) == (1, CONSTANT.replace("hint", "error"))
    assert run("a.rubric.yaml", "--judged", "j.jsonl", "--ignore", "judged-constant")[0] == 0


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
    assert (code, report[0], told) == (0, f"deep/{CONSTANT}", [])
    assert report[2] == "a: 60 answers judged by `j`, 2 with labels by `ana`; not enough data for:"
    assert run("deep/a.rubric.yaml", "--isolated")[1] == [FOUND.replace("Found 1 hint", "No findings")]
    Path("deep/results/l.jsonl").unlink()
    code, report, told = run("deep", "deep/a.rubric.yaml")
    assert (code, report[0], told) == (0, f"deep/{CONSTANT}", ["deep/results/l.jsonl: No such file or directory"])


def test_a_selection_of_these_rules_needs_results(run):
    files = {"rubric-lint.toml": 'judged = ["j.jsonl"]\n', "j.jsonl": constant()}
    assert run("a.rubric.yaml", "--select", "judged-constant", files=files)[:1] == (0,)


def test_the_cache_never_answers_for_results(run):
    for records, expected in ((constant(), CONSTANT), (constant(20), FOUND.replace("Found 1 hint", "No findings"))):
        for _ in range(2):
            assert run("a.rubric.yaml", "--judged", "j.jsonl", files={"j.jsonl": records})[1][0] == expected
        assert run("a.rubric.yaml")[1] == [FOUND.replace("Found 1 hint", "No findings")]


def test_a_watcher_looks_at_results_too(run):
    run(files={"rubric-lint.toml": 'judged = ["j.jsonl"]\nlabels = ["l.jsonl"]\n', "j.jsonl": constant()})
    assert Judging(("x",), ("y",)).find_needed("a.rubric.yaml", SettingsFinder()) == ("x", "y")
    found = Judging((), ()).find_needed("a.rubric.yaml", SettingsFinder())
    assert [Path(each).name for each in found] == ["j.jsonl", "l.jsonl"]


@pytest.mark.slow
def test_100_000_results_are_read_in_seconds(run):
    records = [{"id": f"a{n}", "output": output(n % 2, n % 3), "judge": {"model": "m"}} for n in range(100_000)]
    Path("j.jsonl").write_text(lines(records))
    start = time.process_time()
    code, report, _ = run("a.rubric.yaml", "--judged", "j.jsonl")
    assert (code, report[1].startswith("a: 100000 answers judged by `j`")) == (0, True)
    assert time.process_time() - start < 20
