"""Ask what the files of a format leave open, and write the answers into its table.

An answer is a setting of the table with a key of the files, or with a value. Those that are offered for a question are
tried first: they settle it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from rubric_lint.formats.home_made.candidate import Candidate, Question, find_ends
from rubric_lint.formats.home_made.columns import list_entries, look
from rubric_lint.formats.home_made.format_table import YES_NO, FormatTable, expand, first_steps, is_star, star_pattern
from rubric_lint.formats.home_made.reading import read_all
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.rubric_fields import show
from rubric_lint.formats.home_made.scores import is_amount, read_ends, read_percent, read_score
from rubric_lint.formats.home_made.table_writer import ANY_SCALE, generalize, sort_table
from rubric_lint.formats.home_made.threshold_reading import list_readings, name_whole
from rubric_lint.formats.home_made.unmapped import UnmappedSearch
from rubric_lint.formats.home_made.unmapped_key import UnmappedKey
from rubric_lint.model.criterion import read_number as finite_number
from rubric_lint.model.messages import join_words, list_names, pluralize, shorten, visible
from rubric_lint.model.view import View
from rubric_lint.source.document import Document
from rubric_lint.source.path import Path, pointer, split_pointer
from rubric_lint.source.tree import parts_of

_NAMES = ("id", "outcome", "weight", "levels", "level-score", "level-text", "parts")
_MARKS = ("gate", "negative", "sums")
_WORDS = ("weights", "level-scores")
_PLACES = ("pass", "total", "task", "rubric")
_VALUES = {"combine": ("mean", "share", "all"), "better": ("higher", "lower")}
ROLES = (*_NAMES, "points", *_MARKS, *_WORDS, "scale", *_PLACES, *_VALUES, "unused")
"""What a key can be: the settings of a table, and `points`, which is a weight whose scores are added up."""

_MOST_KEYS = 30
"""So many keys are listed of files that lack one."""

_MOST_WORDS = 10
"""No more words mark criteria."""

NUMBER = "N"
"""Stands for a number that only the user knows."""

_SCALES = ("1-5", "0-10", YES_NO)
"""Scales that are offered where nothing says one."""


class AssignmentError(ValueError):
    """An answer that does not fit the files."""


@dataclass(frozen=True)
class Assignment:
    """What the user says: a role with a key, or with a value."""

    role: str
    value: str

    @property
    def option(self) -> tuple[str, str]:
        """The option of the command that says it, and its value."""
        is_scale = self.role == "scale" and read_scale(self.value) is not None
        is_mark = self.role == "pass" and read_number(self.value) is not None
        is_own = is_scale or is_mark or self.role == "better"
        return (self.role, self.value) if is_own else ("map", self.text)

    @property
    def text(self) -> str:
        """The value of `--map`."""
        return f"{self.role}={self.value}"


def merge(answers: Sequence[Assignment], more: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return answers with more of them, which replace those that they contradict."""
    replaced = {answer.role for answer in more} & {"scale", *_PLACES, *_VALUES}
    values = {answer.value for answer in more}
    kept = [answer for answer in answers if answer.role not in replaced and answer.value not in values]
    return tuple(dict.fromkeys((*kept, *more)))


@dataclass(frozen=True)
class Suggestion:
    """Answers that settle a question together, and what they say."""

    answers: tuple[Assignment, ...]
    effect: str

    @property
    def is_whole(self) -> bool:
        """Whether no number is left to the user."""
        return self.filled == self.answers

    @property
    def filled(self) -> tuple[Assignment, ...]:
        """The answers with a number in the place of each that is left to the user."""
        return tuple(Assignment(answer.role, re.sub(rf"={NUMBER}\Z", "=1", answer.value)) for answer in self.answers)


def read_scale(value: str) -> str | list[int] | None:
    """Return the scale that a text is: two scores, or `yes-no`; None if it is none."""
    found = re.fullmatch(r"(-?\d{1,4})-(\d{1,4})", value)
    if found and int(found[1]) < int(found[2]):
        return [int(found[1]), int(found[2])]
    return value if value == YES_NO else None


def read_number(value: str) -> int | Decimal | None:
    """Return the number that a text is; None if it is none."""
    if not re.fullmatch(r"-?\d{1,6}(\.\d{1,6})?", value):
        return None
    return Decimal(value) if "." in value else int(value)


