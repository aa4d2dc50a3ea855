"""Validate the object that a judge returned against the schema of its shape, and describe what is wrong."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from rubric_lint.model.criterion import HIGHEST, LOWEST, Shape
from rubric_lint.model.messages import counted, describe, find_near, join_words
from rubric_lint.model.schema import open_validator
from rubric_lint.model.schema_files import CURRENT, join
from rubric_lint.scoring.grading import (
    NO_NOTES,
    NOT_APPLICABLE,
    AnswerValue,
    JudgeOutput,
    ReadingNotes,
    ScoringCriterion,
    ScoringRubric,
)
from rubric_lint.scoring.records.decoding import MOST_DIGITS, Fractional, OutputError
from rubric_lint.scoring.records.parse_options import DEFAULT_OPTIONS, Extract, ParseOptions
from rubric_lint.source.path import Path, pointer


def read_object(value: Any, rubric: ScoringRubric, reading: ParseOptions = DEFAULT_OPTIONS) -> JudgeOutput:
    """Validate an object as a judge output for this rubric; its notes name the fields that nobody asked for.

    Raises:
        OutputError: when it is not valid for this rubric; it tells the first error, and how many more there are.
    """
    form = form_of(rubric.form)
    _refuse_message(value)
    value, faults = form.find(value)
    extra = list(form.find_extra_fields(value))
    faults += form.refuse_extra_fields(extra, reading, [criterion.id for criterion in rubric.criteria])
    faults.sort(key=lambda fault: fault.path)
    notes = ReadingNotes(tuple(dict.fromkeys([str(path[-1]) for path, _ in extra]))) if extra else NO_NOTES
    if rubric.shape is Shape.HOLISTIC:
        _raise_first(faults)
        score = _read_answer(value, rubric.criteria[0], ())
        return JudgeOutput((score,), (value.get("reasoning"),), value.get("reasoning"), notes)
    read: dict[str, tuple[AnswerValue, str | None]] = {}
    checks = value.get("checks") if isinstance(value, Mapping) else None
    if isinstance(checks, list | tuple):
        faults += _read_checks(checks, rubric, {_find_check(fault.path) for fault in faults}, read)
    _raise_first(faults)
    answers, reasons = zip(*[read[criterion.id] for criterion in rubric.criteria], strict=True)
    return JudgeOutput(answers, reasons, value.get("overall_reasoning"), notes)


def _refuse_message(value: Any) -> None:
    """Raise an error for an endpoint's message without an answer, and say what it contains."""
    if not isinstance(value, Mapping) or "score" in value or "checks" in value:
        return
    match value:
        case {"tool_calls": [_, *_]} | {"function_call": {}} | {"name": str(), "arguments": _} | {"type": "tool_use"}:
            raise OutputError("a tool call instead of a verdict")
        case {"content": None | "", "reasoning_content": str()} | {"content": None | "", "reasoning": str()}:
            raise OutputError("reasoning without an answer: `content` is empty", "/content")


_EXTRAS = {
    "finished": "the object says itself that it is not the verdict",
    "scale": "the score is on another scale than 0 to 10; leave the field out if it is not",
}
"""The message for a field that breaks one of these definitions of the schema."""


_OF_EXTRA_FIELDS = frozenset({"additionalProperties", "unread"})
"""What the path of a schema error about a field that nobody asked for has: one validator names the definition."""

_KINDS = {"array": "a list", "boolean": "true or false", "integer": "an integer", "number": "a number"}


