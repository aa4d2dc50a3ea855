"""Load the RUBRIC argument of commands that score, and read the options of scoring."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rubric_lint.cli.given import Given
from rubric_lint.lint.project.opening import STDIN, explain_os_error, name_input, open_input
from rubric_lint.lint.run.console import complain
from rubric_lint.model.messages import UserError, join_words, list_scores, point_to_known, visible

if TYPE_CHECKING:
    from rubric_lint.assess.agreement.ratings import Ratings
    from rubric_lint.assess.agreement.units import AnswerContext
    from rubric_lint.model.criterion import Mark
    from rubric_lint.scoring.grading import ScoringRubric


def load(
    path: str, given: Given, *, pass_at: "Mark | None" = None, borderline_at: "Mark | None" = None
) -> "dict[str, ScoringRubric]":
    """Return the rubrics of a file by name; raise UserError if they cannot be used for scoring."""
    from rubric_lint.lint.project.files import File, Unreadable, read
    from rubric_lint.scoring.loading import RubricError, load_rubrics

    of_file = given.finder().for_file(path)
    is_asked = pass_at is not None
    pass_at = of_file.pass_at if pass_at is None else pass_at
    borderline_at = of_file.borderline_at if borderline_at is None else borderline_at
    if borderline_at > pass_at:
        raise click.UsageError(
            f"the borderline threshold {borderline_at} is above the pass threshold {pass_at}; set both"
        )
    of_file = of_file._replace(pass_at=pass_at, borderline_at=borderline_at)
    name = "<stdin>" if path == STDIN else path
    data = read(File(name, of_file._replace(claimed=True), is_stdin=path == STDIN))
    if isinstance(data, Unreadable):
        raise UserError(f"{data.path}: {data.reason}")
    try:
        rubrics = load_rubrics(name, data, of_file)
    except RubricError as wrong:
        raise UserError(*wrong.faults, f"{name} cannot be used for scoring; no output was read") from None
    if is_asked:
        for rubric in rubrics.values():
            if rubric.has_own_mark:
                complain(f"warning: --pass has no effect on `{visible(rubric.name)}`, whose `pass_threshold` holds")
    return rubrics


def read_threshold(value: str) -> Decimal:
    """Read a score as an exact decimal."""
    try:
        score = Decimal(value)
    except InvalidOperation:
        score = Decimal(-1)
    if not (score.is_finite() and 0 <= score <= 1) or len(value) > 30 or abs(score.adjusted()) > 30:
        raise click.BadParameter(f"{value!r} is not a score; expected a number from 0 to 1")
    return score


def check_mapping(given: Given, rubrics: "Mapping[str, ScoringRubric]") -> None:
    """Check that each field of --map is one that records have, or a criterion of a rubric.

    Raises:
        click.UsageError: when one is not; it lists the fields.
    """
    if not given.mapping:
        return
    from rubric_lint.scoring.flat import list_fields
    from rubric_lint.scoring.records import mapping

    names = [criterion.id for rubric in rubrics.values() for criterion in rubric.criteria]
    names += sorted({"score"} & list_fields(rubrics.values()))
    try:
        mapping.check_fields(given.mapping, names)
    except mapping.MappingError as fault:
        raise click.UsageError(f"--map: {fault}") from None


def read_grades(values: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Read what letter grades are worth, such as `C=10,P=5,I=0`."""
    found: dict[str, int] = {}
    if not values:
        return ()
    for part in ",".join(values).split(","):
        letter, _, number = (piece.strip() for piece in part.partition("="))
        if len(letter) != 1 or not letter.isalpha() or not number.removeprefix("-").isdecimal():
            raise click.BadParameter(f"{part!r} is not LETTER=VALUE, such as C=10")
        if letter.upper() in found:
            raise click.BadParameter(f"the letter {letter.upper()} has two values; say one")
        found[letter.upper()] = int(number)
    return tuple(found.items())


def check_reading(given: Given, rubrics: "Mapping[str, ScoringRubric]") -> None:
    """Check --map, and that letter grades can be read by a rubric: one with a single criterion that allows them.

    Raises:
        click.UsageError: if there is none, or a field is unknown.
    """
    check_mapping(given, rubrics)
    if not given.grades:
        return
    criteria = [rubric.criteria[0] for rubric in rubrics.values() if len(rubric.criteria) == 1]
    if not criteria:
        raise click.UsageError("--grades: a letter grade is one judgement, and the rubric has several criteria")
    for letter, value in given.grades:
        if not any(criterion.grade(value) for criterion in criteria):
            allowed = list_scores(
                dict.fromkeys(int(grade.answer) for criterion in criteria for grade in criterion.grades)
            )
            raise click.UsageError(f"--grades: {letter}={value} is not allowed; expected one of {allowed}")


