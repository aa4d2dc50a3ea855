"""Suites in all the styles that YAML and JSON have, each with the data that it means before and after `rubric-fix`."""

import re
from dataclasses import dataclass, field

from styles import Anchored, Chances, Styler, chances, write_json

_REFUSED = re.compile("the key `.*` is not written as `|the comment `.*` would be lost")
WORDS = ("cites", "two", "sources", "the", "limits", "état", "🙂 done", "names", "a figure")
RANGES = {0: "Contradicts the source", 4: "Mentions the source once", 8: "Quotes it with its page"}
CASE = "  - id: case-{}\n    description: required\n    expected_outcome: description\n    rubrics:\n"


@dataclass
class Suite:
    """A file, the data of its documents as it should be after the fixes, and the comments that it holds."""

    name: str
    data: bytes
    after: list
    comments: list = field(default_factory=list)


def is_refused_style(fixed):
    """Whether a suite is not converted because of keys after a question mark, or comments between brackets."""
    is_rare = re.search(r"^\s*(- *)?\? |\{ *(#.*)?[\r\n]", fixed.before.text, re.MULTILINE)
    return bool(is_rare) and any(_REFUSED.match(left.reason) for left in fixed.unmet)


def _make_criterion(by, number, *, has_ranges):
    words = by.random.sample(WORDS, by.random.randint(2, 4))
    name = by.one_of("description", "description", "expected_outcome")
    fields = {"id": f"c{number}", name: f"{' '.join(words)} {number}" + by.one_of("", "", "\n")}
    fields |= by.maybe(0.5, {"weight": by.one_of(2, 0.5, 3)})
    gates = ({"required": True}, {"required": False}, {"required": True}, {"required_min_score": 10}, {})
    fields |= by.one_of(*gates) | ({"score_ranges": RANGES} if has_ranges else {})
    return by.shuffle(fields)


def _migrate(fields):
    """What a criterion is to become: worked out here a second time, from docs/format.md, section 2."""
    migrated = {}
    for name, value in fields.items():
        if name == "description":
            migrated["expected_outcome"] = value
        elif name == "required":
            migrated |= {"required_min_score": 10} if value else {}
        else:
            migrated[name] = value
    return migrated


def _make_case(by, number, *, has_ranges):
    """The criteria of a case."""
    return [_make_criterion(by, 10 * number + at, has_ranges=has_ranges) for at in range(by.random.randint(1, 4))]


def _write_yaml(random, most):
    by = Styler(random, gap_rate=0.2, styles="texts brackets keys tags")
    documents, after, has_ranges = [], [], by.chance()
    for _ in range(random.randint(1, most)):
        text, cases = f"description: &top A suite {by.comment()}\ntests:\n", []
        for number in range(2 * len(after), 2 * len(after) + random.randint(1, 2)):
            criteria = _make_case(by, number, has_ranges=has_ranges)
            entries = [Anchored(f"k{item['id']}", item) if by.chance(0.3) else item for item in criteria]
            text += CASE.format(number) + by.items(entries, by.one_of(4, 6))
            case = {"id": f"case-{number}", "description": "required", "expected_outcome": "description"}
            cases.append(case | {"rubrics": [*map(_migrate, criteria)]})
        documents.append(text)
        after.append({"description": "A suite", "tests": cases})
    return Suite("suite.yaml", by.finish("---\n".join(documents)), after, by.comments)


def _write_json(random):
    """A suite in JSON, or suites in lines of it."""
    by = Chances(random)
    is_lines, has_ranges = by.chance(), by.chance()
    texts, after = [], []
    for number in range(random.randint(1, 3) if is_lines else 1):
        criteria = _make_case(by, number, has_ranges=has_ranges)
        suite = {"description": "A suite", "tests": [{"id": f"case-{number}", "rubrics": criteria}]}
        texts.append(write_json(random, suite, is_line=is_lines))
        suite["tests"][0]["rubrics"] = [*map(_migrate, criteria)]
        after.append(suite)
    text = "\n".join(texts) + by.one_of("", "\n")
    return Suite("suite.jsonl" if is_lines else "suite.json", text.encode(), after)


def yaml_suites(most=2):
    return chances.map(lambda random: _write_yaml(random, most))


def json_suites():
    return chances.map(_write_json)
