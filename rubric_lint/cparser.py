"""The C parser of ruamel.yaml: its events, or what they are made of.

Most of the time that it takes goes into the constructors of events, three calls each. In a process that is ours alone
`leave_apart` has it hand out the arguments instead; `skim` needs no more.
"""

from collections.abc import Callable
from typing import Any

from ruamel.yaml.error import YAMLError

try:
    import _ruamel_yaml
except ImportError:  # it is compiled, and not for every system
    _ruamel_yaml = None

Parts = tuple[type, tuple[Any, ...]]
"""An event that is not made: its class, and the arguments for it in order."""

_EVENTS = (
    *("AliasEvent", "DocumentEndEvent", "DocumentStartEvent", "MappingEndEvent", "MappingStartEvent", "ScalarEvent"),
    *("SequenceEndEvent", "SequenceStartEvent", "StreamEndEvent", "StreamStartEvent"),
)


class Mode:
    """How the C parser works in this process."""

    is_apart = False
    """Whether it hands out parts."""


def leave_apart() -> None:
    """Have the C parser make no events from now on, for whoever uses it in this process."""
    if Mode.is_apart or _ruamel_yaml is None:
        return
    for name in _EVENTS:
        setattr(_ruamel_yaml, name, _take_apart(getattr(_ruamel_yaml, name)))
    # A release that looks its classes up in another way goes on as ever.
    Mode.is_apart = type(_ruamel_yaml.CParser("").get_event()) is tuple


def _take_apart(kind: type) -> Callable[..., Parts]:
    return lambda *arguments: (kind, arguments)


def open_events(text: str) -> Callable[[], Any]:
    """What returns the next event of a YAML stream.

    Raises:
        YAMLError: where the C parser is not installed; what is returned raises it where the parser cannot go on.
    """
    next_event = open_parts(text)
    return (lambda: _put_together(*next_event())) if Mode.is_apart else next_event


def _put_together(kind: type, arguments: tuple[Any, ...]) -> Any:
    return kind(*arguments)


def open_parts(text: str) -> Callable[[], Parts]:
    """What returns the parts of the next event, where `Mode.is_apart`; it raises as `open_events` does."""
    if _ruamel_yaml is None:
        raise YAMLError("the C parser is not installed")
    return _ruamel_yaml.CParser(text).get_event  # type: ignore[no-any-return]
