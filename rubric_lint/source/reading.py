"""Read the documents of a file with the parser that its name selects; here, YAML with the C parser of ruamel.yaml."""

import gc
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ruamel.yaml.composer import ComposerError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.tag import Tag

from rubric_lint.source.deadline import check_time
from rubric_lint.source.document import Document
from rubric_lint.source.source import Kind, Source, kind_of
from rubric_lint.source.tree import (
    MAX_DEPTH,
    UNTAGGED,
    Root,
    SyntaxFaultError,
    Tree,
    may_have_aliases,
    node_end,
    too_deep,
    walk_nodes,
)

try:
    from _ruamel_yaml import CParser as _CParser
except ImportError:  # it is compiled, and not for every system

    class _CParser:  # type: ignore[no-redef]
        def __init__(self, _: str) -> None:
            raise YAMLError("the C parser is not installed")


@contextmanager
def without_collections() -> Iterator[None]:
    """Pause the garbage collector while a text is read and linted; it would take several times as long as reading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_documents(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """Read all documents and syntax errors of a file by the suffix of its name; any line of JSON Lines may have one."""
    kind = kind_of(source.name)
    try:
        if kind is Kind.JSON_LINES:
            return _read_lines(source)
        if kind is Kind.JSON:
            from rubric_lint.source.json_tree import read_json  # noqa: PLC0415  (most runs read YAML only)

            return _make_documents(Tree(source, [read_json(source.text)], kind)), []
        if kind is Kind.TOML:
            from rubric_lint.source.toml_tree import read_toml  # noqa: PLC0415  (most runs read YAML and JSON only)

            return _make_documents(read_toml(source)), []
        if kind.is_program:
            from rubric_lint.source.python_tree import read_program  # noqa: PLC0415  (most runs read data only)

            return _make_documents(read_program(source)), []
        return _make_documents(Tree(source, read_yaml(source.text)), are_cases=True), []
    except SyntaxFaultError as fault:
        return [], [fault]


def _make_documents(tree: Tree, *, are_cases: bool = False) -> list[Document]:
    documents = [Document(tree, root) for root in tree.roots]
    if are_cases and len(documents) > 1:
        for number, document in enumerate(documents):
            document.number = number
    return documents


def _read_lines(source: Source) -> tuple[list[Document], list[SyntaxFaultError]]:
    """Read the documents of JSON Lines; an invalid line still counts, so that the line numbers below stay right."""
    from rubric_lint.source.json_tree import read_json  # noqa: PLC0415  (most runs read YAML only)

    documents: list[Document] = []
    faults: list[SyntaxFaultError] = []
    number = 0
    for line in range(1, source.line_count + 1):
        start, end = source.line_span(line)
        if not source.text[start:end].strip():
            continue
        try:
            root = read_json(source.text, start, end)
            document = Document(Tree(source, [root], Kind.JSON), root)
            document.number = number
            documents.append(document)
        except SyntaxFaultError as fault:
            faults.append(fault)
        number += 1
    if number < 2:
        for document in documents:
            document.number = None
    return documents, faults


# Both parsers treat these as line ends, as in YAML 1.1; in YAML 1.2 and in editors they are ordinary characters.
_OLD_LINE_ENDS = "\x85\u2028\u2029"
_PRIVATE_USE = range(0xE000, 0xF900)


def read_yaml(text: str) -> list[Root]:
    """Parse the documents of a YAML stream; if the parsers disagree, the pure one decides.

    Raises:
        SyntaxFaultError: if no parser can read the text.
    """
    # For each old line end a character that the text does not contain, literally or as an escape.
    found = [] if text.isascii() else [ord(old) for old in _OLD_LINE_ENDS if old in text]
    lower = text.lower() if found else ""
    unused = (chr(code) for code in _PRIVATE_USE if chr(code) not in lower and f"{code:x}" not in lower)
    masks = dict(zip(found, unused, strict=False))
    masked = text.translate(masks) if masks else text
    roots = _read_yaml(masked)
    if masks:
        originals = {ord(mask): old for old, mask in masks.items()}
        for root in roots:
            for node in walk_nodes(root.node):
                if type(node) is ScalarNode:
                    node.value = node.value.translate(originals)
    return roots


def _read_yaml(text: str) -> list[Root]:
    try:
        if not may_have_aliases(text):
            with suppress(ComposerError):  # an alias without an anchor, or two anchors with one name, which is allowed
                return compose(text)
        from rubric_lint.source.yaml_events import compose_events  # noqa: PLC0415  (few texts have aliases)

        return compose_events(open_events(text))
    except YAMLError as fault:  # libyaml rejects some valid YAML, with worse messages: the pure parser decides
        from rubric_lint.source.yaml_events import compose_purely  # noqa: PLC0415  (few texts are refused)

        return compose_purely(text, fault)


def open_events(text: str) -> Callable[[], Any]:
    """Return a function that returns the next event of a YAML stream, or raises a YAMLError at a syntax error.

    Raises:
        YAMLError: if the C parser is not installed.
    """
    return _CParser(text).get_event  # type: ignore[no-any-return]


class _Composer(_CParser):  # type: ignore[misc]
    """A composer that builds nodes in C; its hooks do almost nothing, because they run for every node."""

    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = bool

    @staticmethod
    def resolve(*_: Any) -> Tag:
        return UNTAGGED


class _GuardedComposer(_Composer):
    """A composer that checks depth and time, for texts that may be too deep or take long."""

    depth = 0
    count = 0

    def descend_resolver(self, parent: Any, _: Any) -> None:  # type: ignore[override]
        self.depth += 1
        self.count += 1
        if not self.count & 1023:
            check_time()
        if self.depth > MAX_DEPTH + 1:
            raise too_deep(parent.start_mark.index)

    def ascend_resolver(self) -> None:  # type: ignore[override]
        self.depth -= 1


def compose(text: str) -> list[Root]:
    """Compose the documents of a YAML stream with the C parser.

    Raises:
        YAMLError: if the C parser cannot read the text, which may still be valid YAML.
        SyntaxFaultError: if the text is nested too deeply.
    """
    composer = _Composer if _is_surely_shallow(text) else _GuardedComposer
    parser = composer(text)
    roots: list[Root] = []
    before = 0
    while parser.check_node():
        node = parser.get_node()
        if roots:
            # A document that has a successor ends after its `...`, else at the next `---`.
            before = node_end(text, roots[-1].node)
            if found := _MARKER.search(text, before):
                before = found.end() if found[1] else found.start()
        roots.append(Root(node, before))
    return roots or [Root(None, 0)]


_UNWATCHED = 300_000
"""The most characters of shallow text to read without checking the time; that takes a tenth of a second."""

_INDENT = 60
# What may precede a block collection on its line: the starts of the collections around it, at most two in a column.
_DEEP = rf"(?:[ \t]|[-?:](?=[ \t])){{{_INDENT}}}"
_DEEP_START = _DEEP
_MAY_BE_DEEP = re.compile(rf"\n[ \t?:-]{{{_INDENT}}}")  # each deep line, and a ruler; it takes a tenth of the time
_DEEP_LINE = rf"\n{_DEEP}"
_DEEP_ODD_LINE = rf"[\r\x85\u2028\u2029]{_DEEP}"

_PLAIN = r"""(?>(?:[^\[\]{}"'#,:\r\n]|:(?![ ]))*)"""
_ITEM = rf"""(?:"[^"\\\r\n]*"|{_PLAIN})"""
# A flow collection on one line without others in it, as nearly all are. Text that only looks like one does no harm:
# matching it only removes opening brackets.
_INNERMOST = rf"(?>[\[{{][ ]*){_ITEM}(?:(?>,[ ]*|:[ ]+){_ITEM})*[ ]*[\]}}]"


def _is_surely_shallow(text: str) -> bool:
    """Return whether a text certainly does not nest too deeply, judging by brackets, dashes and indents."""
    brackets = text.count("[") + text.count("{")
    if brackets + sum(map(text.count, "-:?")) < MAX_DEPTH:
        return True
    if (
        len(text) > _UNWATCHED
        or re.match(_DEEP_START, text)
        or (_MAY_BE_DEEP.search(text) and re.search(_DEEP_LINE, text))
    ):
        return False
    if ("\r" in text or not text.isascii()) and re.search(_DEEP_ODD_LINE, text):
        return False
    most = MAX_DEPTH - 2 * _INDENT - 2
    return brackets < most or brackets - len(re.findall(_INNERMOST, text)) < most - 1


_MARKER = re.compile(r"(?:^|(?<=\r))(?:---|(\.\.\.))(?=\s|\Z)", re.MULTILINE)