class OutputForm:
    """The form of judge outputs that a definition of the schema says, as `v2/checklist`.

    `holds_checks` says whether there is an answer for each criterion, in `checks`. `field` is the field with the
    answer; empty if each criterion has its own.
    """

    def __init__(self, name: str) -> None:
        version, self._name = name.split("/")
        definitions = join(f"{version}/judge-output.json")["definitions"]
        if self._name == Shape.MIXED:
            definitions = definitions | {"check": _join_checks(definitions)}
        self._extras = {name: definitions[name] for name in _EXTRAS}
        self._open = cache(lambda name: open_validator({"$ref": f"#/definitions/{name}", "definitions": definitions}))
        outer = inner = definitions[self._name]
        self.holds_checks = "checks" in outer["required"]
        if self.holds_checks:
            inner = definitions[outer["properties"]["checks"]["items"]["$ref"].rsplit("/", 1)[1]]
        self._output = _FormFields(outer, definitions)
        self._check = _FormFields(inner, definitions)
        own = [name for name in self._check.list_allowed() if name not in _OF_ANY_CHECK]
        self.field = own[0] if len(own) == 1 else ""
        self._deciding = frozenset(own)
        if self.holds_checks:
            self._deciding |= {"checks"}

    def _fields_around(self, path: Path) -> "_FormFields":
        """Return the fields of the output, or of a check, that the field at a path is one of."""
        return self._check if len(path) > 1 else self._output

    def find_extra_fields(self, value: Any) -> Iterator[tuple[Path, Any]]:
        """Yield the place and the value of each field that the schema does not have, in an output and in its checks."""
        if not isinstance(value, Mapping):
            return
        checks = value.get("checks")
        for name in value:
            if name not in self._output.rules:
                yield (name,), value[name]
        if not self.holds_checks or not isinstance(checks, list | tuple):
            return
        for place, check in enumerate(checks):
            if not isinstance(check, Mapping):
                continue
            for name in check:
                if name not in self._check.rules:
                    yield ("checks", place, name), check[name]

    def refuse_extra_fields(
        self, extra: Iterable[tuple[Path, Any]], reading: ParseOptions, ids: Sequence[str]
    ) -> Iterator[OutputError]:
        """Yield an error for each field that nobody asked for and that the reading refuses, or that decides too.

        `ids` are those of the criteria: an object with an answer to each of them is a second verdict.
        """
        for path, value in extra:
            name = str(path[-1])
            field = self._output.required[-1] if len(path) == 1 else self.field
            second = self._find_second(path, value, ids)
            if _fold_key(name) in self._deciding:
                answer = f"`{field}`" if field else "the answer"
                message = f"`{name}` next to {answer}: unclear which one counts; remove one"
                yield OutputError(message, pointer(path))
            elif second:
                yield OutputError(f"a second `{second[-1]}`, inside `{name}`; expected one verdict", pointer(second))
            elif reading.refuses(value):
                yield self._refuse_extra(path, value, reading)

    def _find_second(self, path: Path, value: Any, ids: Sequence[str]) -> Path | None:
        """Return the place of the first field inside a value that decides, as in an object of this form, or None."""
        pending = [(path, value)]
        while pending:
            path, item = pending.pop()
            if isinstance(item, Mapping):
                second = next((name for name in item if _fold_key(name) in self._deciding), None)
                if second is None and all(isinstance(item.get(name), int | float) for name in ids):
                    second = ids[0]
                if second is not None:
                    return (*path, second)
                pending += [((*path, name), child) for name, child in item.items()]
            elif isinstance(item, list | tuple):
                pending += [((*path, place), child) for place, child in enumerate(item)]
        return None

    def _refuse_extra(self, path: Path, value: Any, reading: ParseOptions) -> OutputError:
        described = f"unknown field `{path[-1]}` is {describe_answer(value)}"
        if reading.extra_fields or reading.extract is Extract.WHOLE:
            known = join_words([f"`{name}`" for name in self._fields_around(path).list_allowed()], "or")
            return OutputError(f"{described}; expected no other field than {known}", pointer(path))
        why = "which may contradict the verdict; `score --extra-fields accept` passes over it"
        return OutputError(f"{described}, {why}", pointer(path))

    def check_record(self, others: Mapping[str, Any], *, is_single: bool) -> None:
        """Check the other fields of a record that has its judgement in fields of its own, `is_single` in one.

        Raises:
            OutputError: if one of them says that judging failed, or contradicts the one judgement.
        """
        definition = "record_of_score" if is_single else "record_of_checks"
        _raise_first(self.find(others, definition)[1])

    def find(self, value: Any, definition: str = "") -> tuple[Any, list[OutputError]]:
        """Return the value as plain JSON types, and the errors by a definition of the schema: by default, the shape's.

        No error is about a field that the schema does not have: the options decide about these.
        Half surrogate pairs, which are not characters, become `?`.

        Raises:
            OutputError: if it is not JSON.
        """
        plain = value
        validator = self._open(definition or self._name)
        try:
            errors = list(validator.iter_errors(plain))
        except (ValueError, TypeError):  # what the validator rejects as not JSON
            try:
                plain = _simplify(value, ())
                # A number that every rule on integers refuses, as it has to refuse a `Fractional`.
                checked = _simplify(value, (), stand_in=0.5)
            except RecursionError:
                raise OutputError("nested too deeply to be read") from None
            errors = list(validator.iter_errors(checked))
        errors = [error for error in errors if _OF_EXTRA_FIELDS.isdisjoint(error.schema_path)]
        faults = [self._describe(value, tuple(error.instance_path), error.schema_path) for error in errors]
        return plain, sorted(faults, key=lambda fault: fault.path)

    def _describe(self, root: Any, path: Path, rule: Sequence[str | int]) -> OutputError:
        """Return the error for a value at a path; `rule` is the path of the keyword in the schema that refuses it."""
        keyword = rule[-1]
        if "remark" in rule:
            return self._refuse_rival(path)
        value = root
        for step in path:
            if isinstance(value, Mapping) and step not in value:  # `find` has replaced half a surrogate pair in it
                value = next(item for key, item in value.items() if _simplify(key, ()) == step)
            else:
                value = value[step]
        if "patternProperties" in rule:
            return self._refuse_contradiction(value, path, str(rule[rule.index("patternProperties") + 1]))
        if keyword == "required":
            fields = self._check if path else self._output
            missing = next(field for field in fields.required if field not in value)
            hint = "".join(f"; did you mean `{near}`?" for near in near_misses(value, (missing,)))
            return OutputError(f"missing field `{missing}`{hint or f'; expected {self}'}", pointer(path))
        if keyword in ("minimum", "maximum"):
            return _refuse_outside(value, path)
        name = "the judge output"
        if path:
            name = f"`{path[-1]}`" if isinstance(path[-1], str) else "the check"
        if keyword == "type":
            is_item = not path or isinstance(path[-1], int)
            kind = "an object" if is_item else self._fields_around(path).name_kind(str(path[-1]))
            return OutputError(f"{name} is {describe_answer(value)}, expected {kind}", pointer(path))
        message = f"{name} is not allowed here: the rubric has the shape {self._name}; expected {self}"
        return OutputError(message, pointer(path))

    def _refuse_contradiction(self, value: Any, path: Path, pattern: str) -> OutputError:
        """Return the error for a field whose value contradicts the verdict."""
        for name, because in _EXTRAS.items():
            if pattern in self._extras[name]["patternProperties"]:
                return OutputError(f"`{path[-1]}` is {describe_answer(value)}, so {because}", pointer(path))
        return self._refuse_rival(path)

    def _refuse_rival(self, path: Path) -> OutputError:
        """Return the error for a field that may be the answer as well."""
        name, fields = str(path[-1]), self._fields_around(path).required
        field = (find_near(name, fields) or fields[-1:])[0]
        return OutputError(f"`{name}` next to `{field}`: unclear which one counts; remove one", pointer(path))

    def __str__(self) -> str:
        """Return the form as a short example."""
        answer = f'"{self.field}"' if self.field else "its answer"
        return f'{{"checks": [{{"id", {answer}}}, ...]}}' if self.holds_checks else f'{{"{self.field}"}}'


