"""Choose the answers that a page of scores has, and write them for its script as one element of JSON.

A browser opens a page with hundreds of thousands of answers too slowly, so a page has a few thousand: a random sample
of all, to label, and those that readers look for. What is kept in memory meanwhile does not grow with the run.
"""

import heapq
import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from tempfile import SpooledTemporaryFile
from typing import Any

from rubric_lint.assess.diff.compare_runs import OtherAnswer, OtherRun
from rubric_lint.report.terminal import name_answer
from rubric_lint.scoring.grading import AnswerValue, Scored, ScoringRubric, Verdict, is_unscored
from rubric_lint.scoring.output import RecordResult
from rubric_lint.scoring.records.decoding import Content

MOST_ANSWERS = 5000
"""The most answers in a page; one in five of them is of the random sample."""

MOST_TEXT = 32 << 20
"""The most bytes of records in a page, of both runs together."""

_IN_MEMORY, _ON_DISK = 4 << 20, 1 << 30
"""The most bytes of records of a run to keep while it is read."""

_LEAST = -1
_CHANGED_SCORE = 1
_INTEREST = {Verdict.PASS: 0, Verdict.BORDERLINE: 2, Verdict.FAIL: 3, None: 4}
_CHANGED_VERDICT = 5
"""How much readers look for an answer: first for one whose verdict changed, then for an invalid one, and so on."""


BELOW = "below all grades"
"""What the page names the grade of a score that is below all grades of its rubric."""


def format_more(result: Scored) -> str:
    """Return a score in units of the scale of its rubric, and its grade; empty if the rubric has neither."""
    grade = f"grade {result.rubric_grade}" if result.rubric_grade is not None else ""
    return ", ".join(filter(None, (result.rubric.word_in_units(result.score), grade)))


def name_id(name: Any) -> str:
    """Return an id as the page shows it; numbers keep all their digits."""
    return name if isinstance(name, str) else json.dumps(name, default=str)


def name_row(given: Any, line: int, file: str | None) -> str:
    """Return an id, or the place of an answer without one."""
    name = "" if given is None else name_id(given)
    if name.strip():
        return name
    return f"{file}, line {line}" if file else f"line {line}"


