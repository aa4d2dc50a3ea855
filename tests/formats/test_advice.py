"""What a near miss advises, done step by step, ends in a rubric that is read or in a true finding."""

import json
import re
import shlex
from contextlib import chdir
from functools import reduce
from itertools import islice
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lint_command import adopt_as_advised, call
from ruamel.yaml import YAML

from rubric_lint.source.path import Part
from rubric_lint.source.reading import read_documents
from rubric_lint.source.source import Source

SAMPLES = YAML(typ="safe").load((Path(__file__).parents[1] / "data/home_made.yaml").read_text("utf-8"))


def look(name):
    """What the tool says of a file that is named to it."""
    output, errors, _ = call("--format=json", name)
    return json.loads(output) if output else {"findings": [], "summary": {"rubrics": 0}, "unread": [], "errors": errors}


def rewrite(value, form):
    """A value in the form that a step asks for."""
    if form.startswith("write a list with one criterion"):
        return [{"id": "a", "levels": value}]
    if form.endswith("each with an `id` and a `description`"):
        return [{"id": name, "description": f"Names the {name} of 30 days"} for name in ("period", "limit")]
    if form.startswith("list what a judge checks in"):
        return {**value, form.split("`")[1]: ["Names the period of 30 days"]}
    if form == "write a mapping from each choice to its score":
        return {**value, "choice_scores": {choice: int(choice) for choice in value["choice_strings"]}}
    if form.startswith("add a "):
        parts = value.values() if isinstance(value, dict) else value
        for part in parts:
            part[form.split("`")[1]] = "Names the period of 30 days"
        return value
    assert form == "put the items that have `: ` in quotes"
    return [": ".join(*item.items()) if isinstance(item, dict) else item for item in value]


def follow(name, unread):
    """Do what a near miss says, and return the file to look at then."""
    place = find_value(name, (unread["line"], unread["column"]))
    for step in unread["steps"]:
        do, what = step["do"], step["what"]
        if do == "run":
            if what == "adopt":
                errors, code = adopt_as_advised(name)
            else:
                _, errors, code = call(what, name, "-o", "new.rubric.yaml")
                name = "new.rubric.yaml"
            assert code == 0, errors
        elif do == "move":
            data = {key: value for key, value in read(name).data.items() if key not in ("rubrics", "tests", "evals")}
            name = str(Path(name).parent / "moved.yaml")
            Path(name).write_text(json.dumps(data), "utf-8")
        elif do == "file-name":
            name = str(Path(name).rename(Path(name).parent / what))
        elif do == "setting":
            Path("rubric-lint.toml").write_text(f'[versions]\n"{name}" = "v2"\n', "utf-8")
        elif do == "comment":
            Path(name).write_text(f"# $schema: {what}\n" + Path(name).read_text("utf-8"), "utf-8")
        else:
            place = change(name, place, do, what)
    return name


def change(name, place, do, what):
    """Change the data of a file, and return the new path of the value at `place`."""
    data = read(name).data
    if place and not isinstance(reduce(getitem, place, data), dict | list):
        place = place[:-1]  # a mapping begins where its first field does
    owner = reduce(getitem, place[:-1], data)
    if do == "key":
        data = {"$schema": what, **data}
    elif do == "rename":
        fields = [(what if key == place[-1] else key, value) for key, value in owner.items()]
        owner.clear()
        owner.update(fields)
        place = (*place[:-1], what)
    elif what.startswith("write them as a list `criteria`"):
        owner["criteria"] = [{"description": text} for text in owner.pop(place[-1])]
    else:
        assert do == "rewrite"
        owner[place[-1]] = rewrite(owner[place[-1]], what)
    Path(name).write_text(json.dumps(data, ensure_ascii=False), "utf-8")
    return place


def read(name):
    return read_documents(Source.from_bytes(name, Path(name).read_bytes()))[0][0]


def find_value(name, at):
    """The path of the value whose key is at a line and a column."""
    if name.endswith(".md"):
        return ()
    document = read(name)
    places = (path for path, _ in walk(document.data) if path)
    return next(
        (path for path in places if document.source.position(document.span(path, Part.KEY).start)[:2] == at), ()
    )


def walk(value, path=()):
    """Each value in data, with its path."""
    yield path, value
    for step, each in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        yield from walk(each, (*path, step))


def judge(name):
    """How it ends: `read`, `led to a rubric`, or what is wrong with the advice."""
    report, end = look(name), "read"
    while not (report["findings"] or report["summary"]["rubrics"]):
        if not report.get("unread"):
            return f"silent: {report.get('errors')}"
        first = report["unread"][0]
        if not first.get("steps") or first["reason"] == end:
            return f"a dead end: {first['reason']}"
        end = first["reason"]
        name = follow(name, first)
        report = look(name)
    return "read" if end == "read" else "led to a rubric"


@pytest.fixture(params=SAMPLES.values(), ids=SAMPLES)
def sample_file(request, tmp_path, monkeypatch):
    """The name of a file with a home-made rubric, in the current folder."""
    monkeypatch.chdir(tmp_path)
    name = request.param["file"]
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(request.param["text"], "utf-8")
    return name


@pytest.mark.spread(7)
def test_the_advice_on_a_home_made_rubric_ends_in_a_rubric(sample_file):
    assert judge(sample_file) in ("read", "led to a rubric")


