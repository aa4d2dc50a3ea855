"""Draw answers at random, and write the sheet in which people judge them."""

import codecs
import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rubric_lint.assess.agreement.reading import LABEL_FIELDS, RatingReader
from rubric_lint.assess.measure.pass_rate import LabelSelection
from rubric_lint.convert.export.tables import fill, save
from rubric_lint.formats.sheets.csv_file import escape_formula, is_formula
from rubric_lint.formats.sheets.excel_file import LONGEST, encode_text
from rubric_lint.judge.answers import Answer
from rubric_lint.model.criterion import Shape
from rubric_lint.scoring.grading import NOT_APPLICABLE, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.ids import make_id_key, name_key
from rubric_lint.scoring.records.mapping import CRITERION, fold_column
from rubric_lint.scoring.records.workbook import HELP

_MOST_LISTED = 250
"""The most characters of a list of values that a spreadsheet offers for a cell: Excel takes 255, with the quotes."""


class SheetError(ValueError):
    """A sheet that cannot be written, and why."""


def draw_sample(answers: Iterable[Answer], sample: int, seed: int) -> tuple[list[Answer], int]:
    """Return a random sample of answers in random order, the same on every machine, and the number of all.

    One that occurs twice counts once.
    """
    different = {answer.key: answer for answer in answers}
    ranked = sorted(different, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
    return [different[key] for key in ranked[:sample]], len(ranked)


def find_open(
    rubrics: Mapping[str, ScoringRubric], results: Mapping[str, Iterable[bytes]], labels: Mapping[str, Iterable[bytes]]
) -> Callable[[Answer], bool]:
    """Return a test for answers that no one has labelled yet, and that have a valid result if there are results.

    Ids are compared as they are shown, because spreadsheets do not tell `7` from `"7"`.

    Raises:
        UnusableRatingsError: if raters or judges have names that cannot be told apart.
    """
    judged = _read_rated(rubrics, results, are_labels=False)
    labelled = _read_rated(rubrics, labels, are_labels=True)

    def is_open(answer: Answer) -> bool:
        name = answer.rubric.name, name_key(make_id_key(answer.record["id"]))
        return name not in labelled and (name in judged or not results)

    return is_open


def _read_rated(
    rubrics: Mapping[str, ScoringRubric], files: Mapping[str, Iterable[bytes]], *, are_labels: bool
) -> set[tuple[str, str]]:
    """Return the rubric and the id of each answer that has a rating in some files."""
    reader = RatingReader(rubrics)
    for name, chunks in files.items():
        reader.read(name, chunks, labels=are_labels)
    rated = set()
    for ratings in reader.gather():
        for judgements in ratings.raters.values():
            rated |= {(ratings.rubric.name if ratings.rubric else "", name_key(key)) for key in judgements}
    return rated


def make_rows(answers: Sequence[Answer], rubrics: Mapping[str, ScoringRubric]) -> list[list[Any]]:
    """Return the header and a row for each answer: what is judged, then an empty cell for each criterion."""
    rubric_column = ["rubric"] if len(rubrics) > 1 else []
    texts = [
        name for name in ("question", "reference", "answer") if any(getattr(answer.case, name) for answer in answers)
    ]
    used = dict.fromkeys(answer.rubric.name for answer in answers)
    criteria = {name_column(criterion): None for name in used for criterion in rubrics[name].criteria}
    rows: list[list[Any]] = [["id", *rubric_column, *texts, *criteria, "chosen", "rubric_hash"]]
    for answer in answers:
        shown = [getattr(answer.case, name) or "" for name in texts]
        names = [answer.rubric.name] if rubric_column else []
        empty = [None] * len(criteria)
        end = [str(LabelSelection.RANDOM), answer.rubric.hash]
        rows.append([answer.record["id"], *names, *shown, *empty, *end])
    return rows


def name_column(criterion: ScoringCriterion) -> str:
    """Return the name of the column of a criterion, with what may be entered if it is found by that name too."""
    folded = fold_column(criterion.id)
    needs_prefix = folded in LABEL_FIELDS or is_formula(criterion.id)
    name = f"{CRITERION}{criterion.id}" if needs_prefix else criterion.id
    allowed = criterion.word_allowed()
    if criterion.may_not_apply:
        allowed += f", or {NOT_APPLICABLE}"
    hinted = f"{name} [{allowed}]"
    return hinted if fold_column(hinted) == folded else name


def write_csv(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return the sheet as CSV. Texts like a formula begin with an apostrophe; ids and names are as they are."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_MINIMAL)
    named = 2 if "rubric" in rows[0][:2] else 1
    for row in rows:
        safe = [escape_formula(value) if isinstance(value, str) else value for value in row[named:]]
        writer.writerow([*row[:named], *safe])
    text = stream.getvalue()
    # Without the mark, Excel takes other characters for those of an old code page.
    start = b"" if text.isascii() else codecs.BOM_UTF8
    return start + text.encode("utf-8", "backslashreplace")


def _explain(rubrics: Iterable[ScoringRubric]) -> tuple[list[list[Any]], dict[str, list[str]]]:
    """Return a table of what each value of each criterion means, and the values that each column may have."""
    rows: list[list[Any]] = [list(HELP)]
    allowed: dict[str, list[str]] = {}
    for rubric in rubrics:
        for place, criterion in enumerate(rubric.criteria):
            is_check = criterion.shape is Shape.CHECKLIST
            meanings: dict[str, list[str]] = {}
            for grade in criterion.grades:
                value = str(grade.answer)
                if is_check:
                    value = "yes" if grade.answer else "no"
                allowed.setdefault(name_column(criterion), []).append(value)
                meanings.setdefault(grade.outcome or "", []).append(value)
            if is_check:
                meanings = {criterion.outcome or "": ["yes"]}
            elif criterion.has_hundredths and "" in meanings:
                meanings[""] = [criterion.word_allowed()]
            if criterion.may_not_apply:
                left_out = str(NOT_APPLICABLE)
                allowed[name_column(criterion)].append(left_out)
                conditions = " and ".join(_list_conditions(rubric, place))
                meanings[f"It does not apply. It applies only if: {conditions}"] = [left_out]
            for meaning, values in meanings.items():
                rows.append([criterion.id, ", ".join(values), meaning])
    return rows, allowed


def _list_conditions(rubric: ScoringRubric, place: int) -> Iterator[str]:
    """Yield the conditions of the groups around a criterion, and its own."""
    for group in rubric.model.groups:
        if group.applies_if and place in group.leaves:
            yield group.applies_if
    own = rubric.model.criteria[place].applies_if
    if own:
        yield own


def write_excel(rows: Sequence[Sequence[Any]], rubrics: Iterable[ScoringRubric]) -> bytes:
    """Return the sheet as a workbook, whose second sheet says what each value means. The same rows give the same bytes.

    Raises:
        SheetError: if a text is too long for a cell.
        ImportError: if openpyxl is not installed.
    """
    from openpyxl import Workbook  # noqa: PLC0415  (an extra; a quarter of a second)
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415
    from openpyxl.utils import get_column_letter  # noqa: PLC0415
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415

    book = Workbook()
    labels, help_sheet = book.worksheets[0], book.create_sheet("Criteria")
    labels.title = "Labels"
    explained, allowed = _explain(rubrics)
    for sheet, content in ((labels, rows), (help_sheet, explained)):
        for number, row in enumerate(content, 1):
            for column, value in enumerate(row, 1):
                if isinstance(value, str) and len(encode_text(value).encode("utf-16-le")) // 2 > LONGEST:
                    raise SheetError(
                        f"the text of `{row[0]}` is longer than the {LONGEST:,} characters of a cell; write CSV"
                    )
                cell: Any = sheet.cell(number, column)
                fill(cell, value)
                cell.alignment = Alignment(wrap_text=True, vertical="top")
        sheet.freeze_panes = "B2"
        for column, head in enumerate(content[0], 1):
            sheet.cell(1, column).font = Font(bold=True)
            wide = head in {"question", "reference", "answer", "It means"}
            sheet.column_dimensions[get_column_letter(column)].width = 60 if wide else 18
    for column, head in enumerate(rows[0], 1):
        listed = ",".join(allowed.get(head, ()))
        if listed and len(listed) <= _MOST_LISTED:
            choice = DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True, showErrorMessage=True)
            letter = get_column_letter(column)
            choice.add(f"{letter}2:{letter}{len(rows)}")
            labels.add_data_validation(choice)
    return save(book)