class _FormFields:
    """The fields of an output, or of a check, by the definition of the schema: the required ones, and the rule of each.

    A rule is False if the field is not allowed.
    """

    def __init__(self, definition: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
        self.required: tuple[str, ...] = tuple(definition["required"])
        self.rules = {name: _resolve(rule, definitions) for name, rule in definition["properties"].items()}

    def list_allowed(self) -> list[str]:
        """Return the names of the fields that are allowed."""
        return [name for name, rule in self.rules.items() if rule is not False]

    def name_kind(self, name: str) -> str:
        """Return the type of a field in words, such as `an integer`."""
        return _KINDS.get(str(self.rules[name]["type"]), "a string")


_OF_ANY_CHECK = frozenset({"id", "reasoning"})
"""The fields that a check has besides its answer."""


def _resolve(rule: Any, definitions: Mapping[str, Any]) -> Any:
    return definitions[rule["$ref"].rsplit("/", 1)[1]] if isinstance(rule, dict) and "$ref" in rule else rule


def _join_checks(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of a check with any answer: which one it has to be depends on its criterion."""
    checks = [definition for name, definition in definitions.items() if name.endswith("_check")]
    properties = {}
    for check in checks:
        properties.update({name: rule for name, rule in check["properties"].items() if rule is not False})
    return {**checks[0], "properties": properties, "required": ["id"]}


def _raise_first(faults: Sequence[OutputError]) -> None:
    """Raise the first error, and say how many others there are: at most one for each check, so none counts twice."""
    if faults:
        first = faults[0]
        others = {_find_check(fault.path) for fault in faults} - {_find_check(first.path)}
        more = f" (and {counted(len(others), 'more error')})" if others else ""
        # Not the one in the list, which its own traceback would keep in memory, with all frames.
        raise OutputError(f"{first.message}{more}", first.path)


@cache
def form_of(name: str) -> OutputForm:
    """Return the form of judge outputs with this name, as `ScoringRubric.form` has it."""
    return OutputForm(name)


def field_of(shape: Shape) -> str:
    """Return the field of a check, or of a holistic output, that has the answer to a criterion of this shape."""
    return form_of(f"{CURRENT}/{shape}").field


APPLICABLE = "applicable"
"""The field of a check that is false if its criterion does not apply."""


def write_check(criterion: ScoringCriterion, answer: AnswerValue, reason: str | None = None) -> dict[str, Any]:
    """Return the check with an answer to a criterion, and with the reason if there is one."""
    check: dict[str, Any] = {"id": criterion.id}
    if reason is not None:
        check["reasoning"] = reason
    if answer == NOT_APPLICABLE:
        return check | {APPLICABLE: False}
    return check | {criterion.field: answer}


_KNOWN = frozenset({"checks", "id", "satisfied", "score", "level", APPLICABLE, "reasoning", "overall_reasoning"})


def _fold_key(name: str) -> str:
    return name.strip().lower()


def near_misses(value: Iterable[str], fields: tuple[str, ...]) -> list[str]:
    """Return the names that may be misspelt names of these fields."""
    return [name for name in value if name not in _KNOWN and find_near(name, fields)]


def describe_answer(value: Any) -> str:
    """Describe a value of a judge output, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return f"an integer with more than {MOST_DIGITS} digits"
    if isinstance(value, tuple):
        return describe([], "")
    if isinstance(value, str | int | float | list):
        return describe(value, "")
    return "an object" if isinstance(value, Mapping) else f"a Python value of the type {type(value).__name__}"


def _simplify(value: Any, path: Path, stand_in: float | None = None) -> Any:  # noqa: PLR0911 (one for each type)
    """Convert a Python value to plain JSON types, without subclasses; raise OutputError for a value of another type.

    A `Fractional` stays, unless something stands in for it, as the validator knows only plain types.
    """
    match value:
        case None | bool():
            return value
        case str():
            return value.encode("utf-8", "replace").decode()
        case Fractional():
            return value if stand_in is None else stand_in
        case int():
            return int(value)
        case float():
            return float(value)
        case list() | tuple():
            return [_simplify(item, (*path, place), stand_in) for place, item in enumerate(value)]
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise OutputError(f"a key is {describe_answer(key)}, expected a string", pointer(path))
            return {_simplify(key, path): _simplify(item, (*path, key), stand_in) for key, item in value.items()}
    raise OutputError(f"found {describe_answer(value)}, expected JSON", pointer(path))


def _read_checks(
    checks: Sequence[Any], rubric: ScoringRubric, refused: Collection[str], read: dict[str, Any]
) -> Iterator[OutputError]:
    """Yield the errors in checks that depend on the rubric: ids that are unknown, repeated or missing, and answers.

    What is right is put into `read`: the answer and the reason, by the id of the criterion. `refused` are the JSON
    Pointers to the checks with an error by the schema.
    """
    known = tuple([criterion.id for criterion in rubric.criteria])
    places: dict[str, int] = {}
    for place, check in enumerate(checks):
        name = check.get("id") if isinstance(check, Mapping) else None
        if not isinstance(name, str):
            continue
        path = pointer(("checks", place, "id"))
        if name in places:
            yield OutputError(f'"{name}" is judged twice, here and in check {places[name] + 1}', path)
        elif name in known:
            places[name] = place
        else:
            yield OutputError(f'the rubric has no criterion "{name}"{_hint(name, known)}', path)
    missing = [name for name in known if name not in places]
    # A check with a wrong id, or without one, may be meant for a criterion that has none.
    if len(missing) > len(checks) - len(places):
        yield OutputError(f"no check for {_quote(missing)}", "/checks")
    for criterion in rubric.criteria:
        place = places.get(criterion.id, -1)
        if place < 0 or f"/checks/{place}" in refused:
            continue
        check = checks[place]
        try:
            read[criterion.id] = _read_check(check, criterion, ("checks", place)), check.get("reasoning")
        except OutputError as fault:
            yield fault


def _find_check(path: str) -> str:
    """Return the JSON Pointer to the check that a path leads into, such as `/checks/2`; empty outside the checks."""
    return "/".join(path.split("/")[:3]) if path.startswith("/checks") else ""


@lru_cache(maxsize=1000)
def _hint(name: str, known: tuple[str, ...]) -> str:
    for criterion in known:
        if unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", criterion):
            return f'; "{criterion}" looks the same but is made of other Unicode characters'
        if _fold(name) == _fold(criterion):
            return f'; ids are compared exactly, and this differs from "{criterion}"'
    near = find_near(name, known)
    return f'; did you mean "{near[0]}"?' if near else f"; it has {_quote(known)}"


def _quote(names: Iterable[str]) -> str:
    return join_words([f'"{name}"' for name in names])


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


def _refuse_outside(value: Any, path: Path) -> OutputError:
    return OutputError(f"{path[-1]} {describe_answer(value)} is outside {LOWEST}..{HIGHEST}", pointer(path))


def _read_check(check: Mapping[str, Any], criterion: ScoringCriterion, path: Path) -> AnswerValue:
    """Return the answer in a check of a criterion; only a rubric of several shapes lets it have another field.

    Raises:
        OutputError: if it has no answer to this criterion, or another one too.
    """
    given = [name for name in _ANSWERS if name in check]
    if check.get(APPLICABLE) is False:
        if given:
            message = f"`{given[0]}` next to `{APPLICABLE}: false`: unclear which one counts; remove one"
            raise OutputError(message, pointer((*path, given[0])))
        if criterion.may_not_apply:
            return NOT_APPLICABLE
        message = (
            f'"{criterion.id}" always applies: the rubric states no condition for it; expected {_expect(criterion)}'
        )
        raise OutputError(message, pointer((*path, APPLICABLE)))
    others = [name for name in given if name != criterion.field]
    if others:
        message = f'`{others[0]}` is not the answer to "{criterion.id}"; expected {_expect(criterion)}'
        raise OutputError(message, pointer((*path, others[0])))
    if not given:
        hint = "".join(f"; did you mean `{near}`?" for near in near_misses(check, (criterion.field,)))
        message = f"missing field `{criterion.field}`{hint or f'; expected {_expect(criterion)}'}"
        raise OutputError(message, pointer(path))
    return _read_answer(check, criterion, path)


_ANSWERS = tuple(field_of(shape) for shape in (Shape.CHECKLIST, Shape.SCORE_RANGES, Shape.LEVELS))
"""The fields with the answer in a check, of any criterion."""


def _expect(criterion: ScoringCriterion) -> str:
    """Return the field and the answers that a check may have, in words."""
    allowed = "true or false" if criterion.shape is Shape.CHECKLIST else criterion.word_allowed()
    condition = f", or `{APPLICABLE}: false`" if criterion.may_not_apply else ""
    return f"`{criterion.field}` with {allowed}{condition}"


def _read_answer(output: Mapping[str, Any], criterion: ScoringCriterion, path: Path) -> AnswerValue:
    """Return the answer in the field of an output or a check at a path.

    Raises:
        OutputError: if the criterion does not allow it.
    """
    field = criterion.field
    value, path = output[field], (*path, field)
    answer: AnswerValue = int(value) if type(value) is float and value.is_integer() else value
    grade = None if isinstance(value, Fractional) else criterion.grade(answer)
    if grade:
        return grade.answer
    if field == "score" and criterion.numbers[-1] <= HIGHEST and not LOWEST <= answer <= HIGHEST:
        raise _refuse_outside(value, path)  # so large that the compiled validator does not see it
    kinds = "the levels are" if field == "level" else "the bands cover"
    raise OutputError(
        f'{field} {describe_answer(answer)} of "{criterion.id}" is not allowed: {kinds} {criterion.word_allowed()}',
        pointer(path),
    )
