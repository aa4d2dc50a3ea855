"""A rubric with faults and its tests, before and after an editor fixed the first fault and renamed a criterion."""

NAME = "my answers.rubric.yaml"
TESTS_NAME = "my answers.rubric-test.yaml"
RUBRIC = """\
# é 😀
rubrics:
  - id: tone
    description: Stays friendly 😀
  - {expected_outcome: 😀, id: accuracy, wieght: 2}
  - id: accuracy-of-dates
    description: Names the date
"""
_TESTS = """\
rubric: my answers.rubric.yaml
tests:
  - id: wrong
    answer: 60 days, accuracy is hard
    output: {checks: [{id: tone, satisfied: true}, {id: accuracy, satisfied: false}]}
    expect: {criteria: {accuracy: false}}
"""
FINDINGS = [
    (4, 5, "deprecated-description"),
    (5, 24, "placeholder"),
    (5, 41, "unknown-field"),
    (7, 5, "deprecated-description"),
]
"""Line, column in characters and rule."""


def write(folder, ending):
    """Write both files into a project of their own."""
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "rubric-lint.toml").touch()
    for name, text in ((NAME, RUBRIC), (TESTS_NAME, _TESTS)):
        (folder / name).write_bytes(text.replace("\n", ending).encode())


def read(folder):
    """Return the texts of both files as they are now."""
    return {path.name: path.read_bytes().decode() for path in folder.glob("*.yaml")}


def expected(ending):
    """Return what `read` returns once `tone` has its fix and `accuracy` is called `period` everywhere."""
    rubric = RUBRIC.replace("tone\n    description:", "tone\n    expected_outcome:").replace("accuracy,", "period,")
    tests = _TESTS.replace("{id: accuracy,", "{id: period,").replace("{accuracy: false}", "{period: false}")
    return {NAME: rubric.replace("\n", ending), TESTS_NAME: tests.replace("\n", ending)}
