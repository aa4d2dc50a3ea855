"""Draw answers at random, and write the sheet in which people judge them."""

import codecs
import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rubric_lint.assess.agreement.reading import LABEL_FIELDS, Reader
from rubric_lint.assess.measure.pass_rate import Chosen
from rubric_lint.convert.export.tables import fill, save
from rubric_lint.formats.sheets.csv_file import escape_formula
from rubric_lint.formats.sheets.excel_file import LONGEST, encode_text
from rubric_lint.judge.answers import Answer
from rubric_lint.model.criterion import Shape
from rubric_lint.scoring.grading import NOT_APPLICABLE, ScoringCriterion, ScoringRubric
from rubric_lint.scoring.ids import make_id_key, name_key
from rubric_lint.scoring.records.mapping import CRITERION, fold_column
from rubric_lint.scoring.records.workbook import HELP

_MOST_LISTED = 250
"""The most characters of a list of values that a spreadsheet offers for a cell."""


class SheetError(ValueError):
    """A sheet that cannot be written, and why."""


def draw(answers: Iterable[Answer], sample: int, seed: int) -> tuple[list[Answer], int]:
    """Return a random sample of answers in random order, the same on every machine, and the number of all.

    One that occurs twice counts once.
    """
    different = {each.key: each for each in answers}
    ranked = [(hashlib.sha256(f"{seed}:{key}".encode()).digest(), each) for key, each in different.items()]
    ranked.sort(key=lambda each: each[0])
    return [answer for _, answer in ranked[:sample]], len(ranked)


def find_open(
    rubrics: Mapping[str, ScoringRubric], results: Mapping[str, Iterable[bytes]], labels: Mapping[str, Iterable[bytes]]
) -> Callable[[Answer], bool]:
    """Return a test for answers that no one has labelled yet, and that have a valid result if there are results.

    Ids are compared as they are shown, because spreadsheets do not tell `7` from `"7"`.

    Raises:
        UnusableError: if raters or judges have names that cannot be told apart.
    """
    rated = []
    for files, are_labels in ((results, False), (labels, True)):
        reader = Reader(rubrics)
        for name, chunks in files.items():
            reader.read(name, chunks, labels=are_labels)
        rated.append(
            {
                (ratings.rubric.name, name_key(key))
                for ratings in reader.gather()
                if ratings.rubric
                for given in ratings.raters.values()
                for key in given
            }
        )
    judged, labelled = rated

    def is_open(answer: Answer) -> bool:
        at = answer.rubric.name, name_key(make_id_key(answer.record["id"]))
        return at not in labelled and (at in judged or not results)

    return is_open


def lay_out(answers: Sequence[Answer], rubrics: Mapping[str, ScoringRubric]) -> list[list[Any]]:
    """Return the header and a row for each answer: what is judged, then an empty cell for each criterion."""
    several = ["rubric"] if len(rubrics) > 1 else []
    texts = [name for name in ("question", "reference", "answer") if any(getattr(each.case, name) for each in answers)]
    used = dict.fromkeys(each.rubric.name for each in answers)
    criteria = {name_column(each): None for name in used for each in rubrics[name].criteria}
    rows: list[list[Any]] = [["id", *several, *texts, *criteria, "chosen", "rubric_hash"]]
    for answer in answers:
        shown = [getattr(answer.case, name) or "" for name in texts]
        names = [answer.rubric.name] if several else []
        end = [str(Chosen.RANDOM), answer.rubric.hash]
        rows.append([answer.record["id"], *names, *shown, *[None] * len(criteria), *end])
    return rows


def name_column(criterion: ScoringCriterion) -> str:
    """Return the name of the column of a criterion, with what may be entered."""
    folded = fold_column(criterion.id)
    name = f"{CRITERION}{criterion.id}" if folded in LABEL_FIELDS else criterion.id
    allowed = criterion.word_allowed() + (f", or {NOT_APPLICABLE}" if criterion.may_not_apply else "")
    return f"{name} [{allowed}]" if folded == criterion.id.strip().casefold() else name


def write_csv(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return the sheet as CSV. Ids are as they are; other texts that look like a formula begin with an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_MINIMAL)
    for first, *others in rows:
        writer.writerow([first, *[escape_formula(each) if isinstance(each, str) else each for each in others]])
    text = stream.getvalue()
    return (b"" if text.isascii() else codecs.BOM_UTF8) + text.encode("utf-8", "replace")


def _explain(rubrics: Iterable[ScoringRubric]) -> tuple[list[list[Any]], dict[str, list[str]]]:
    """Return a table of what each value of each criterion means, and the values that each column may have."""
    rows: list[list[Any]] = [[*HELP]]
    allowed: dict[str, list[str]] = {}
    for rubric in rubrics:
        for place, criterion in enumerate(rubric.criteria):
            is_check = criterion.shape is Shape.CHECKLIST
            meanings: dict[str, list[str]] = {}
            for grade in criterion.grades:
                value = ("yes" if grade.answer else "no") if is_check else str(grade.answer)
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
            rows += [[criterion.id, ", ".join(given), meaning] for meaning, given in meanings.items()]
    return rows, allowed


def _list_conditions(rubric: ScoringRubric, place: int) -> Iterator[str]:
    """Yield the conditions of the groups around a criterion, and its own."""
    for group in rubric.model.groups:
        if group.applies_if and place in group.leaves:
            yield group.applies_if
    if own := rubric.model.criteria[place].applies_if:
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
        if head in allowed and len(listed := ",".join(allowed[head])) <= _MOST_LISTED:
            choice = DataValidation(type="list", formula1=f'"{listed}"', allow_blank=True, showErrorMessage=True)
            letter = get_column_letter(column)
            choice.add(f"{letter}2:{letter}{len(rows)}")
            labels.add_data_validation(choice)
    return save(book)
