"""What findings say, by the codes and values of their messages; snapshots hold the words."""

from string import Formatter

from rubric_lint.formats.agentv.messages import MESSAGES
from rubric_lint.lint.engine import lint
from rubric_lint.rules import BY_NAME


def codes(findings):
    """Return the codes of findings, in their order."""
    return [finding.code for finding in findings]


def placed(result):
    """Return the code of each finding of a result, its line and its values."""
    at = result.source.position
    return [(finding.code, at(finding.span.start).line, dict(finding.values)) for finding in result.findings]


def marked(result):
    """Return the code of each finding of a result and the text that it marks."""
    return [(finding.code, result.source.slice(finding.span)) for finding in result.findings]


def told(finding):
    """Return the code of a finding, or of a note on a rewriting, and its values, in the order of its text."""
    rule, _, code = finding.code.partition(".")
    text = BY_NAME[rule].messages[code] if rule in BY_NAME else MESSAGES[code]
    names = dict.fromkeys(name for _, name, *_ in Formatter().parse(text) if name)
    return (finding.code, *(str(finding.values[name]) for name in names))


def message(code, **values):
    """Return the words of a rule's message, for tests of what carries messages and not of what they say."""
    rule, _, name = code.partition(".")
    return BY_NAME[rule].write(name, values)


def describe(text, name):
    """The findings with their places, and what is not read."""
    result = lint(name, text.encode())
    places = [(result.source.position(item.span.start), item) for item in result.findings]
    said = [f"{item.rule} {at.line}:{at.column}: {item.message}" for at, item in places]
    return said + [f"not read {item.line}:{item.column}: {item.reason}" for item in result.unread]