class RecordTexts:
    """The texts of records in a temporary file, each by its number."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._starts = array("Q", [0])

    def add(self, content: Content) -> int:
        """Add what an entry holds, as a text; return its number."""
        text = content
        if isinstance(text, dict):
            text = json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")
        end = self._starts[-1]
        if isinstance(text, bytes):
            end += len(text)
            if end <= _ON_DISK:
                self._file.write(text)
        self._starts.append(end)
        return len(self._starts) - 2

    def size(self, number: int) -> int:
        """Return the number of bytes of a text; one that is not kept has too many for every page."""
        start, end = self._starts[number : number + 2]
        return end - start if end <= _ON_DISK else _ON_DISK

    def read(self, number: int) -> str:
        """Return a text on one line."""
        self._file.seek(self._starts[number])
        text = self._file.read(self.size(number)).decode("utf-8", "replace")
        return text.replace("\n", " ").replace("\r", " ")

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


@dataclass(slots=True)
class _PageAnswer:
    """An answer of the page: its number in the run, how much readers look for it, and what the script gets of it.

    The greatest `chance` is in the sample. `text` and `other` are the numbers of its records in both runs.
    """

    number: int
    interest: int
    chance: float
    data: dict[str, Any]
    text: int | None
    other: int | None


Heap = list[tuple[float, float, int, _PageAnswer]]
"""Answers in an order of which the first one is the next to fall out; the number orders equal ones."""


class PageAnswers:
    """A collector of all answers of a run, in order; it keeps those for the page. `count` counts all.

    Each answer first tries to get into the random sample; what is not in it, or falls out of it, competes by interest,
    and of equal interest at random. After `finish`, `listed` counts the answers of this run that the page has,
    `sampled` those of the random sample, and `without_text` those without their records.
    """

    def __init__(
        self,
        rubrics: Sequence[ScoringRubric],
        other: OtherRun | None = None,
        other_texts: RecordTexts | None = None,
        *,
        most: int = MOST_ANSWERS,
        most_text: int = MOST_TEXT,
    ) -> None:
        self.count = self.only_there = self.listed = self.sampled = self.without_text = 0
        self._other = other
        self._texts = RecordTexts()
        self._other_texts = RecordTexts() if other_texts is None else other_texts
        self._rubrics = rubrics
        self._places = {rubric.name: place for place, rubric in enumerate(rubrics)}
        self._grades: list[list[dict[AnswerValue, int]]] = []
        for rubric in rubrics:
            listed = [enumerate(criterion.all_grades) for criterion in rubric.criteria]
            self._grades.append([{grade.answer: place for place, grade in grades} for grades in listed])
        self._most, self._most_text = most, most_text
        self._most_sampled = most // 5
        self._draw = Random(0).random  # noqa: S311 (the same input gives the same page)
        self._sample: Heap = []
        self._notable: Heap = []
        self._answers: list[_PageAnswer] = []

    def add(self, result: RecordResult, content: Content) -> None:
        """Add the result of an entry, and what the entry holds."""
        before = self._other.add(result) if self._other else None
        interest, chance = _rate(result.scored, before), self._draw()
        number = self.count
        self.count += 1
        # Both heaps are full and would drop it at once: most answers of a long run are never described.
        if number >= self._most and chance < self._sample[0][1] and (interest, chance) < self._notable[0][:2]:
            return
        data = self._describe(result, before)
        data["line"] = result.line
        if result.file is not None:
            data["file"] = result.file
        if result.error:
            data["error"] = result.error.path, result.error.message
        place = self._texts.add(content)
        record = before.record if before else None
        answer = _PageAnswer(number, interest, chance, data, place, record)
        loser = _push(self._sample, self._most_sampled, (0, chance, number, answer))
        if loser:
            self._compete(loser)

    def _compete(self, answer: _PageAnswer) -> None:
        entry = answer.interest, answer.chance, answer.number, answer
        _push(self._notable, self._most - self._most_sampled, entry)

    def _describe(self, result: RecordResult, before: OtherAnswer | None) -> dict[str, Any]:
        """Return the data of an answer for the script."""
        name, scored = result.id, result.scored
        data: dict[str, Any] = {"id": name}
        if not (name is None or isinstance(name, str)):  # a browser would round a long number
            data = {"id": name_id(name), "json": True}
        place = self._places.get(result.rubric or "")
        if place is not None:
            data["rubric"] = place
        data |= {"verdict": "invalid"} if scored is None else _describe_score(scored)
        if result.error and is_unscored(result.error.message):
            data["verdict"] = "unscored"
        if scored is not None and place is not None:
            given = zip(self._grades[place], scored.answers, strict=True)
            data["grades"] = [grades[answer] for grades, answer in given]
        if before:
            rubric = scored.rubric if scored else None
            data["was"] = self._describe_before(before, rubric)
        return data

    def _describe_before(self, before: OtherAnswer, rubric: ScoringRubric | None) -> dict[str, Any]:
        """Return the data of the other run's result for the script; its values are in the order of our criteria."""
        was = before.result
        if was is None:
            return {"verdict": "invalid"}
        theirs = {graded.criterion.id: graded.grade for graded in was.criteria}
        values: list[tuple[str, bool] | None] = []
        criteria = rubric.criteria if rubric else ()
        for criterion in criteria:
            grade = theirs.get(criterion.id)
            value = (name_answer(grade.answer), grade.gate_met) if grade else None
            values.append(value)
        return {**_describe_score(was), "values": values}

    def finish(self) -> None:
        """Choose the answers; those that only the other run has are among them, in the order of that run."""
        unmatched = self._other.unmatched() if self._other else ()
        for name, before in unmatched:
            # None of them takes the place of the last one of this run.
            interest = _CHANGED_SCORE if self.count > self._most else _LEAST
            data = {"id": name, "verdict": "absent", "was": self._describe_before(before, None)}
            self._compete(_PageAnswer(self.count + self.only_there, interest, self._draw(), data, None, before.record))
            self.only_there += 1
        kept = [answer for *_, answer in [*self._sample, *self._notable]]
        self._answers = sorted(kept, key=lambda answer: answer.number)
        self.listed = sum(answer.number < self.count for answer in kept)
        # With all answers in the page, none of them is a sample of more.
        if self.listed < self.count:
            self.sampled = len(self._sample)
            for *_, answer in self._sample:
                answer.data["sampled"] = True
        self._choose_texts()

    def _choose_texts(self) -> None:
        """Take away the records that are too large together, first of the answers that readers look for least."""
        left = self._most_text
        for answer in sorted(self._answers, key=lambda answer: (-answer.interest, answer.number)):
            size = 0
            if answer.text is not None:
                size += self._texts.size(answer.text)
            if answer.other is not None:
                size += self._other_texts.size(answer.other)
            if size <= left:
                left -= size
            else:
                answer.text = answer.other = None
                self.without_text += 1

    def list_first(self, most: int) -> Iterator[tuple[str, str, str, str]]:
        """Yield the first answers, for readers without the script.

        Each has its name, verdict and score, and the criteria whose gate is missed, or why it is invalid.
        """
        for answer in self._answers[: min(most, self.listed)]:
            data = answer.data
            reason = data["error"][1] if "error" in data else ""
            if "grades" in data:
                given = zip(self._rubrics[data["rubric"]].criteria, data["grades"], strict=True)
                missed = [criterion.id for criterion, place in given if not criterion.all_grades[place].gate_met]
                missed += [name for name, _, is_met in data.get("groups", ()) if not is_met]
                reason = ", ".join(missed)
            shown = ", ".join([data[name] for name in ("shown", "more") if name in data])
            yield name_row(data["id"], data["line"], data.get("file")), data["verdict"], shown, reason

    def write(self, about: Mapping[str, Any]) -> Iterator[str]:
        """Yield the element with all of it and with what else the script needs; no foreign text can end it.

        Afterwards nothing is left of the answers.
        """
        yield '<script type="application/json" id="data">'
        yield _as_json({**about, "rows": self.count, "onlyThere": self.only_there}).removesuffix("}")
        yield ',"answers":['
        for place, answer in enumerate(self._answers):
            if answer.text is not None and self._texts.size(answer.text):
                answer.data["record"] = self._texts.read(answer.text)
            if answer.other is not None and self._other_texts.size(answer.other):
                answer.data["otherRecord"] = self._other_texts.read(answer.other)
            comma = "," if place else ""
            yield f"{comma}\n{_as_json(answer.data)}"
            answer.data.clear()
        yield "]}</script>\n"
        self.close()

    def close(self) -> None:
        """Remove the temporary files."""
        self._texts.close()
        self._other_texts.close()


