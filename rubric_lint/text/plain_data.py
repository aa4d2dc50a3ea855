"""Convert node trees to plain data: dict, list, str, number, bool and None, by the YAML 1.2 core schema."""

from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_lint.text.scalar import NON_SPECIFIC, SPECIAL_STARTS, read_plain, resolve
from rubric_lint.text.tree import UNTAGGED, AliasNode, node_end, node_start

_RESOLVING_TAGS = (":int", ":float", ":bool", ":null")
MERGE = "<<"


class Repeated(NamedTuple):
    """A duplicate key: the mapping, the key as text, both key nodes, and the overridden value."""

    mapping: MappingNode
    key: str
    first: Any
    second: Any
    shadowed: Any


class Reader:
    """A reader of the nodes of one text as plain data. An alias is the same object as its anchor's value.

    `repeated` are the duplicate keys; `is_ambiguous` says that YAML 1.1 readers read a scalar differently,
    `has_long_decimals` that a float may not equal the decimal as written. `merging` are the mappings with fields from
    merge keys, as data.
    """

    def __init__(self, text: str, *, has_aliases: bool) -> None:
        self.text = text
        self.has_aliases = has_aliases
        self.repeated: list[Repeated] = []
        self.is_ambiguous = False
        self.has_long_decimals = False
        self.merging: dict[MappingNode, dict[str, Any]] = {}
        self.inherited: dict[Any, dict[str | int, Any]] = {}  # what merge keys bring in too, by mapping node
        self._made: dict[Any, Any] = {}  # collections by node, for aliases
        self._earlier: dict[Any, dict[Any, Any]] = {}  # keys by mapping node, for those that they repeat

    def read(self, node: Any) -> Any:
        """Return the value of a node; recursive, as trees are at most `MAX_DEPTH` deep."""
        kind = type(node)
        if kind is ScalarNode:
            return self._read_scalar(node)
        if kind is MappingNode:
            return self._read_mapping(node)
        if kind is SequenceNode:
            return self._read_sequence(node)
        if kind is AliasNode:
            target = node.target
            return self._made[target] if target in self._made else self.read(target)
        return None

    def _read_scalar(self, node: Any) -> Any:
        if node.ctag is not UNTAGGED:
            return self._read_tagged(node)
        value = node.value
        return self._read_special(node) if not node.style and value[:1] in SPECIAL_STARTS else value

    def _read_sequence(self, node: Any) -> list[Any]:
        read = self.read
        found = [
            child.value
            if type(child) is ScalarNode
            and child.ctag is UNTAGGED
            and (child.style or child.value[:1] not in SPECIAL_STARTS)
            else read(child)
            for child in node.value
        ]
        if self.has_aliases:
            self._made[node] = found
        return found

    def _read_special(self, node: Any) -> Any:
        value, ambiguity = read_plain(node.value)
        start = node.start_mark.index
        if self.text[start : start + 1] in ("&", "!") and NON_SPECIFIC.match(self.text, start):
            return node.value
        if ambiguity is not None:
            self.is_ambiguous = True
        if type(value) is float and str(value) != node.value:
            self.has_long_decimals = True
        return value

    def _read_tagged(self, node: Any) -> Any:
        if not str(node.ctag).endswith(_RESOLVING_TAGS):
            return node.value
        self.has_long_decimals = True
        return resolve(node.value)

    def _read_mapping(self, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merges: list[Any] = []
        read = self.read
        for key_node, child in node.value:
            key = key_node.value if type(key_node) is ScalarNode else self.name_key(key_node)
            # Most values are strings; a function call for each would double the time.
            if type(child) is ScalarNode and child.ctag is UNTAGGED:
                value = child.value
                if not child.style and value[:1] in SPECIAL_STARTS:
                    value = self._read_special(child)
            else:
                value = read(child)
                if key == MERGE and is_merge(key_node, child):
                    merges += value if type(value) is list else [value]
                    continue
            if key in found and not _names_merge(key_node):
                self._note_repeated(node, key, key_node, found[key])
            found[key] = value
        if merges:
            self.merging[node] = found
            for base in merges:
                for key, value in base.items():
                    found.setdefault(key, value)
        if self.has_aliases:
            self._made[node] = found
        return found

    def _note_repeated(self, node: Any, key: str, second: Any, shadowed: Any) -> None:
        earlier = self._earlier.get(node)
        if earlier is None:
            earlier = self._earlier[node] = dict(self._find_earlier(node))
        self.repeated.append(Repeated(node, key, earlier.get(second, second), second, shadowed))

    def _find_earlier(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield each key of a mapping that repeats one, with the last one above it that it repeats."""
        last: dict[str, Any] = {}
        for key, _ in node.value:
            name = self.name_key(key)
            if name in last:
                yield key, last[name]
            last[name] = key

    def name_key(self, node: Any) -> str:
        """Return the text of a key: of a scalar, of the string behind an alias, or else its source text."""
        if type(node) is ScalarNode:
            return node.value  # type: ignore[no-any-return]
        if type(node) is AliasNode and type(node.target) is ScalarNode and type(self.read(node.target)) is str:
            return node.target.value  # type: ignore[no-any-return]
        start = node.start_mark.index if type(node) is AliasNode else node_start(self.text, node)
        return self.text[start : node_end(self.text, node)]


def walk_mappings(
    root: Any, without: Container[tuple[str | int, ...]] = (), *, is_backward: bool = False
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield every mapping of plain data once, in order, with the path that leads there first.

    What is at the paths `without` is left out; the caller may add to them on the way. With `is_backward`, what comes
    last in a mapping or list is first.
    """
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    seen: set[int] = set()  # aliases repeat the same object
    while stack:
        path, value = stack.pop()
        if id(value) in seen or path in without:
            continue
        seen.add(id(value))
        below: list[tuple[tuple[str | int, ...], Any]] = []
        if type(value) is dict:
            yield path, value
            below = [
                ((*path, key), child) for key, child in value.items() if type(child) is dict or type(child) is list
            ]
        elif type(value) is list:
            below = [
                ((*path, index), child)
                for index, child in enumerate(value)
                if type(child) is dict or type(child) is list
            ]
        stack += below if is_backward else reversed(below)


def _names_merge(key: Any) -> bool:
    """Return whether a key is a plain `<<`, which a mapping may have several times."""
    return type(key) is ScalarNode and key.value == MERGE and not key.style and key.ctag is UNTAGGED


def is_merge(key: Any, value: Any) -> bool:
    """Return whether a pair of nodes is a merge key: a plain `<<` with a mapping, or with a list of mappings."""
    if not _names_merge(key):
        return False
    value = value.target if type(value) is AliasNode else value
    if type(value) is SequenceNode:
        items = [item.target if type(item) is AliasNode else item for item in value.value]
        return bool(items) and all(type(item) is MappingNode for item in items)
    return type(value) is MappingNode
