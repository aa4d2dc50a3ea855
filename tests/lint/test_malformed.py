"""Random malformed rubrics: every command says what is wrong with them, and none crashes."""

import json
from contextlib import suppress

from exports import write
from hypothesis import example, given
from hypothesis import strategies as st

from rubric_lint.assess.diff.rubric_diff import compare_rubrics, pair_rubrics
from rubric_lint.convert.export import TARGETS
from rubric_lint.convert.export.target import ExportError
from rubric_lint.judge.prompt import JudgedCase, write_prompt
from rubric_lint.lint.engine import lint
from rubric_lint.lint.fix import fix
from rubric_lint.lint.project.settings import FileSettings
from rubric_lint.model.schema import schema_for
from rubric_lint.rules import RULES
from rubric_lint.scoring import RubricError, load_rubrics
from rubric_lint.scoring.loading import load_models

CLAIMED = FileSettings(claimed=True)
# What finds no rubric unsound, so that the commands behind the linter get to see all of them.
LENIENT = FileSettings(claimed=True, enabled=frozenset())
FIELDS = [*schema_for().entry_fields, "level", "name", "outcome", "wieght"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([10**400, -1, 1.5, 7.0, "", " ", "Good", "It is said.", "TODO", "same as above", "9/10", "a: b"]),
)
keys = st.sampled_from([*FIELDS, "0", "1", "5", "5.0", "05", "-3", "x"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
)
scales = st.lists(
    st.dictionaries(st.sampled_from(["level", "score_range", "name", "expected_outcome", "description"]), values),
    max_size=3,
)
entries = values | st.dictionaries(st.sampled_from(FIELDS), values | scales, max_size=5)


def dump(rubric):
    return json.dumps({"rubrics": rubric})


def try_all(text, name="r.json"):
    """Lint a text, fix it, and convert, compare and ask by what can be loaded of it."""
    data = text.encode()
    result = lint(name, data, CLAIMED)
    fix(name, data, CLAIMED, unsafe=True)
    for checked in (CLAIMED, LENIENT):
        with suppress(RubricError):
            loaded = load_models(name, data, checked)
            for target in TARGETS:
                for rubric in loaded.values():
                    with suppress(ExportError):
                        write(target, rubric.rubric)
            rubrics = load_rubrics(name, data, checked)
            assert list(compare_rubrics(pair_rubrics(rubrics, rubrics))) == []
            for rubric in rubrics.values():
                write_prompt(rubric, JudgedCase("It is said."))
    return result


LEVELS = [{"level": 1, "description": "Good"}, {"level": 2, "description": "Poor"}]


@given(st.lists(entries, max_size=3) | values)
@example([{"id": "a", "levels": LEVELS}])
@example([{"id": "a", "description": "What is judged", "levels": LEVELS}])
@example([{"id": "a", "levels": [{"level": 1, "expected_outcome": "A"}] * 2, "required_min_level": 10**400}])
def test_no_malformed_rubric_makes_a_command_crash(rubric):
    result = try_all(dump(rubric))
    assert {finding.rule for finding in result.findings} <= {rule.name for rule in RULES}


def test_a_level_with_the_old_name_of_its_outcome_is_told_as_such():
    result = lint("a.yaml", dump([{"id": "a", "levels": LEVELS}]).encode(), CLAIMED)
    assert [(finding.rule, finding.pointer) for finding in result.findings] == [
        ("inverted-scale", "/rubrics/0/levels/0/level"),
        ("unknown-field", "/rubrics/0/levels/0/description"),
        ("vague-outcome", "/rubrics/0/levels/0/description"),
        ("unknown-field", "/rubrics/0/levels/1/description"),
        ("vague-outcome", "/rubrics/0/levels/1/description"),
    ]


def test_a_scale_whose_criterion_says_description_is_exported_to_ragas():
    levels = [{"level": 1, "expected_outcome": "Cites none"}, {"level": 2, "expected_outcome": "Cites all"}]
    text = dump([{"id": "a", "description": "The sources", "levels": levels}])
    (loaded,) = load_models("r.json", text.encode(), CLAIMED).values()
    assert ("rubrics", 0, "description") in [loss.path for loss in write("ragas", loaded.rubric).losses]
