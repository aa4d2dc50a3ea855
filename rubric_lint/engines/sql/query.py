"""Write a query that scores judge outputs: steps that read JSON, check its fields, and add up points."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from textwrap import indent
from typing import Any, NamedTuple

from rubric_lint.engines.sql.dialects import DIALECTS, Dialect, choose
from rubric_lint.engines.sql.patterns import (
    CONSTANT,
    CONTROL_OR_MARK,
    DEPTH,
    FENCE,
    HUGE,
    INTEGER,
    LINE_OR_MARK,
    NUMBER_OR_BOOL,
    is_plain,
    match_lines,
    match_string,
)
from rubric_lint.format.criterion import Shape
from rubric_lint.format.schema_files import CURRENT, load
from rubric_lint.messages import list_scores, visible
from rubric_lint.outputs.verdict import BLANK, Extract
from rubric_lint.scoring.grading import ScoringCriterion, ScoringRubric
from rubric_lint.scoring.loading import RubricError
from rubric_lint.version import __version__


class Fields(NamedTuple):
    """The fields of an output or of a check.

    `required` are there, the last one decides if it is not `checks`; `texts` are strings where they are, `forbidden`
    belong to other shapes.
    """

    required: tuple[str, ...]
    texts: tuple[str, ...]
    forbidden: tuple[str, ...]


def fields_of(shape: Shape) -> tuple[Fields, Fields | None]:
    """Return the fields of an output of this shape, and of its checks."""
    definitions = load(f"{CURRENT}/judge-output.json")["definitions"]
    output = definitions[shape]
    if shape is Shape.HOLISTIC:
        return _read(output), None
    return _read(output), _read(definitions[_refer(output["properties"]["checks"]["items"])])


def _read(form: Any) -> Fields:
    properties = form["properties"]
    texts = tuple(name for name, rule in properties.items() if rule and _refer(rule) == "reasoning")
    forbidden = tuple(name for name, rule in properties.items() if rule is False)
    return Fields(tuple(form["required"]), texts, forbidden)


def _refer(rule: Any) -> str:
    return str(rule.get("$ref", "")).rsplit("/", 1)[-1]


Step = tuple[str, dict[str, str]]
"""What a step does, and the columns that it adds."""

_BLANK = " \t\r\n"


def read_output(sql: Dialect, *, is_struct: bool) -> list[Step]:
    """Return the steps from the column `output` to the names and values of its JSON object.

    `held` is the JSON, `is_object` and `is_value` say what it is, `names` and `fields` are those of its fields.
    """
    patterns = sql.patterns
    if is_struct:
        odd = f"typeof(output) NOT ILIKE 'struct%' OR {sql('matches', 'typeof(output)', sql.unknown_types)}"
        steps = [("The struct as JSON", {"held": sql("to_json", "output"), "is_fence": "FALSE", "is_odd": odd})]
    else:
        body = sql("trim", f"CAST(output AS {sql.text_type})", sql.text(BLANK))
        odd = f"NOT {sql('matches', 'typeof(output)', sql.known_texts)}"
        is_fence = f"body LIKE '```%```' AND {sql('matches', 'body', FENCE)}"
        inner = sql("trim", sql("extract", "body", FENCE), sql.text(_BLANK))
        steps = [
            ("The text without blanks around it", {"body": body, "is_odd": odd}),
            ("Is it one Markdown fence?", {"is_fence": f"COALESCE({is_fence}, FALSE)"}),
            ("What should be JSON", {"held": f"CASE WHEN is_fence THEN {inner} ELSE body END"}),
        ]
    reduced = "outline_1"  # JSON is what can be reduced to one value
    for _ in range(DEPTH):
        reduced = sql("replace", reduced, patterns.container, "0")
    irreducible = f"{sql('replace', 'outline_2', patterns.container, '0')} = outline_2"
    members = f"CASE WHEN is_object THEN {sql('extract_all', 'held', patterns.member)} END"
    return [
        *steps,
        ("Each string becomes two quotes", {"bare": sql("replace", "held", patterns.string, '""')}),
        ("Each number, true, false and null becomes 0", {"outline_1": sql("replace", "bare", patterns.word, "0")}),
        ("Each container of these becomes 0, from the inside: in the end, all JSON is 0", {"outline_2": reduced}),
        (
            "What is it?",
            {
                "is_object": "COALESCE(outline_2 = '0' AND left(held, 1) = '{', FALSE)",
                "is_value": "COALESCE(outline_2 IN ('0', '\"\"') AND left(held, 1) <> '{', FALSE)",
                "is_broken": f"COALESCE(outline_2 NOT IN ('0', '\"\"') AND {irreducible}, FALSE)",
                "is_huge": f"COALESCE({sql('matches', 'bare', HUGE)}, FALSE)",
                "has_constants": f"COALESCE({sql('matches', 'bare', CONSTANT)}, FALSE)",
                "is_collated": sql.is_collated,
            },
        ),
        ("Its fields", {"members": without_nulls(sql, members) if is_struct else members}),
        ("Their names", {"names": names_of(sql, "members")}),
        ("Their values", {"fields": values_of(sql, "members", "names")}),
    ]


def without_nulls(sql: Dialect, members: str) -> str:
    """Return the fields that are not null: a null in a struct stands for a field that is not there."""
    return sql("keep", members, "m", "n", "m NOT LIKE '%:null'")


def names_of(sql: Dialect, members: str) -> str:
    """Return the names of fields. A name with an escaped quote ends there, with the back slash."""
    return sql("transform", members, "m", "n", "split_part(m, '\"', 2)")


def values_of(sql: Dialect, members: str, names: str) -> str:
    """Return the values of fields as they are written: what follows the name, its quotes and a colon."""
    name = sql("at", names, sql("counted", "n"))
    return sql(
        "transform", members, "m", "n", sql("trim_left", f"substr(m, length({name}) + 3)", sql.text(f"{_BLANK}:"))
    )


def value_of(sql: Dialect, name: str, names: str, values: str) -> str:
    """Return the value of a field as it is written, or NULL without one."""
    return sql("at", values, sql("place", names, sql.text(name)))


_ESCAPE = r"\u"

_ODD_STRUCT = "a column of another type than STRUCT, or a type in it that JSON does not have"
_ODD_TEXT = "a column of another type than a string"

_SHOWN = 60
"""The most characters of a wrong value in a message."""


class Checker:
    """Writes the steps for one rubric, after those of `read_output`.

    They add `places` and `numbers`, of each check the place of its criterion in the rubric and its answer as an
    integer; `error`, the first error that makes an output invalid for certain; `doubt`, what the query cannot decide;
    and `is_open`, whether the error is not certain.
    """

    def __init__(self, sql: Dialect, rubric: ScoringRubric, *, extract: Extract, is_struct: bool) -> None:
        self._sql, self._rubric, self._extract, self._is_struct = sql, rubric, extract, is_struct
        self._ids = [criterion.id for criterion in rubric.criteria]
        self._output, check = fields_of(rubric.shape)
        self._is_holistic = check is None
        self._fields = check or self._output
        # An answer with an exponent may be an integer, and an id with such an escape may match yet: that of a character
        # of ASCII, or of half a character.
        is_checklist = rubric.shape is Shape.CHECKLIST
        self._has_exponent = "FALSE" if is_checklist else sql("matches", "c.answer", r"\A-?[0-9.]+[eE]")
        self._has_letter_escape = sql("matches", "c.id", r"\\u(?:00[2-7]|[dD][89a-fA-F])")

    def write(self) -> list[Step]:
        """Return the steps."""
        sql = self._sql
        doubts = [
            ("is_odd", sql.text(_ODD_STRUCT if self._is_struct else _ODD_TEXT)),
            ("is_collated", sql.text("a default collation, under which different texts may be equal")),
            ("NOT is_object", sql.text("not just one JSON object")),
            ("is_open", sql.text("a key with an escape")),
            ("is_huge OR has_constants", sql.text("a very large number")),
            ("output_doubt IS NOT NULL", "output_doubt"),
            ("check_doubt IS NOT NULL", "check_doubt"),
        ]
        return [
            *self._find_checks(),
            *self._judge_checks(),
            self._judge_output(),
            ("What is wrong", {"error": choose(self._find_errors()), "doubt": choose(doubts)}),
        ]

    def _extend(self, what: str, checks: str, result: str, kept: str, **added: str) -> Step:
        """Return the step that makes `result` of `checks`: of each, some fields are kept and others added."""
        fields = {name: f"c.{name}" for name in kept.split()} | added
        return what, {result: self._sql("transform", checks, "c", "i", self._sql.struct(**fields))}

    def _find_checks(self) -> list[Step]:
        sql = self._sql
        if self._is_holistic:
            whole = sql.struct(is_object="TRUE", shown="''", names="names", fields="fields")
            return [
                ("A holistic output is one check", {"checks_1": f"CASE WHEN is_object THEN {sql.array([whole])} END"})
            ]
        # Without its first bracket, so that the list is not found as one item.
        inner = "CASE WHEN left(checks, 1) = '[' THEN substr(checks, 2) END"
        members = sql("extract_all", "c", sql.patterns.member)
        if self._is_struct:
            members = without_nulls(sql, members)
        item = {"is_object": "left(c, 1) = '{'", "shown": _shorten("c"), "members": members}
        names, fields = names_of(sql, "c.members"), values_of(sql, "c.members", "c.names")
        return [
            ("The list of checks", {"checks": value_of(sql, "checks", "names", "fields")}),
            ("The checks", {"items": sql("extract_all", inner, sql.patterns.item)}),
            self._extend("The fields of each", "items", "checks_a", "", **item),
            self._extend("Their names", "checks_a", "checks_b", "is_object shown members", names=names),
            self._extend("Their values", "checks_b", "checks_1", "is_object shown names", fields=fields),
        ]

    def _judge_checks(self) -> list[Step]:
        sql, shape = self._sql, self._rubric.shape
        answer = self._fields.required[-1]
        found = {each: value_of(sql, name, "c.names", "c.fields") for each, name in (("id", "id"), ("answer", answer))}
        tests = [
            "c.id = " + sql.text(f'"{name}"') if is_plain(name) else sql("matches", "c.id", match_string(name))
            for name in self._ids
        ]
        place = choose(((test, str(place)) for place, test in enumerate(tests, start=1)), "0")
        number = f"TRY_CAST({sql('extract', 'c.answer', INTEGER)} AS BIGINT)"
        if shape is Shape.CHECKLIST:
            number = "CASE c.answer WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
        error = choose(self._find_check_errors())
        doubts = [
            *self._find_field_doubts("c.names", "c.fields"),
            (self._has_exponent, sql.text("a number with an exponent")),
        ]
        if self._is_holistic:
            place = "1"
        else:
            error = f"{sql.text('check ')} || {sql('counted', 'i')} || ': ' || {error}"
            doubts.append((f"c.place = 0 AND {self._has_letter_escape}", sql.text("an id with escaped letters")))
        judged = {"has_escape": sql("matches", sql("join", "c.names"), r"\\"), "error": error, "doubt": choose(doubts)}
        head = "is_object shown names fields"
        what = "The place of its criterion in the rubric, and the answer as an integer"
        return [
            self._extend("The id and the answer of each check, as written", "checks_1", "checks_2", head, **found),
            self._extend(what, "checks_2", "checks_3", f"{head} id answer", place=place, number=number),
            self._extend(
                "Its first error, and what only rubric-lint decides", "checks_3", "checks_4", "place number", **judged
            ),
        ]

    def _find_check_errors(self) -> Iterable[tuple[str, str]]:
        """Yield what is wrong in a check, and the message."""
        sql, shape, answer = self._sql, self._rubric.shape, self._fields.required[-1]
        if not self._is_holistic:
            yield "NOT c.is_object", self._say("found ", _shorten("c.shown"), ", expected an object")
        yield from self._find_field_errors(self._fields, "c.names", "c.fields")
        if not self._is_holistic:
            yield "c.id IS NULL", sql.text("missing field `id`")
            yield "left(c.id, 1) <> '\"'", self._say("`id` is ", _shorten("c.id"), ", expected a string")
        yield "c.answer IS NULL", sql.text(f"missing field `{answer}`")
        kind = "true or false" if shape is Shape.CHECKLIST else "an integer"
        is_wrong = f"c.number IS NULL AND NOT {self._has_exponent}"
        yield is_wrong, self._say(f"`{answer}` is ", _shorten("c.answer"), f", expected {kind}")
        if not self._is_holistic:
            is_unknown = f"c.place = 0 AND NOT {self._has_letter_escape}"
            yield is_unknown, self._say("the rubric has no criterion ", _shorten("c.id"))
        if shape is not Shape.CHECKLIST:
            kinds = "the levels are" if shape is Shape.LEVELS else "the bands cover"
            tests, ranges = [], []
            for place, each in enumerate(self._rubric.criteria, start=1):
                allowed = [int(grade.answer) for grade in each.grades]
                test = f"c.number IN ({', '.join(map(str, allowed))})"
                if allowed == [*range(allowed[0], allowed[-1] + 1)]:
                    test = f"c.number BETWEEN {allowed[0]} AND {allowed[-1]}"
                tests.append((f"c.place = {place}", test))
                ranges.append(sql.text(f' of "{each.id}" is not allowed: {kinds} {list_scores(allowed)}'))
            told = f"{sql.text(f'{answer} ')} || c.number || {sql('at', sql.array(ranges), 'c.place')}"
            yield f"NOT {choose(tests)}", told

    def _find_field_errors(self, fields: Fields, names: str, values: str) -> Iterable[tuple[str, str]]:
        sql = self._sql
        yield (
            f"{sql('count', names)} > {sql('count', sql('distinct', names))}",
            sql.text("a key occurs twice in one object"),
        )
        for name in fields.forbidden:
            told = f"`{name}` is not allowed here: the rubric has the shape {self._rubric.shape}"
            yield f"{sql('place', names, sql.text(name))} > 0", sql.text(told)
        for name in fields.texts:
            value = value_of(sql, name, names, values)
            yield f"left({value}, 1) <> '\"'", self._say(f"`{name}` is ", _shorten(value), ", expected a string")
        name = sql("at", names, sql("counted", "n"))
        is_other = f"({name} = '' OR NOT {sql('matches', name, match_lines(chain.from_iterable(fields)))})"
        # The first character of a number, true or false; a null says nothing.
        refused = (
            is_other if self._extract is Extract.WHOLE else f"{is_other} AND {sql('matches', 'v', NUMBER_OR_BOOL)}"
        )
        other = sql("keep", values, "v", "n", refused)
        yield f"{sql('count', other)} > 0", sql.text("a field that nobody asked for")

    def _find_field_doubts(self, names: str, values: str) -> Iterable[tuple[str, str]]:
        sql = self._sql
        # Blanks and the Kelvin sign as Python's `strip` and `lower` take them.
        deciding = "|".join(dict.fromkeys([*self._output.required, self._fields.required[-1]])).replace(
            "k", r"[k\x{212a}]"
        )
        blank = r"[\s\x{85}\p{Z}]*"
        looks_alike = sql("keep", names, "v", "n", sql("matches", "v", rf"(?i)\A{blank}(?:{deciding}){blank}\z"))
        yield f"{sql('count', looks_alike)} > 1", sql.text("another field that may decide")
        name = sql("at", names, sql("counted", "n"))
        flat = sql("matches", "v", sql.patterns.flat_list)
        nested = sql(
            "keep", values, "v", "n", f"left(v, 1) = '{{' OR {name} <> 'checks' AND left(v, 1) = '[' AND NOT {flat}"
        )
        yield f"{sql('count', nested)} > 0", sql.text("a field that holds an object")

    def _judge_output(self) -> Step:
        """Return the step that judges an output as a whole; a holistic one is checked as its only check."""
        sql = self._sql
        error = doubt = f"CAST(NULL AS {sql.text_type})"
        if not self._is_holistic:
            errors = [
                *self._find_field_errors(self._output, "names", "fields"),
                ("checks IS NULL", sql.text("missing field `checks`")),
                (
                    "left(checks, 1) NOT IN ('[', '{')",
                    self._say("`checks` is ", _shorten("checks"), ", expected a list"),
                ),
            ]
            doubts = self._find_field_doubts("names", "fields")
            error, doubt = (f"CASE WHEN is_object THEN {choose(ways)} END" for ways in (errors, doubts))
        of_check = {}
        for field in ("error", "doubt"):  # that of the first check that has it
            found = sql("keep", "checks_4", "c", "i", f"c.{field} IS NOT NULL")
            of_check[f"check_{field}"] = sql("at", sql("transform", found, "c", "i", f"c.{field}"), "1")
        escaped = sql("matches", sql("join", "names"), r"\\")
        within = f"{sql('count', sql('keep', 'checks_4', 'c', 'i', 'c.has_escape'))} > 0"
        return "The same of the output", {
            "places": sql("transform", "checks_4", "c", "i", "c.place"),
            "numbers": sql("transform", "checks_4", "c", "i", "c.number"),
            "output_error": error,
            "output_doubt": doubt,
            **of_check,
            "is_open": f"COALESCE({escaped}, FALSE) OR COALESCE({within}, FALSE) OR is_odd OR is_collated",
        }

    def _find_errors(self) -> Iterable[tuple[str, str]]:
        """Yield what makes an output invalid, and the message; the first one counts."""
        sql = self._sql
        yield "held IS NULL", sql.text("the output is missing")
        if not self._is_struct:
            yield "has_constants AND (is_object OR is_value)", sql.text("NaN and Infinity are not JSON")
        yield "output_error IS NOT NULL", "output_error"
        yield "is_object AND check_error IS NOT NULL", "check_error"
        if not self._is_holistic:
            ids = sql.array(map(sql.text, self._ids))
            place, number = sql("place", "places", "p"), sql("counted", "n")
            twice = sql("keep", "places", "p", "n", f"p > 0 AND {place} <> {number}")
            name = sql("at", ids, sql("at", twice, "1"))
            yield f"is_object AND {sql('count', twice)} > 0", self._say('"', name, '" is judged twice')
            missing = sql("keep", ids, "v", "n", f"COALESCE({sql('place', 'places', number)}, 0) = 0")
            # An id that is not known for certain may be the missing one.
            is_known = f"COALESCE({sql('place', 'places', '0')}, 0) = 0"
            told = self._say('no check for "', sql("at", missing, "1"), '"')
            yield f"is_object AND left(checks, 1) = '[' AND {is_known} AND {sql('count', missing)} > 0", told
        if self._is_struct:
            return
        found = self._say("found ", _shorten("held"), ", expected a JSON object")
        yield "is_value AND NOT is_fence AND NOT is_huge", found
        broken = "is_broken AND NOT is_fence AND NOT"
        if self._extract is Extract.WHOLE:
            yield (
                f"{broken} {sql('matches', 'held', CONTROL_OR_MARK)}",
                sql.text("the whole text must be one JSON object"),
            )
        elif self._extract is Extract.LAST:  # an object behind words is on lines of its own
            yield f"{broken} {sql('matches', 'held', LINE_OR_MARK)} AND left(held, 1) = '{{'", sql.text("not JSON")
        # A text may hold a valid output if all names and ids are in it, unless they are escaped.
        needed = [*self._output.required]
        if not self._is_holistic:
            needed += [*self._fields.required, *filter(is_plain, self._ids)]
        texts = [sql.text(f'"{name}"') for name in dict.fromkeys(needed)]
        all_there = " AND ".join(f"instr(held, {text}) > 0" for text in texts)
        may_hold = f"instr(held, {sql.text(_ESCAPE)}) > 0 OR {all_there}"
        yield f"NOT is_object AND NOT ({may_hold})", sql.text("the JSON object of a verdict is missing")

    def _say(self, before: str, value: str, after: str = "") -> str:
        parts = [self._sql.text(before), value, *([self._sql.text(after)] if after else [])]
        return " || ".join(parts)


def _shorten(text: str) -> str:
    return f"left({text}, {_SHOWN})"


_LARGEST = 2**63 - 1
"""The largest number of a column of 64-bit integers."""

_MOST = 10**18
"""An answer must be below this number, and above its negative: the query reads 18 digits."""


_MARKS = r"[\x60<]"
"""Back ticks, and what begins a tag."""


def compile_rubric(
    rubric: ScoringRubric,
    dialect: str,
    *,
    table: str = "outputs",
    extract: Extract = Extract.LAST,
    is_struct: bool = False,
) -> str:
    """Return a query that scores the judge outputs of a table with the columns `id` and `output`.

    `dialect` is a name of `DIALECTS`. `output` is a raw text, or a struct if `is_struct`.

    Raises:
        RubricError: if the numbers of the rubric are too large.
    """
    sql = DIALECTS[dialect]
    _refuse_large(rubric)
    checker = Checker(sql, rubric, extract=extract, is_struct=is_struct)
    steps = [*read_output(sql, is_struct=is_struct), *checker.write(), *_grade(sql, rubric)]
    name = re.sub(r"[^\w .,/()@+=-]", "?", visible(rubric.name))
    kind = "structs" if is_struct else "texts"
    lines = [
        f"-- Scores judge outputs ({kind}) by the rubric {name}, version {rubric.hash}, in {sql.label}.",
        f"-- Written by rubric-lint {__version__}; write it again when the rubric changes.",
        "-- One row for each output: status is valid, invalid (error says why) or unread. The query cannot decide",
        "-- unread outputs; score them with rubric-lint score. The score is exactly points / full.",
        "WITH",
    ]
    source = sql.table(table)
    prefix = "graded" if table.lower().startswith("scoring") else "scoring"  # never the table itself
    for number, (what, columns) in enumerate(steps, start=1):
        listed = ["*" if number > 1 else sql.identifier("id")]
        listed += [f"{value} AS {name}" for name, value in columns.items()]
        lines += [f"-- {number}. {what}", f"{prefix}_{number} AS (", "  SELECT"]
        lines += [indent(",\n".join(listed), "    "), f"  FROM {source}", ")" if number == len(steps) else "),"]
        source = f"{prefix}_{number}"
    lines += ["SELECT", indent(",\n".join(_list_results(sql, rubric)), "  "), f"FROM {source}"]
    return "\n".join(lines) + "\n"


def _refuse_large(rubric: ScoringRubric) -> None:
    """Raise RubricError if 64-bit integers cannot hold every sum of points, or an answer has too many digits."""
    points = [[grade.points for grade in each.grades] for each in rubric.criteria]
    largest = sum(max(*map(abs, each), max(each) - min(each)) for each in points)
    digits = len(str(max(largest, rubric.full)))
    if max(largest, 2 * rubric.full) > _LARGEST:
        raise RubricError(
            f"rubric `{rubric.name}`: the points of its answers have up to {digits} digits, more "
            "than a column of 64-bit integers holds; give its weights fewer digits"
        )
    for criterion in rubric.criteria:
        if any(abs(int(grade.answer)) >= _MOST for grade in criterion.grades):
            raise RubricError(f"rubric `{rubric.name}`: a level of `{criterion.id}` has more than 18 digits")


def _grade(sql: Dialect, rubric: ScoringRubric) -> Iterator[Step]:
    # In a fence, a text with these characters may hold more than the object.
    is_mixed = f"is_fence AND is_object AND {sql('matches', 'held', _MARKS)}"
    ways = [
        ("held IS NULL", "'invalid'"),
        (f"is_open OR error IS NOT NULL AND {is_mixed}", "'unread'"),
        ("error IS NOT NULL", "'invalid'"),
        ("doubt IS NOT NULL", "'unread'"),
    ]
    yield "Valid, invalid, or left to rubric-lint", {"status": choose(ways, "'valid'")}
    numbers = [
        (
            f"answer_{place}",
            f"CASE WHEN status = 'valid' THEN {sql('at', 'numbers', sql('place', 'places', str(place)))} END",
        )
        for place, _ in enumerate(rubric.criteria, start=1)
    ]
    yield "The answers, in the order of the rubric", dict(numbers)
    terms = " + ".join(_weigh(each, f"answer_{place}") for place, each in enumerate(rubric.criteria, start=1))
    points = f"CASE WHEN status = 'valid' THEN CAST(greatest({terms}, 0) AS BIGINT) END"
    yield "The points, at least 0", {"points": points}


def _weigh(criterion: ScoringCriterion, answer: str) -> str:
    """Return the points of an answer: as many for each integer above the lowest, if these are whole points.

    No step of the sum is larger than the points themselves, so that none overflows.
    """
    points = {int(grade.answer): grade.points for grade in criterion.grades}
    lowest, highest = min(points), max(points)
    slope, rest = divmod(points[highest] - points[lowest], max(highest - lowest, 1))
    if rest:
        cases = " ".join(f"WHEN {number} THEN {worth}" for number, worth in points.items())
        return f"CASE {answer} {cases} END"
    above = f"({answer} - {lowest})" if lowest > 0 else f"({answer} + {-lowest})" if lowest else answer
    return f"{slope} * {above}" + (f" + {points[lowest]}" if points[lowest] else "")


def _list_results(sql: Dialect, rubric: ScoringRubric) -> Iterator[str]:
    numbered = [*enumerate(rubric.criteria, start=1)]
    missed = [(each, _misses_gate(each, f"answer_{place}")) for place, each in numbered]
    gates = [f"CASE WHEN {test} THEN {sql.text(each.id)} END" for each, test in missed if test]
    no_gates = f"CAST({sql.array([])} AS {sql.list_type})"
    listed = sql("keep", sql.array(gates), "v", "n", "v IS NOT NULL") if gates else no_gates
    fails = [(" OR ".join(test for _, test in missed if test), "'fail'")] if gates else []
    verdict = choose(
        [
            ("status <> 'valid'", "NULL"),
            *fails,
            (f"points >= {rubric.pass_from}", "'pass'"),
            (f"points >= {rubric.borderline_from}", "'borderline'"),
        ],
        "'fail'",
    )
    criteria = sql.array(
        sql.struct(id=sql.text(each.id), raw=f"answer_{place}", gate_met=f"NOT ({test})" if test else "TRUE")
        for (place, each), (_, test) in zip(numbered, missed, strict=True)
    )
    yield sql.identifier("id")
    yield f"{sql.text(rubric.name)} AS rubric"
    yield f"'{rubric.hash}' AS rubric_hash"
    yield "points"
    yield f"CASE WHEN status = 'valid' THEN CAST({rubric.full} AS BIGINT) END AS {sql.identifier('full')}"
    yield f"CAST(points AS DOUBLE) / {rubric.full} AS score"
    yield f"{verdict} AS verdict"
    yield f"CASE WHEN status = 'valid' THEN {listed} END AS gates_missed"
    yield f"CASE WHEN status = 'valid' THEN {criteria} END AS criteria"
    yield "status"
    told = sql.text("a fence that may hold more than the object")
    yield f"CASE status WHEN 'invalid' THEN error WHEN 'unread' THEN COALESCE(doubt, {told}) END AS error"


def _misses_gate(criterion: ScoringCriterion, answer: str) -> str:
    """Return whether an answer misses the gate of a criterion; empty if no answer can."""
    missed = [int(grade.answer) for grade in criterion.grades if not grade.gate_met]
    if not missed:
        return ""
    if len(missed) > 2 and missed == [int(grade.answer) for grade in criterion.grades[: len(missed)]]:
        return f"{answer} <= {missed[-1]}"
    return f"{answer} IN ({', '.join(map(str, missed))})"