def find_labels(given: Given, files: Sequence[str], default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the files of labels: those that are given, or `default`, or these files if --map has columns of people."""
    from rubric_lint.scoring.records.mapping import HUMAN, has_side

    named = given.labels or default
    if named:
        return named
    return tuple(files) if has_side(given.mapping, HUMAN) else ()


def refuse_own_labels(labels: Sequence[str], results: Sequence[str], mapping: Mapping[str, str]) -> None:
    """Refuse labels that are the results; raise UserError naming the file."""
    from rubric_lint.assess.agreement.raters import explain_own_labels

    for label in labels:
        reason = explain_own_labels(label, results, mapping)
        if reason:
            raise UserError(f"{name_input(label)}: {reason}")


def check_answer_fields(given: Given) -> None:
    """Check that each field of --map is one of answers.

    Raises:
        click.UsageError: when one is not; it lists the fields.
    """
    from rubric_lint.judge.answers import FIELDS

    for field in given.mapping:
        if field not in FIELDS:
            raise click.UsageError(f"--map: answers have no field `{field}`; {point_to_known(field, FIELDS)}")


def read_label_scales(values: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Read the scales of labels, by the person, or of all that are not named.

    Each is from the worst one to the best: `1..5`, or `10..0` where the lowest is the best.
    """
    found: dict[str, tuple[int, int]] = {}
    for value in values:
        person, _, scale = value.rpartition("=")
        low, mark, high = scale.partition("..")
        if not mark or not all(end.strip().isdecimal() for end in (low, high)) or int(low) == int(high):
            raise click.BadParameter(f"{scale!r} is not a scale, such as 1..5")
        if person in found:
            raise click.BadParameter(f"{value!r} is the second scale of the same labels; say one")
        found[person] = int(low), int(high)
    return found


def check_people(given: Given, several: "Sequence[Ratings]") -> None:
    """Refuse a scale of the labels of a person who gave none.

    Raises:
        UserError: naming the person.
    """
    known = dict.fromkeys(person for ratings in several for person in ratings.people)
    for person in given.label_scales:
        if person and known and person not in known:
            raise UserError(f"--label-scale: no label is by `{person}`; {point_to_known(person, known)}")


def check_label_scale(given: Given, rubrics: "Mapping[str, ScoringRubric]") -> None:
    """Check that labels on the scale of --label-scale can be read by a rubric.

    A criterion with a narrower scale keeps it, as labels of others could not be read.

    Raises:
        click.UsageError: if no rubric has scores or levels, or the scale goes beyond all of them.
    """
    if not given.label_scales:
        return
    numbers = [criterion.numbers for rubric in rubrics.values() for criterion in rubric.criteria]
    scales = {(numbers_of_one[0], numbers_of_one[-1]): None for numbers_of_one in numbers if numbers_of_one}
    if not scales:
        raise click.UsageError("--label-scale: the rubric has neither scores nor levels, so its labels have no scale")
    for low, high in given.label_scales.values():
        if not any(least <= min(low, high) and max(low, high) <= most for least, most in scales):
            known = join_words([f"{least}..{most}" for least, most in scales])
            raise click.UsageError(
                f"--label-scale: {low}..{high} goes beyond {known} of the rubric; convert the labels"
            )


def check_runs(runs: int, several: "Sequence[Ratings]") -> None:
    """Refuse more outputs for a run than any answer has.

    Raises:
        UserError: if that is so.
    """
    from rubric_lint.model.messages import counted

    judged = [one for ratings in several for judge in ratings.judges.values() for one in judge.values()]
    most = max((len(rating.recorded) for rating in judged), default=runs)
    if runs > most and any(ratings.panels for ratings in several):
        raise UserError(
            f"--runs {runs}: a panel judges an answer once, with the outputs of all its models; say --runs 1"
        )
    if runs > most:
        raise UserError(f"--runs {runs}: no answer has more than {counted(most, 'judge output')}")


def check_field(name: str, about: "Sequence[AnswerContext]") -> None:
    """Check that answers can be grouped by a field.

    Raises:
        UserError: if no answer has it, or it has too many values.
    """
    from rubric_lint.assess.measure.groups import MOST_GROUPS, count_values

    values = {answer.fields[name] for answer in about if name in answer.fields}
    if not values and any(name in answer.unusable for answer in about):
        raise UserError(f"--by: no answer has a text or a number in `{name}`, so there are no groups")
    if not values:
        known = count_values(about)
        advice = point_to_known(name, known) if known else "none has any"
        raise UserError(f"--by: no answer has the field `{name}`; {advice}")
    if len(values) > MOST_GROUPS:
        raise UserError(f"--by: `{name}` has {len(values)} values; groups of answers are at most {MOST_GROUPS}")


def find_files(names: tuple[str, ...], left: list[str] | None = None) -> tuple[str, ...]:
    """Return the files that the arguments name, and say what is not read; what is not read in folders goes to `left`.

    Raises:
        UserError: if an argument names no file.
    """
    from rubric_lint.lint.project.inputs import find_inputs

    found = find_inputs(names)
    if left is not None:
        left += found.others
    if found.missing:
        raise UserError(*found.notes, *found.missing)
    for note in found.notes:
        complain(note)
    return tuple(found.files)


def require_existing(names: Sequence[str]) -> None:
    """Check that the files exist; raise UserError naming those that do not, or stdin."""
    if STDIN in names:
        raise UserError("-: stdin is not read here; write it to a file and name that")
    missing = [name for name in names if not Path(name).exists()]
    if missing:
        raise UserError(*(f"{name}: {explain_os_error(name, FileNotFoundError())}" for name in missing))


def require_readable(outputs: Sequence[str]) -> None:
    """Check that every file can be opened, before the first result, so that no long run fails late.

    Raises:
        UserError: naming those that cannot.
    """
    faults = []
    for name in outputs:
        try:
            with open_input(name):
                pass
        except (OSError, ValueError) as fault:
            reason = str(fault) if name == STDIN else f"{name}: {explain_os_error(name, fault)}"
            faults.append(reason)
    if faults:
        raise UserError(*faults)