@dataclass(frozen=True)
class TableDraft:
    """A table of criteria in some documents, with what was understood of them, if it was inferred.

    `others` are the places of the criteria that other tables read, and those that lead to them.
    """

    documents: tuple[Document, ...]
    table: Mapping[str, Any]
    candidate: Candidate | None = None
    others: frozenset[tuple[Document, Path]] = frozenset()

    @property
    def format_table(self) -> FormatTable:
        """The table as it is used."""
        return FormatTable.from_table(self.table)

    @cached_property
    def views(self) -> list[View]:
        """What the table reads; nothing where it says in no words what is judged."""
        return read_all(self.documents, self.format_table)

    # The keys of the files.

    @cached_property
    def entries(self) -> list[Mapping[str, Any]]:
        """The criteria and their parts."""
        table = self.format_table
        found: list[Mapping[str, Any]] = []
        for document in self.documents:
            for path, _ in expand(document.data, table.criteria):
                found += [entry for _, entry in list_entries(document.value(path), path, table.parts)]
        return found

    @cached_property
    def own(self) -> list[str]:
        """The keys of criteria."""
        return list(dict.fromkeys(key for entry in self.entries for key in entry))

    @cached_property
    def around(self) -> list[str]:
        """The pointers to the keys around criteria, with a `*` as in the table."""
        at = split_pointer(self.table["criteria"])
        found: dict[str, None] = {}
        for document in self.documents:
            for path, _ in expand(document.data, self.table["criteria"]):
                for place in _find_around(document, path):
                    found[pointer(generalize(place, at, path))] = None
        return list(found)

    def find_key(self, name: str) -> str:
        """Return a key of criteria, or the pointer to one around them, as a table names it."""
        if name in self.own or name in self.around or self._leads_to_some(name) or name in self._inner:
            return name
        named = [place for place in self.around if split_pointer(place)[-1] == name]
        if len(named) == 1:
            return named[0]
        listed = list_names([visible(key) for key in self.own + self.around], _MOST_KEYS)
        raise AssignmentError(f"the files have no key `{visible(name)}`; they have {listed}")

    def _leads_to_some(self, name: str) -> bool:
        """Return whether a way through mappings, a pattern or a pointer leads to some value."""
        if any(look(entry, name) is not None for entry in self.entries):
            return True
        if is_star(name):
            return any(re.search(star_pattern(name), key) for key in self.own)
        return name.startswith("/") and any(any(expand(document.data, name)) for document in self.documents)

    @property
    def _inner(self) -> set[str]:
        """The keys of the mappings in criteria, such as those of levels."""
        keys: set[str] = set()
        for entry in self.entries:
            for value in entry.values():
                for part in parts_of(value):
                    if isinstance(part, dict):
                        keys.update(part)
        return keys

    def list_values(self, name: str) -> list[Any]:
        """Return the words, numbers and flags that criteria have under a key."""
        found = [look(entry, name) for entry in self.entries]
        return list(dict.fromkeys(value for value in found if isinstance(value, str | int | float)))

    # The answers.

    def put(self, answers: Sequence[Assignment]) -> "TableDraft":
        """Return the draft with some answers in its table; raise AssignmentError if one does not fit."""
        table, roles = dict(self.table), set[str]()
        self._refuse_other(answers)
        for answer in answers:
            self._put(table, answer, is_more=answer.role in roles)
            roles.add(answer.role)
        return replace(self, table=sort_table(table))

    def _put(self, table: dict[str, Any], answer: Assignment, *, is_more: bool) -> None:
        role, value = answer.role, answer.value
        if role in _VALUES:
            if value not in _VALUES[role]:
                raise AssignmentError(f"`{role}` is {join_words(_VALUES[role], 'or')}, not {value!r}")
            table[role] = value
        elif role in _WORDS:
            word, _, number = value.rpartition("=")
            amount = read_number(number)
            if not word or amount is None:
                raise AssignmentError(f"`{answer.text}` gives no word a number, such as `{role}=high=3`")
            table[role] = {**table.get(role, {}), word: amount}
        elif role == "scale" and read_scale(value) is not None:
            if "scale" not in table or not self._has_scale(value):
                table[role] = read_scale(value)
        elif role in ("pass", "total") and read_number(value) is not None:
            self._put_number(table, role, read_number(value))
        elif role in _MARKS:
            self._put_mark(table, answer)
        else:
            self._put_key(table, answer, is_more=is_more)

    def _put_number(self, table: dict[str, Any], role: str, number: int | Decimal | None) -> None:
        if role == "pass" and number in self._stated_marks:
            return
        if isinstance(table.get(role), str):  # the place that says it otherwise
            table["unused"] = _add(table.get("unused", ()), table[role])
        table[role] = number

    def _refuse_other(self, answers: Sequence[Assignment]) -> None:
        """Refuse what the files say otherwise: another scale, another pass mark, and a direction."""
        said = {answer.role: answer.value for answer in answers}
        left_out = {answer.value for answer in answers if answer.role == "unused"}
        scale, stated = read_scale(said.get("scale", "")), self.table.get("scale")
        if scale and stated not in (None, scale, YES_NO) and self.candidate and not self._has_scale(said["scale"]):
            ends = join_words([f"`{visible(str(end))}`" for end in _as_list(stated)], "to")
            raise AssignmentError(f"`--scale {said['scale']}` contradicts the files, in which {ends} is the scale")
        mark = read_number(said.get("pass", ""))
        stated_marks = self._stated_marks if mark is not None and self.candidate else []
        for found in stated_marks:
            if found != mark:
                raise AssignmentError(f"`--pass {said['pass']}` contradicts the files, in which {found} passes")
        if said.get("better") != "higher":
            return
        for view in self.views:
            for found in self._list_unmapped(view):
                if found.role is Role.DIRECTION and not left_out & {found.name, pointer(found.place)}:
                    raise AssignmentError(f"`--better higher` contradicts the files: {found.subject}")

    @cached_property
    def _stated_marks(self) -> list[Any]:
        """The pass marks that the files say and that are read."""
        places = [(view.document, view.threshold_path) for view in self.views if view.threshold]
        return [document.decimal(place) for document, place in places if place]

    def _has_scale(self, text: str) -> bool:
        """Return whether the criteria are scored on a scale."""
        scale = read_scale(text)
        found = {find_ends(entry) for entry in self._read_entries}
        return found == {tuple(scale)} if isinstance(scale, list) else found == {()}

    @property
    def _read_entries(self) -> list[dict[str, Any]]:
        """The criteria that the table reads, in our words."""
        entries: list[dict[str, Any]] = []
        for view in self.views:
            entries += [entry for entry in view.data if isinstance(entry, dict)]
        return entries

    def _put_key(self, table: dict[str, Any], answer: Assignment, *, is_more: bool) -> None:
        role, key = answer.role, self.find_key(answer.value)
        if role in _PLACES and not key.startswith("/"):
            raise AssignmentError(f"`{answer.text}` names a key of the criteria; `{role}` is one around them")
        words = _list_marking_words(table, key) if role == "unused" else {}  # other words may still mark
        _remove(table, key)
        for marked, marks in words.items():
            table[marked] = {**table.get(marked, {}), key: _shorten_marks(marks)}
        if role == "points":
            role, table["combine"] = "weight", "share"
        if role == "unused" or (is_more and role in table and role in _NAMES):
            table[role] = _add(table.get(role, ()), key)
        else:
            table[role] = key

    def _put_mark(self, table: dict[str, Any], answer: Assignment) -> None:
        """Put a field that marks criteria into a table: `gate=blocker`, or with one of its values `gate=type=hard`."""
        name, has_word, word = answer.value.partition("=")
        value: Any = True
        if answer.value in self.own or not has_word:
            key = self.find_key(answer.value)
        else:
            key = self.find_key(name)
            value = self._find_marking_value(key, word)
        if key.startswith("/") and not (answer.role == "gate" and value is True):
            raise AssignmentError(f"`{answer.text}` names a key around the criteria; `{answer.role}` is one of theirs")
        old = table.get(answer.role, {})
        marks = dict(old) if isinstance(old, dict) else dict.fromkeys(_as_list(old), True)
        words = _list_marking_words(table, key) if has_word else {}
        _remove(table, key)
        for role, others in words.items():
            rest = [other for other in others if other != value]
            if rest and role != answer.role:
                table[role] = {**table.get(role, {}), key: _shorten_marks(rest)}
        values = _add(marks[key], value) if key in marks else [value]
        marks[key] = _shorten_marks(values)
        table[answer.role] = marks
        if all(marking is True for marking in marks.values()):
            table[answer.role] = _shorten_marks(list(marks))

    def _find_marking_value(self, key: str, word: str) -> Any:
        """Return the value that criteria have under a key, by the word for it; raise AssignmentError if none has it."""
        values = {_write(value): value for value in self.list_values(key)}
        if word not in values:
            known = join_words([f"`{visible(other)}`" for other in values])
            raise AssignmentError(f"no criterion has `{visible(key)}: {visible(word)}`; they have {known}")
        return values[word]

    # The questions.

    @cached_property
    def questions(self) -> list[Question]:
        """What the files leave open, the first of which is asked first."""
        unused = {*_as_list(self.table.get("unused", ()))}
        found: list[Question] = []
        if self.candidate:
            found = [question for question in self.candidate.ask() if not self._is_settled(question, unused)]
        for view in self.views:
            if view.unscorable:
                found.append(Question(view.document, view.path, view.unscorable, view=view))
            own = [(place, reason) for place, reason in view.doubts if (view.document, place) not in self.others]
            found += [Question(view.document, place, reason, view=view) for place, reason in own]
            found += _ask_about_scales(view)
        if self.candidate:
            found += self.candidate.ask_about_others(self.views, self.used | unused)
        firsts: dict[object, Question] = {}
        for question in found:
            firsts.setdefault(question.keys or (question.place, question.reason), question)
        return list(firsts.values())

    @cached_property
    def used(self) -> set[str]:
        """The keys that the table reads, and the pointers to those around criteria."""
        names: list[Any] = []
        for role in [*_NAMES, *_MARKS, "scale", *_PLACES]:
            names += _as_list(self.table.get(role, ()))
        used = first_steps(map(str, names))
        for star in (name for name in names if isinstance(name, str) and is_star(name)):
            used.update(key for key in self.own if re.search(star_pattern(star), key))
        return used

    def _is_settled(self, question: Question, unused: set[str]) -> bool:
        role = question.role
        return unused.issuperset(question.keys) or (role != "unused" and role in self.table)

    def list_suggestions(self, question: Question) -> Iterator[Suggestion]:
        """Yield what may be the answer to a question."""
        if question.keys and question.role == "unused":
            yield _leave_out(question.keys)
            return
        if question.keys:
            for key in question.keys:
                others = [Assignment("unused", other) for other in question.keys if other != key]
                yield Suggestion((Assignment(question.role, key), *others), f"`{visible(key)}` is the {question.role}")
            return
        view = question.view
        if view is None:
            return
        if question.reason == view.unscorable:
            scales = _SCALES[::-1] if self._are_answered else _SCALES
            yield from map(_as_scale, scales)
            return
        yield from self._list_marks(question, view)
        yield from self._list_words(view)
        yield from self._list_roles(question, view)

    @property
    def _are_answered(self) -> bool:
        """Whether the criteria are likely met or not: texts, or with points, penalties, or gates that are flags."""
        if not self.entries or "negative" in self.table or self.table.get("combine") == "share":
            return True
        for view in self.views:
            if any(found.role is Role.NEGATIVE for found in self._list_unmapped(view)):
                return True
        gates = self.candidate.columns.names(Role.GATE) if self.candidate else ()
        flags: list[Any] = []
        for name in gates:
            flags += self.list_values(name)
        return bool(flags) and all(isinstance(flag, bool) for flag in flags)

    def _list_marks(self, question: Question, view: View) -> Iterator[Suggestion]:
        """Yield the scores that a pass mark may mean, and the sum of which it may be a part."""
        place, _ = self._place(question, view)
        value = view.document.value(question.place)
        number = None if finite_number(value) is None else Fraction(str(value))
        percent = read_percent(value)
        part = percent or number
        if self.table.get("pass") != place or part is None:
            return
        low, high = self._find_lowest_and_highest()
        is_stated = self.candidate is None or self.candidate.written.get("pass") == place
        others = () if is_stated else (Assignment("unused", place),)  # an earlier answer names the place
        start = ""
        if part > max(high, 1):
            yield _combine("share")
            tens = 10 if part <= 10 else 100
            mark, whole = self._find_mark_of_sum(part, question, view)
            if mark is not None and whole != tens:
                yield self._suggest_pass(mark, others, f"{value} is out of {show(whole)}, and ")
            start = f"{value} is out of {tens}, and "
            part /= tens
        if part > 1:
            return
        is_turned = self.table.get("better") == "lower"
        ends = Fraction(low), Fraction(high)
        for mark, reading in list_readings(part, ends, is_turned=is_turned, is_percent=percent is not None).items():
            yield self._suggest_pass(mark, others, start, f" ({reading})")

    def _suggest_pass(self, mark: Fraction, others: tuple[Assignment, ...], start: str, end: str = "") -> Suggestion:
        """Return the suggestion of a score that passes, which says between `start` and `end` which one."""
        answers = (Assignment("pass", f"{float(mark):g}"), *others)
        return Suggestion(self._say_mean(answers), f"{start}an answer passes from {float(mark):g} on{end}")

    def _find_mark_of_sum(self, part: Fraction, question: Question, view: View) -> tuple[Fraction | None, Fraction]:
        """Return the mean from which on all scores add up to a pass mark, and what they add up to at most.

        The mean is None if no decimal is exactly that, if it is no score of the scale above the lowest, or if the
        question says that they add up to something else.
        """
        entries = [entry for entry in view.data if isinstance(entry, dict)]
        scales = {find_ends(entry) for entry in entries}
        weights = [finite_number(entry.get("weight")) for entry in entries]
        if len(scales) != 1 or () in scales or None in weights:
            return None, Fraction(0)
        points = sum((Fraction(str(weight)) for weight in weights), Fraction(0))
        low, high = scales.pop()
        whole = points * high
        mark = part / points if points else Fraction(low)
        is_said = f"{name_whole(whole)};" in question.reason
        is_exact = Fraction(f"{float(mark):g}") == mark
        if is_said and is_exact and low < mark <= high:
            return mark, whole
        return None, whole

    def _say_mean(self, answers: tuple[Assignment, ...]) -> tuple[Assignment, ...]:
        """Return a pass mark with how scores combine, if it would be in doubt without that: it may be one of a sum."""
        known = {question.reason for question in self.questions}
        is_plain = all(question.reason in known for question in self.put(answers).questions)
        return answers if is_plain else (*answers, Assignment("combine", "mean"))

    def _find_lowest_and_highest(self) -> tuple[int, int]:
        """Return the ends of the scales of the criteria, else of the scale around them, else 0 and 1."""
        numbers: list[int] = []
        for entry in self._read_entries:
            numbers += find_ends(entry)
        scale = self.table.get("scale")
        if not numbers and isinstance(scale, str) and scale.startswith("/"):
            for document in self.documents:
                written = [read_ends(document.value(path)) for path, _ in expand(document.data, scale)]
                numbers += [int(end) for ends in written if isinstance(ends, tuple) for end in ends]
        return min(numbers, default=0), max(numbers, default=1)

    def _list_words(self, view: View) -> Iterator[Suggestion]:
        """Yield the scores that levels with words may have, in their order."""
        if not _list_unnumbered(entry for entry in view.data if isinstance(entry, dict)):
            return
        levels = _list_unnumbered(self._read_entries)
        names = list(dict.fromkeys(str(level.get("name") or level.get("expected_outcome")) for level in levels))
        low, high = self._find_lowest_and_highest()
        step = max((high - low) // max(len(names) - 1, 1), 1)
        for ordered in (names, names[::-1]):
            scores = tuple(Assignment("level-scores", f"{name}={low + step * at}") for at, name in enumerate(ordered))
            yield Suggestion(scores, f"`{shorten(ordered[0])}` is the worst and `{shorten(ordered[-1])}` the best")

    def _list_roles(self, question: Question, view: View) -> Iterator[Suggestion]:
        """Yield what a key that is not read may be."""
        key, is_around = self._place(question, view)
        if not key:
            return
        role, value = self._find_role(question, view)
        suggestions: list[Suggestion] = []
        if role is Role.DIRECTION:
            lower = Assignment("better", "lower")
            if question not in self.put([lower]).questions:  # all criteria say so
                suggestions.append(Suggestion((lower, Assignment("unused", key)), "the lowest score is the best"))
        elif role is Role.COMBINE:
            suggestions += [_combine(way, Assignment("unused", key)) for way in _WAYS]
        elif key in _as_list(self.table.get("weight", ())):
            suggestions += [_combine("share"), _combine("mean")]
        elif is_around:
            suggestions += self._list_roles_around(key, role, value, view)
        else:
            suggestions += self._list_roles_inside(key, role, value)
        if key not in {*_as_list(self.table.get("levels", ())), *_as_list(self.table.get("outcome", ()))}:
            is_second = is_around and "pass" in self.table and role in (Role.PASS, Role.VERDICT)
            place = 0 if is_second else len(suggestions)
            suggestions.insert(place, _leave_out([key]))
        yield from suggestions

    def _list_roles_around(self, key: str, role: Role | None, value: Any, view: View) -> list[Suggestion]:
        """Return the pass marks and the gates that a key around criteria may hold, the likelier ones first."""
        if role in (Role.PASS, Role.VERDICT):
            marks = list(self._list_pass_marks(key, view))
            return marks if is_amount(value) else [*marks, *self._list_shared_gates(key, view)]
        if role not in (None, Role.OPEN, Role.GATE) or self.table.get("pass") == key:
            return []
        gates = list(self._list_shared_gates(key, view))
        if gates and role is not Role.GATE and "pass" not in self.table:
            gates += self._list_pass_marks(key, view)
        return gates

    def _list_numbers(self, key: str, view: View) -> Iterator[tuple[str, Any]]:
        """Yield the places of numbers at a key around criteria or in it, as a table names them, with the numbers."""
        within = [place for place in self.around if place.startswith(f"{key}/")]
        for mark in [key, *within]:
            values = [view.document.value(path) for path, _ in expand(view.document.data, mark)]
            if values and is_amount(values[0]):
                yield mark, values[0]

    def _list_pass_marks(self, key: str, view: View) -> Iterator[Suggestion]:
        """Yield the pass marks at a key around criteria or in it, each in the place of the one that the table has."""
        old = self.table.get("pass")
        others = (Assignment("unused", old),) if isinstance(old, str) and old != key else ()
        for mark, _ in self._list_numbers(key, view):
            effect = f"`{visible(mark.removeprefix('/'))}` is the lowest score that passes"
            yield Suggestion((Assignment("pass", mark), *others), effect)

    def _list_shared_gates(self, key: str, view: View) -> Iterator[Suggestion]:
        """Yield the numbers at a key around criteria or in it that may be what each criterion must reach."""
        scales = {find_ends(entry) for entry in view.data if isinstance(entry, dict)} - {()}
        for mark, value in self._list_numbers(key, view):
            number = read_score(str(value))
            if scales and number is not None and all(low < number <= high for low, high in scales):
                effect = f"each criterion must reach `{visible(mark.removeprefix('/'))}`, {value}"
                yield Suggestion((Assignment("gate", mark),), effect)

    def _list_roles_inside(self, key: str, role: Role | None, value: Any) -> Iterator[Suggestion]:
        """Yield the suggestion that a key of criteria has the role that it seems to have, if a setting takes it."""
        shown = visible(key)
        has_words = self.candidate is not None and key in self.candidate.columns.names(Role.WEIGHT_WORDS)
        is_word = role is Role.WEIGHT and isinstance(value, str) and read_percent(value) is None
        if has_words or is_word:
            numbers = [Assignment("weights", f"{word}={NUMBER}") for word in self.list_values(key)]
            effect = f"`{shown}` is the weight, with your numbers in the place of {NUMBER}"
            yield Suggestion((Assignment("weight", key), *numbers), effect)
        elif role in (Role.WEIGHT, Role.LEVELS):
            yield Suggestion((Assignment(role.value, key),), f"`{shown}` has the {role.value}")
        elif role in (Role.GATE, Role.NEGATIVE, Role.PASS, Role.VERDICT):
            words = {word for word in self.list_values(key) if isinstance(word, str)}
            if len(words) <= _MOST_WORDS:  # more are names
                yield self._suggest_mark(key, role, value)

    @staticmethod
    def _suggest_mark(key: str, role: Role | None, value: Any) -> Suggestion:
        """Return the suggestion that a key of criteria, or one of its values, marks gates or penalties."""
        setting = "negative" if role is Role.NEGATIVE else "gate"
        if setting == "gate" and is_amount(value):
            return Suggestion((Assignment(setting, key),), f"a criterion must reach its `{visible(key)}`")
        word = f"{key}={_write(value)}" if isinstance(value, str) or value is False else key
        meaning = "costs points" if setting == "negative" else "must be met"
        return Suggestion((Assignment(setting, word),), f"what `{visible(word.replace('=', ': '))}` marks {meaning}")

    def _place(self, question: Question, view: View) -> tuple[str, bool]:
        """Return the key in the place of a question, and whether it stands around the criteria."""
        place, depth = question.place, len(view.path)
        if place[:depth] == view.path and len(place) > depth:
            named = [str(step) for step in place[depth + 1 :]]
            return next((step for step in reversed(named) if step in self.own), ""), False
        at = split_pointer(self.table["criteria"])
        ways = (pointer(generalize(place[:length], at, view.path)) for length in range(len(place), 0, -1))
        return next((way for way in ways if way in self.around), ""), True

    def _list_unmapped(self, view: View) -> list[UnmappedKey]:
        """Return the keys of a rubric that the table does not read and that may decide its score, on any scale."""
        return list(UnmappedSearch(view.document, self.format_table, view.path, (), ANY_SCALE).find_all())

    def _find_role(self, question: Question, view: View) -> tuple[Role | None, Any]:
        """Return the role of the key in the place of a question, None if nothing suggests one, with its value."""
        found = next((unmapped for unmapped in self._list_unmapped(view) if unmapped.place == question.place), None)
        return (found.role, found.value) if found else (None, None)


def _ask_about_scales(view: View) -> Iterator[Question]:
    """Yield the scales of a rubric that have no two scores: only a change of the file settles that."""
    for _, problem in view.problems:
        if problem.code in ("empty-range", "one-score"):
            reason = f"its scale, {problem.values['range']}, does not go up"
            yield Question(view.document, problem.path, reason)


def _list_unnumbered(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the levels without a number of criteria in our words."""
    levels: list[Mapping[str, Any]] = []
    for entry in entries:
        levels += [level for level in entry.get("levels", ()) if level["level"] is None]
    return levels


def _find_around(document: Document, path: Path) -> Iterator[Path]:
    """Yield the places around criteria, in the mappings above them and in those within these."""
    for depth in range(len(path) + 1):
        holder = document.value(path[:depth])
        if isinstance(holder, dict):
            for key, value in holder.items():
                place = (*path[:depth], key)
                is_of_map = depth == len(path)  # whose criteria are mappings
                if (is_of_map and not isinstance(value, dict)) or (not is_of_map and place != path[: depth + 1]):
                    yield place
                    yield from _find_within(place, value)


def _find_within(place: Path, value: Any) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*place, key)
            yield from _find_within((*place, key), inner)


_WAYS = {
    "mean": "the score is the mean of the criteria",
    "share": "scores are added up",
    "all": "each criterion must be met",
}
"""What the ways to combine scores mean."""


def _combine(way: str, *others: Assignment) -> Suggestion:
    return Suggestion((Assignment("combine", way), *others), _WAYS[way])


def _as_scale(scale: str) -> Suggestion:
    low, _, high = scale.partition("-")
    effect = "each criterion is met or not" if scale == YES_NO else f"each criterion is scored from {low} to {high}"
    return Suggestion((Assignment("scale", scale),), effect)


def _leave_out(keys: Sequence[str]) -> Suggestion:
    verb = pluralize(len(keys), "does", "do")
    names = [split_pointer(key)[-1] if key.startswith("/") else key for key in keys]
    listed = join_words([f"`{visible(name)}`" for name in names])
    return Suggestion(tuple(Assignment("unused", key) for key in keys), f"{listed} {verb} not count")


def _write(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | dict) else [value]


def _add(old: Any, new: Any) -> list[Any]:
    return list(dict.fromkeys([*_as_list(old), new]))


def _shorten_marks(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _list_marking_words(table: Mapping[str, Any], key: str) -> dict[str, list[Any]]:
    """Return the words of a key by the marks of criteria that they are: `{"negative": ["penalty"]}`."""
    named = {role: table[role] for role in _MARKS if isinstance(table.get(role), dict) and key in table[role]}
    return {role: _as_list(marks[key]) for role, marks in named.items() if marks[key] is not True}


def _remove(table: dict[str, Any], key: str) -> None:
    """Take a key out of all settings of a table."""
    for role in [*_NAMES, *_MARKS, "scale", *_PLACES, "unused"]:
        value = table.get(role)
        if isinstance(value, dict):
            table[role] = {name: marking for name, marking in value.items() if name != key}
        elif isinstance(value, list):
            table[role] = [name for name in value if name != key]
        if value == key or table.get(role) in ({}, []) or (role == "scale" and value and key in _as_list(value)):
            table.pop(role, None)