def _push(heap: Heap, most: int, entry: tuple[float, float, int, _PageAnswer]) -> _PageAnswer | None:
    """Add an answer to a heap; return the one that falls out, if any."""
    if len(heap) < most:
        heapq.heappush(heap, entry)
        return None
    return heapq.heappushpop(heap, entry)[-1]


def _rate(result: Scored | None, before: OtherAnswer | None) -> int:
    """Return how much readers look for an answer."""
    verdict = result.verdict if result else None
    if before is None:
        return _INTEREST[verdict]
    was = before.result
    verdict_before = was.verdict if was else None
    if verdict is not verdict_before:
        return _CHANGED_VERDICT
    # As floats, which is all that results keep of scores.
    if verdict is Verdict.PASS and result and was and float(result.score) != float(was.score):
        return _CHANGED_SCORE
    return _INTEREST[verdict]


def _describe_score(result: Scored) -> dict[str, Any]:
    """Return the data of a score for the script: `more` words it as its rubric does, `groups` have their gates."""
    score = float(result.score)
    data: dict[str, Any] = {"verdict": result.verdict, "score": score, "shown": f"{score:.3f}"}
    more = format_more(result)
    if more:
        data["more"] = more
    if result.rubric_score is not None:
        data["units"] = float(result.rubric_score)
    if result.rubric.rubric_grades:
        data["grade"] = result.rubric_grade or BELOW
    groups = []
    for scored_group in result.groups:
        score_of_group = "n/a" if scored_group.score is None else f"{float(scored_group.score):.3f}"
        groups.append((scored_group.group.id, score_of_group, scored_group.gate_met))
    if groups:
        data["groups"] = groups
    return data


def _as_json(data: Mapping[str, Any]) -> str:
    """Return ASCII in which nothing is markup."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
