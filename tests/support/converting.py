"""Convert rubrics to our format, and score the same random judge outputs before and after."""

import random

import commands

from rubric_lint.model.criterion import Shape
from rubric_lint.scoring import score
from rubric_lint.scoring.loading import load_rubrics


def convert(name, text, folder, *options):
    """What `convert --to rubric` does with a file: exit code, the new text, and what it says."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = commands.run("rubric-lint", "convert", name, "--to", "rubric", *options, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def name_converted(text):
    """The name that says what a converted file is: a rubric or a suite."""
    return "converted.rubric.yaml" if "/rubric-v" in text.partition("\n")[0] else "converted.yaml"


def find_differences(before, text, times):
    """The outputs of which the score or the verdict differs; `before` are the rubrics by name, `text` the new file."""
    after = load_rubrics(name_converted(text), text)
    assert len(after) == len(before)
    found = []
    for old, new in zip(before.values(), after.values(), strict=True):
        found += [each for each in make_outputs(old, times) if _result(old, each) != _result(new, each)]
    return found


def _result(rubric, output):
    result = score(rubric, output)
    return result.score, result.verdict


def make_outputs(rubric, times):
    """Random valid outputs for a rubric, the same every time."""
    chance = random.Random(len(rubric.criteria))  # noqa: S311
    for _ in range(times):
        answers = [chance.choice(each.grades).answer for each in rubric.criteria]
        if rubric.shape is Shape.HOLISTIC:
            yield {"score": answers[0]}
            continue
        pairs = zip(rubric.criteria, rubric.model.criteria, answers, strict=True)
        yield {"checks": [{"id": each.id, _field(model): answer} for each, model, answer in pairs]}


def _field(model):
    return "level" if model.levels else "score" if model.scale else "satisfied"
