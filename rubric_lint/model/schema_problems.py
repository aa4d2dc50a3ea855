"""Turn schema errors into problems in plain words, one for each mistake, at the right key."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice, pairwise
from math import inf
from typing import Any

from rubric_lint.model.criterion import HIGHEST, RANGE, SCORES, SHAPE_FIELDS, outcome_field, read_key
from rubric_lint.model.finding import Problem, RelatedPlace
from rubric_lint.model.messages import counted, describe, expected_of, join_words, quote_names, shorten
from rubric_lint.model.recognition import CRITERIA, FIELD, OF_WHOLE, is_place
from rubric_lint.model.repairs import format_rivals, number_levels, quote, write_placeholder
from rubric_lint.model.schema import RubricSchema, SchemaFault, schema_for
from rubric_lint.model.schema_files import CURRENT, VERSION_3, SchemaFile
from rubric_lint.source.document import Document
from rubric_lint.source.edits.intents import RenameKey, Repair, ReplaceValue, WrapText
from rubric_lint.source.path import Part, Path
from rubric_lint.source.source import Kind
from rubric_lint.source.values import as_list, as_mapping, as_string


def find_violations(
    schema: RubricSchema, document: Document, path: Path, rubrics: Any
) -> Iterator[tuple[str, Problem]]:
    """Find the errors of the `rubrics` value at `path`: the name of the rule, and the problem."""
    if isinstance(rubrics, dict) and "object" in schema.find(()).get("type", ()):
        yield from _find_in_node(schema, schema.whole, document, path, rubrics)
        return
    if not isinstance(rubrics, list) or not rubrics:
        yield from _find_in_no_list(schema, document, path, rubrics)
        return
    for index, entry in enumerate(rubrics):
        if not schema.is_valid_entry(entry):
            yield from _find_in_entry(schema, document, (*path, index), entry)
    if not schema.version:  # something missing from the list as a whole; the format itself never requires this
        for fault in schema.find_faults(schema.whole, rubrics):
            if not fault.path:
                yield from _make_problems(schema, fault, document, path)


def _find_in_no_list(
    schema: RubricSchema, document: Document, path: Path, rubrics: Any
) -> Iterator[tuple[str, Problem]]:
    """Find the errors of a value that is no list, or an empty one, and say what to write if its form shows that."""
    found = find_in(schema, schema.whole, document, path, rubrics)
    form = ""
    if schema.version:
        form = _format_list_form(rubrics)
        if schema.version != VERSION_3 and _holds_criteria(rubrics):
            form = f"this is a rubric of version 3: {format_claim(document, path)}"
    if not form:
        yield from found
    for rule, problem in found:
        yield rule, problem._replace(code="not-a-list", values={**problem.values, "form": form})


def find_misplaced(schema: RubricSchema, document: Document, path: Path, *, in_suite: bool) -> Iterator[Problem]:
    """Find the fields of a rubric of version 3 that stand around the one at a path, where nothing reads them.

    In a suite, only those are a slip that mean nothing else, or whose value is right in a rubric.
    """
    guards, known = schema.joined["then"]["properties"], {**schema.entry_fields, **schema.fields_of(schema.whole)}
    own = as_mapping(document.value(path))
    holders = {path[:-1]: None}
    if in_suite:
        above: list[Path] = [path[:length] for length in range(len(path) - 1)]
        if "defaults" in as_mapping(document.data):
            above.append(("defaults",))
        holders |= {place: None for place in above if is_place(place, in_suite=True)}
    for holder in holders:
        mapping = as_mapping(document.value(holder))
        for name, value in mapping.items():
            is_slip = not in_suite or name in OF_WHOLE
            if not is_slip and name in _SLIPS_BY_VALUE and (name != CRITERIA or FIELD in mapping):
                is_slip = schema.is_valid_field(known, name, value)
            if is_slip and name in guards:
                values = {"field": name, "reason": guards[name]["x-reason"]}
                related: tuple[RelatedPlace, ...] = ()
                if name in own:
                    here = describe(value, document.written_at((*holder, name)))
                    there = describe(own[name], document.written_at((*path, name)))
                    values["reason"] = f"it is {here}, and in `{FIELD}` it is {there}; keep one, in `{FIELD}`"
                    related = (RelatedPlace("the other one", (*path, name), Part.KEY),)
                yield Problem("misplaced", (*holder, name), Part.KEY, values, related, keyword="not")


_SLIPS_BY_VALUE = frozenset({"applies_if", CRITERIA, "grades", "levels"})
"""The fields of version 3 that may mean other things in a suite, if their value is not that of a rubric."""


def _holds_criteria(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get(CRITERIA), list) and bool(value[CRITERIA])


def format_claim(document: Document, path: Path) -> str:
    """Say how the file of a rubric at a path says that it follows version 3."""
    name = "suite" if len(path) > 1 else "rubric"
    url = SchemaFile(name, VERSION_3, "").bundled_id
    if document.kind is Kind.YAML:
        return f"write `# yaml-language-server: $schema={url}` in the first line of the file"
    return f'write `"$schema": "{url}"` at the top of the file'


def _format_list_form(value: Any) -> str:
    """Say how to write criteria, bands or levels in the wrong form as a list of criteria; empty if no form shows."""
    if _are_scores(value):
        return "write a list with one criterion that has an `id` and these as its `score_ranges` or `levels`"
    if not (isinstance(value, dict) and value):
        return ""
    parts = list(value.values())
    lists = [key for key, part in value.items() if isinstance(part, list) and dict in map(type, part)]
    if not all(isinstance(part, dict) for part in parts) and any(map(schema_for().knows, value)):
        return "put this criterion in a list"
    if len(lists) == 1 and not any(isinstance(part, dict) for part in parts):
        return f"write the list in `{shorten(lists[0])}` as the value of `{FIELD}`"
    if not all(isinstance(part, dict | list) for part in parts):
        return ""
    form = "write a list, with each key as the `id` of a criterion"
    if all(map(_are_scores, parts)):
        form += " and its scores as `levels`"
    return form


def _are_scores(value: Any) -> bool:
    """Return whether a value has the short form of our bands or levels: strings by scores or their ranges."""
    is_map = isinstance(value, dict) and bool(value) and all(isinstance(text, str) for text in value.values())
    return is_map and all(read_key(key) is not None or re.fullmatch(RANGE, key) for key in value)


def _find_in_node(
    schema: RubricSchema, definition: str, document: Document, path: Path, node: Mapping[str, Any]
) -> Iterator[tuple[str, Problem]]:
    """Find the errors of a rubric or a group that is a mapping, then those of each of its criteria."""
    entries = as_list(node.get(CRITERIA))
    alone = node
    if entries:  # errors of the criteria have their own words below
        alone = {**node, CRITERIA: ["It"]}
    yield from _find_slips(list(find_in(schema, definition, document, path, alone)), node, path, document)
    for index, entry in enumerate(entries):
        if not schema.is_valid_entry(entry):
            yield from _find_in_entry(schema, document, (*path, CRITERIA, index), entry)


def _find_in_entry(schema: RubricSchema, document: Document, path: Path, entry: Any) -> Iterator[tuple[str, Problem]]:
    if schema.version and isinstance(entry, dict) and CRITERIA in entry and CRITERIA in schema.entry_fields:
        yield from _find_in_node(schema, schema.item, document, path, entry)
        return
    if schema.holds_bands_as_range(entry):
        # A missing `s`, which would otherwise cause five errors.
        place = (*path, "score_range")
        repair = Repair("rename `score_range` to `score_ranges`", (RenameKey(place, "score_ranges"),), safe=False)
        yield "schema", Problem("bands-as-range", place, Part.KEY, repair=repair)
    elif isinstance(entry, dict) and len(entry) == 1 and not schema.knows(*entry):
        yield "schema", Problem("colon-in-string", path, Part.HEAD, {"key": shorten(*entry)})
    else:
        found = list(find_in(schema, schema.item, document, path, entry))
        if isinstance(entry, dict):
            claiming = document if schema.version == VERSION_3 else None
            yield from _find_slips(found, entry, path, claiming)
        elif not isinstance(entry, str) and document.is_alias(path):  # it may be right where it is written
            yield from ((rule, problem._replace(part=Part.ENTRY)) for rule, problem in found)
        else:
            yield from found


def _find_slips(
    found: list[tuple[str, Problem]], entry: Mapping[str, Any], path: Path, document: Document | None
) -> Iterator[tuple[str, Problem]]:
    """Yield problems of an entry, with one in the place of all that come from one slip.

    `document` is given if the scales in it hold for what is below them.
    """
    scale = _find_scale(document, path) if document and "levels" in entry else None
    finders = (("score_ranges", _find_range_keys), ("levels", partial(_find_names, scale=scale)))
    for field, find_slip in finders:
        place = (*path, field)
        within = [(rule, problem) for rule, problem in found if problem.path[:-1] == place]
        if not within:
            continue
        slip = find_slip(entry.get(field), place)
        if slip is None:
            continue
        # A value may break another rule, which has no words for a slip in the keys; and keys may be numbers that fit.
        for rule, problem in within:
            if problem.part is slip.part or slip.path == place:
                yield rule, slip._replace(keyword=problem.keyword)
                found = [pair for pair in found if pair not in within]
                break
    yield from found


def _find_range_keys(bands: Any, place: Path) -> Problem | None:
    """Describe `0-3: ...`: the short form has the lowest score of a band only, as the next key says where it ends."""
    ranges = {key: re.fullmatch(RANGE, key) for key in as_mapping(bands)}
    starts = {key: int(found[1]) if found else read_key(key) for key, found in ranges.items()}
    lows = sorted(start for start in starts.values() if start is not None and start in SCORES)
    if not any(ranges.values()) or len(lows) < len(starts):
        return None
    ends = {key: (int(found[1]), int(found[2])) for key, found in ranges.items() if found}
    key, (low, high) = next(iter(ends.items()))
    if any(end < start or end + 1 not in (*lows, HIGHEST + 1) for start, end in ends.values()):
        return Problem("range-key", (*place, key), Part.KEY, {"key": shorten(key), "low": low, "high": high})
    starts_of_bands = join_words([f"`{start}`" for start in lows])
    intents = tuple(RenameKey((*place, written), str(start)) for written, (start, _) in ends.items())
    repair = Repair(f"write {starts_of_bands}", intents, safe=False)
    values = {"key": shorten(key), "starts": starts_of_bands}
    return Problem("range-keys", (*place, key), Part.KEY, values, repair=repair)


def _find_scale(document: Document, path: Path) -> list[Any] | None:
    """Return the scale that holds at a path: that of the nearest mapping with one, if it has two ends."""
    for length in range(len(path), -1, -1):
        mapping = document.value(path[:length])
        if isinstance(mapping, dict) and "scale" in mapping:
            scale = as_list(mapping["scale"])
            return scale if len(scale) == 2 else None
    return None


def _find_names(levels: Any, place: Path, *, scale: list[Any] | None) -> Problem | None:
    """Describe `levels: [none, some, all]`: names without numbers, of which only the author knows the order."""
    if isinstance(levels, dict) and levels and all(read_key(name) is None for name in levels):
        names = quote_names(levels)
        return Problem("named-keys", (*place, next(iter(levels))), Part.KEY, {"names": names})
    if not isinstance(levels, list) or len(levels) < 2 or not all(isinstance(name, str) for name in levels):
        return None
    if scale:
        between = "..., " if len(levels) > 2 else ""
        numbered = (
            f"{shorten(str(scale[0]))}: {shorten(levels[0])}, {between}{shorten(str(scale[1]))}: {shorten(levels[-1])}"
        )
        return Problem("names", place, Part.KEY, {"numbered": numbered})
    shown = ", ".join(f"{number}: {shorten(name)}" for number, name in enumerate(levels[:3]))
    more = ", ..." if len(levels) > 3 else ""
    return Problem("names", place, Part.KEY, {"numbered": f"{shown}{more}"}, choices=number_levels(place, len(levels)))


def find_in(
    schema: RubricSchema, definition: str, document: Document, base: Path, value: Any
) -> Iterator[tuple[str, Problem]]:
    """Find the errors of the value at `base` against a definition: the name of the rule, and the problem."""
    found: dict[tuple[Path, Part, object], tuple[str, Problem]] = {}
    for fault in schema.find_faults(definition, value):
        for rule, problem in _make_problems(schema, fault, document, base):
            # A wrong type also breaks bounds and patterns, so one error on a value is enough, and the type error is
            # the best; but each missing field of a mapping is a separate error.
            missing = problem.values["field"] if fault.keyword == "required" else ""
            key = (problem.path, problem.part, missing)
            if key not in found or fault.keyword == "type":
                found[key] = (rule, problem)
    # If the key itself is wrong, its value does not matter.
    wrong_keys = {problem.path for _, problem in found.values() if problem.part is Part.KEY}
    for rule, problem in found.values():
        if problem.part is Part.KEY or problem.path not in wrong_keys:
            yield rule, problem


def _make_problems(
    schema: RubricSchema, fault: SchemaFault, document: Document, base: Path
) -> Iterator[tuple[str, Problem]]:
    path = base + fault.path
    keyword, value = fault.keyword, fault.value
    rules = fault.schema.get("x-rule", {})
    if keyword == "additionalProperties":
        strangers = [name for name in value if name not in fault.schema["properties"]]
        for name in strangers:
            problem = _make_unknown_problem(schema, document, fault, (*path, name), name)
            yield "unknown-field", problem._replace(keyword=keyword)
    elif keyword == "required":
        kind = schema.item
        if path[-2:-1] == ("score_ranges",):
            kind = "band"
        definition = schema.definitions.get(kind, {})
        here = {field: known for field, known in fault.schema.get("properties", {}).items() if known is not True}
        known = {**definition.get("properties", {}), **here}
        for name in _missing(schema, fault):
            meaning = _format_meaning(known.get(name, {}).get("description", ""))
            yield "schema", Problem("missing", path, Part.HEAD, {"field": name, "meaning": meaning}, keyword=keyword)
    elif "x-reason" in fault.schema:
        values = {"field": path[-1], "reason": fault.schema["x-reason"]}
        yield rules.get(keyword, "schema"), Problem("misplaced", path, Part.KEY, values, keyword=keyword)
    else:
        part = Part.VALUE
        if fault.is_key:
            path, part = (*path, value), Part.KEY
        code, values = _describe_value(fault, document, path)
        is_weight = code == "minimum" and path[:-2] == (FIELD,) and path[-1] == "weight"  # a suite is for its own tool
        if is_weight and schema.version == CURRENT and fault.value > -inf:
            code, values = "below-zero", {**values, "how": format_claim(document, path[:-2])}
        name = rules.get(keyword, "schema")
        if keyword == "type" and value is None:
            name = rules.get("null", name)
        problem = Problem(code, path, part, values, keyword=keyword)
        yield name, _add_repair(name, fault, document, base, problem)


def _format_meaning(description: str) -> str:
    """Return the first clause of a description, to follow the name of a field; empty if there is none."""
    clause = _FIRST_CLAUSE.match(description)
    if clause is None:
        return ""
    return f": {clause[0][:1].lower()}{clause[0][1:]}"


def _add_repair(rule: str, fault: SchemaFault, document: Document, base: Path, problem: Problem) -> Problem:
    path = problem.path
    if rule == "empty-outcome" and not fault.is_key:
        return problem._replace(choices=(write_placeholder(document.value(base), base, path),))
    verdicts = fault.schema.get("properties", {}).get("verdict", {}).get("pattern")
    if verdicts and isinstance(fault.value, str) and re.fullmatch(verdicts, fault.value) and path:
        field = str(path[-1])
        title = f"write `{field}: {{verdict: {fault.value}}}`"
        repair = Repair(title, (WrapText(path, "verdict"),), safe=False)
        values = {**problem.values, "field": field, "verdict": fault.value}
        return problem._replace(code="bare-verdict", values=values, repair=repair)
    text = _write_scale(fault, path)
    if text:
        repair = Repair(f"write `{text}`", (ReplaceValue(path, text),), safe=False)
        subject = "`scale` has" if "count" in problem.values else problem.values.get("subject")
        found = problem.values.get("count", problem.values.get("found"))
        values = {"subject": subject, "found": found, "expected": expected_of(fault.schema), "range": text}
        return problem._replace(code="range-string", values=values, repair=repair)
    is_scale, is_range = path[-1:] == ("scale",), path[-1:] == ("score_range",)
    written = isinstance(fault.value, str) and (is_scale or is_range) and re.fullmatch(RANGE, fault.value)
    if written and (is_scale or int(written[1]) <= int(written[2]) <= HIGHEST):
        text = f"[{int(written[1])}, {int(written[2])}]"
        repair = Repair(f"write `{text}`", (ReplaceValue(path, text),), safe=False)
        return problem._replace(code="range-string", values={**problem.values, "range": text}, repair=repair)
    if _lacks_quotes(fault) and not fault.is_key and path and not _find_tag(document, path):
        return problem._replace(repair=quote(path, document.written_at(path)))
    return problem


def _write_scale(fault: SchemaFault, path: Path) -> str:
    """Return the right form of `scale: {min: 1, max: 5}`, `[1, 2, 3, 4, 5]`, or of one end in quotes; else nothing."""
    value = fault.value
    if path[-2:-1] == ("scale",):
        number = re.fullmatch(r"-?[1-9][0-9]{0,2}|0", as_string(value) or "")
        return number[0] if number else ""
    if path[-1:] != ("scale",) or fault.schema.get("maxItems") != 2:
        return ""
    if isinstance(value, dict) and tuple(value) in {("min", "max"), ("worst", "best"), ("lowest", "highest")}:
        value = list(value.values())
    elif not (isinstance(value, list) and len(value) > 2):
        return ""
    if any(type(end) is not int for end in value) or value[0] == value[-1]:
        return ""
    is_run = len(value) == 2 or {later - end for end, later in pairwise(value)} in ({1}, {-1})
    return f"[{value[0]}, {value[-1]}]" if is_run else ""


def _lacks_quotes(fault: SchemaFault) -> bool:
    """Return whether a value that should be a string is a number, true or false."""
    return isinstance(fault.value, int | float) and expected_of(fault.schema) == "a string"


# The fields of which an entry needs one; a misspelt one counts.
_INSTEAD = {"expected_outcome": ("expected_outcome", "description", "score_ranges", "levels", CRITERIA)}


def _missing(schema: RubricSchema, fault: SchemaFault) -> list[str]:
    """List the missing required fields, except misspelt ones, which are findings already."""
    absent = [name for name in fault.wanted if name not in fault.value]
    if schema.definitions[schema.item].get("additionalProperties", True):
        return absent  # an unknown field is not a finding there
    known = fault.schema.get("properties", {}).keys()
    if fault.schema.get("additionalProperties", True):  # a condition only names its own fields
        known |= schema.entry_fields.keys()
    strangers = [key for key in fault.value if key not in known]
    wanted = {*absent, *schema.entry_fields}
    missing = []
    for name in absent:
        near = {name, *_INSTEAD.get(name, ())} & wanted
        if not any(key in schema_for().entry_fields or schema.suggest(key, near) for key in strangers):
            missing.append(name)
    return missing


_FIRST_CLAUSE = re.compile(r"[^.:;]+")


def _make_unknown_problem(
    schema: RubricSchema, document: Document, fault: SchemaFault, path: Path, name: str
) -> Problem:
    known: Mapping[str, Any] = fault.schema["properties"]
    near: list[str] = []
    if not name.startswith("x-"):  # nobody misspells such a name: it is a place for anchors
        near = _fit_gates(schema, fault.value, schema.suggest(name, known))
    if "" < schema.version < CURRENT and name in schema_for().entry_fields:
        values = {"field": name, "current": CURRENT, "version": schema.version}
        return Problem("later-version", path, Part.KEY, values)
    if schema.version == CURRENT and name in schema_for(VERSION_3).entry_fields.keys() - schema.entry_fields.keys():
        return Problem("version-3", path, Part.KEY, {"field": name, "how": format_claim(document, path[:-2])})
    if not near:
        current = ", ".join(_list_known(schema, known, fault.value))
        return Problem("unknown", path, Part.KEY, {"field": shorten(name), "known": current})
    return _make_misspelt_problem(schema, fault, path, name, near)


def _make_misspelt_problem(schema: RubricSchema, fault: SchemaFault, path: Path, name: str, near: list[str]) -> Problem:
    """Describe a field that is like others, with its new name if it can only be one of them."""
    shown = shorten(name)
    values = {"field": shown, "near": " or ".join(f"`{field}`" for field in near)}
    if len(near) == 1 and near[0] in fault.value:
        return Problem("misspelt-beside", path, Part.KEY, values)
    # Two misspelt names may mean the same field, which can only be used once. No more than two are looked for, or many
    # misspelt keys take too long.
    rivals = (key for key in fault.value if key not in schema.entry_fields and schema.suggest(key, near))
    problem = Problem("misspelt", path, Part.KEY, values)
    if len(near) > 1 or len(list(islice(rivals, 2))) == 2:
        return problem
    repair = _rename(schema, fault.value, path, name, near[0])
    if repair is None or not schema.is_valid_field(fault.schema["properties"], near[0], fault.value[name]):
        return problem  # a renamed field would only be another error
    for old, _ in schema.find_rivals(fault.value, near[0]):
        return problem._replace(obstacle=format_rivals(old, shown, near[0]))
    return problem._replace(repair=repair)


_OTHER_GATE = {"required_min_score": "required_min_level", "required_min_level": "required_min_score"}


def _fit_gates(schema: RubricSchema, mapping: dict[str, Any], near: list[str]) -> list[str]:
    """Replace each gate that the shape of the criterion cannot have by the one that it can have."""
    shapes = SHAPE_FIELDS.keys() & mapping.keys() & schema.entry_fields.keys()
    if not shapes or _OTHER_GATE.keys().isdisjoint(near):
        return near
    allowed = schema.fields_of_shape(frozenset(shapes))
    fitting = [_OTHER_GATE.get(field, field) if field not in allowed else field for field in near]
    return list(dict.fromkeys(fitting))


def _list_known(schema: RubricSchema, known: Mapping[str, Any], mapping: dict[str, Any]) -> list[str]:
    """List the fields that a mapping may have; for a criterion, only those of its shape."""
    names = [name for name, field in known.items() if not field.get("deprecated")]
    if schema.version and known.keys() == schema.entry_fields.keys():
        shapes = {*SHAPE_FIELDS, CRITERIA} & mapping.keys() & known.keys()
        names = list(schema.fields_of_shape(frozenset(shapes)))
        if not shapes and outcome_field(mapping) in mapping:
            names = [name for name in names if name not in SHAPE_FIELDS]
    return [f"`{name}`" for name in names]


def _rename(schema: RubricSchema, mapping: dict[str, Any], path: Path, name: str, target: str) -> Repair | None:
    value = mapping[name]
    intents: list[RenameKey | ReplaceValue] = []
    title = f"rename `{name}` to `{target}`"
    replacement = schema.replacements.get(target)
    if replacement:
        if not replacement.covers(value) or replacement.value_for(value) is None:
            return None
        target, new = replacement.name, replacement.value_for(value)
        title = f"rename `{name}` to `{target}`"
        if new != value or type(new) is not type(value):
            intents.append(ReplaceValue(path, str(new)))
            title = f"write `{target}: {new}`"
    if target in mapping:
        return None
    return Repair(title, (RenameKey(path, target), *intents), safe=False)


_MAPS = {("score_ranges",), ("levels",)}
"""The fields that may contain a map from numbers to outcomes."""


def _describe_value(  # noqa: PLR0911 (one return a message)
    fault: SchemaFault, document: Document, path: Path
) -> tuple[str, dict[str, Any]]:
    """Return the code of the message on a wrong value, and its values."""
    schema, is_key = fault.schema, fault.is_key
    if fault.keyword == "contains":
        return "none-counts", {"field": path[-1], "expected": expected_of(schema)}
    if is_key:
        found = f"the key `{shorten(fault.value)}`"
    else:
        found = describe(fault.value, document.written_at(path))
    path = path or ("this",)
    if fault.value is None and isinstance(path[-1], int):
        found = "an empty item"
    subject = _name_subject(path, is_key=is_key)
    match fault.keyword:
        case "pattern" if fault.wanted == r"\S" and not is_key:
            code = "blank-condition" if path[-1] == "applies_if" else "blank"
            found_text = "blank" if subject.endswith(" is") else "a blank string"
            return code, {"subject": subject, "found": found_text}
        case "minItems" | "minProperties" if not fault.value:
            expected = schema.get("x-expected") or f"at least {counted(fault.wanted, 'item')}"
            kind = "mapping" if fault.keyword == "minProperties" else "list"
            return "empty", {"field": path[-1], "kind": kind, "expected": expected}
        case "minItems" | "minProperties" | "maxItems":
            count = len(fault.value)
            is_exact = "maxItems" in schema
            expected = expected_of(schema) if is_exact else f"at least {fault.wanted}"
            return "items", {"field": path[-1], "count": counted(count, "item"), "expected": expected}
        case "minimum" if "x-expected" not in schema:
            return "minimum", {"subject": subject, "found": found, "least": fault.wanted}
        case _:
            values = {"subject": subject, "found": found, "expected": expected_of(schema)}
            if not _lacks_quotes(fault):
                return "unexpected", values
            tag = _find_tag(document, path)
            if tag:
                return "tagged", {**values, "tag": shorten(tag)}
            return "unquoted", values


def _name_subject(path: Path, *, is_key: bool) -> str:
    """Return the start of a message on a value or a key: what it is, or what has it, with the verb."""
    if is_key or isinstance(path[-1], int):
        names = [step for step in path[:-1] if isinstance(step, str)]
        return f"`{names[-1]}` has" if names else "found"
    subject = f"`{path[-1]}` is"
    if path[-2:-1] in _MAPS:
        subject = f"the outcome of {subject}"
    return subject


_TAG = re.compile(r"(!\S*)\s+(?:&\S+\s+)?\Z")
_NEARBY = 200


def _find_tag(document: Document, path: Path) -> str:
    """Return the tag of a value, which overrides its quotes, or an empty string."""
    start = document.span(path).start
    found = _TAG.search(document.source.text, max(start - _NEARBY, 0), start)
    return found[1] if found else ""