HOME_MADE = """
criteria:
  - {name: period, description: Names the period of 30 days, weight: 2}
  - {name: tone, description: Thanks the reader, weight: 1}
"""
OURS = "rubrics: [{id: owner, expected_outcome: Names the owner}]\n"
CASES = "tests: [{vars: {q: Why?}, assert: [{type: llm-rubric, value: Names the owner of the shop}]}]\n"
OWNER, TONE = "owner: {weight: 2, description: Names the owner}", "tone: {weight: 1, description: It is kind}"
AXES = f"scale: [1, 5]\naxes: {{{OWNER}, {TONE}}}\n"
SHAPES = {
    "ours beside criteria": ("a.yaml", f"{OURS}{HOME_MADE}", 1, ["move"]),
    "ours beside criteria in a folder of judges": ("evals/a.yaml", f"version: 1\n{OURS}{HOME_MADE}", 1, ["move"]),
    "assertions beside criteria": ("promptfooconfig.yaml", f"prompts: [x]\n{CASES}{HOME_MADE}", 1, ["move"]),
    "ours and criteria in two documents": ("evals/a.yaml", f"{OURS}---\nscale: 1-5\n{HOME_MADE}", 2, []),
    "axes and criteria": ("evals/a.yaml", f"version: 1\n{AXES}{HOME_MADE}", 2, []),
    "ours beside a filter": ("a.yaml", f"{OURS}criteria: [{{field: due, operator: less, value: 3}}]\n", 1, []),
    "ours beside names of criteria": ("a.yaml", f"{OURS}criteria: [accuracy, tone]\n", 1, []),
}


@pytest.mark.parametrize(("name", "text", "count", "steps"), SHAPES.values(), ids=SHAPES)
def test_a_file_of_two_shapes_has_both_read_or_one_reported(name, text, count, steps, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text, "utf-8")
    report = look(name)
    unread = report.get("unread", [])
    found = [step["do"] for each in unread for step in each["steps"]]
    assert (report["summary"]["rubrics"], report["findings"], found) == (count, [], steps)
    assert all(judge(follow(name, each)) in ("read", "led to a rubric") for each in unread)


def find_refused(name):
    """Return the commands suggested for a file by `check` and `adopt`, or by these commands, that are refused.

    A command after a step that changes the file is left out, as it is for the file after that.
    """
    texts = [unread["reason"] for unread in look(name).get("unread", ()) if is_for_now(unread)]
    texts += call("adopt", name)[:2]
    found = list(dict.fromkeys(command for text in texts for command in list_adoptions(text)))
    refused = []
    for command in islice(found, 10):  # grows while the commands are run
        Path("rubric-lint.toml").unlink(missing_ok=True)
        _, errors, code = call(*shlex.split(command.replace("=N", "=2"))[1:])
        is_unanswered = "no option of adopt answers" in errors and "--" in command  # else the file must be changed
        if code == 2 or "no criteria found" in errors or is_unanswered:
            refused.append((command, errors))
        found += [more for more in list_adoptions(errors) if more not in found]
    return refused


def name_key(field):
    return field.partition(":")[0]


def is_for_now(unread):
    return all(step["do"] == "run" for step in unread.get("steps", ()))


def list_adoptions(text):
    """The commands in a text that describe a file: within a sentence, or on lines of their own."""
    found = re.findall(r"`(rubric-lint adopt [^`]+)`|^ {4}(rubric-lint adopt .*)$", text, re.MULTILINE)
    return [inline or own for inline, own in found]


@pytest.mark.spread(7)
def test_each_command_that_is_suggested_for_a_home_made_rubric_is_accepted(sample_file):
    assert find_refused(sample_file) == []


AROUND = st.sampled_from(
    [
        *("pass_mark: 7", "pass_mark: 0.7", "threshold: 80%", "pass_threshold: 12", "floor: 3", "combine: sum"),
        *("scale: 1-5", "scale: [0, 10]", "max_score: 10", "better: lower", "max_total: 20", "bands: {a: 8, b: 3}"),
    ]
)
FIELDS = st.sampled_from(
    [
        *("weight: 2", "weight: 0.5", "importance: high", "priority: must", "critical: true", "min_score: 3"),
        *("polarity: avoid", "min_score: pass", "points: 5", "share: 10", "scale: 1-5", "max_points: 5"),
        *("levels: {1: It is bad, 5: It is good}", "levels: {poor: It is bad, fine: It is good}"),
    ]
)


@pytest.mark.slow
@given(
    around=st.lists(AROUND, unique_by=name_key, max_size=3),
    criteria=st.lists(st.lists(FIELDS, unique_by=name_key, max_size=3), min_size=2, max_size=3),
)
def test_each_command_that_is_suggested_for_a_random_rubric_is_accepted(around, criteria):
    items = [
        ", ".join([f"{{id: {name}, description: Names the {name} of it", *more])
        for name, more in zip("abc", criteria, strict=False)
    ]
    with TemporaryDirectory() as folder, chdir(folder):
        Path("rubric.yaml").write_text(
            "\n".join([*around, "criteria:", *(f"- {item}}}" for item in items), ""]), "utf-8"
        )
        assert find_refused("rubric.yaml") == []
