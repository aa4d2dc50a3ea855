"""Find what an anchor, an alias or a merge key shares, and refuse fixes of it: they would change other places too."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ruamel.yaml.nodes import ScalarNode

from rubric_lint.source.document import Document
from rubric_lint.source.edits.lines import ObstacleError
from rubric_lint.source.path import Path
from rubric_lint.source.source import Kind
from rubric_lint.source.tree import BLOCK_STYLES, AliasNode, walk_nodes

if TYPE_CHECKING:
    from rubric_lint.source.patch import Layouts

_UNUSUAL = re.compile(r"#|(?:^|[\s\[{,])(?:\?(?:\s|$)|!)|\[[^\[\]{}]*:(?:\s|$)")
_ALIAS = re.compile(r"\*([^\s,\[\]{}]+)")


@dataclass(frozen=True)
class AliasGraph:
    """What of a document is used in several places; `rubrics` are the paths of its rubrics.

    `check_apart` refuses to move items of a list to another document, if they, or the items that are left, would not
    be read as a rubric there.
    """

    document: Document
    rubrics: Collection[Path] = ()
    check_apart: Callable[[Path, Sequence[int]], None] = lambda _path, _steps: None

    @cached_property
    def is_plain(self) -> bool:
        """True if nothing in the document can be used in two places or be written twice, and it can be rewritten."""
        document = self.document
        is_data = document.kind is not Kind.TOML and not document.kind.is_program
        return is_data and not (document.may_borrow or document.duplicates or "&" in document.source.text)

    @cached_property
    def is_usual(self) -> bool:
        """True if the text surely has no comments, no tags, no keys after a question mark, no fields in plain brackets.

        Nor are there keys without a value in braces, which may have no colon. Then everything in it can be moved or
        copied. It is looked at once, as many files only have such fixes offered.
        """
        document = self.document
        if _UNUSUAL.search(document.source.text, document.preamble.end):
            return False
        if "{" not in document.source.text or document.kind.is_json:
            return True
        return not any(None in mapping.values() for _, mapping in document.mappings)

    @cached_property
    def layouts(self) -> "Layouts":
        """How the document is laid out, for those who write changed data."""
        from rubric_lint.source.patch import Layouts  # noqa: PLC0415  (most files need it for no fix)

        return Layouts(self.document)

    @cached_property
    def _repeated(self) -> frozenset[tuple[Any, str | int]]:
        """The fields that are written twice, each by its mapping and its key."""
        return frozenset((duplicate.mapping, duplicate.key) for duplicate in self.document.duplicates)

    @cached_property
    def _aliased(self) -> dict[Any, int]:
        """The offset of the first alias of each value that has one, also as a merge key."""
        found: dict[Any, int] = {}
        for node in walk_nodes(self.document.root):
            if type(node) is AliasNode:
                found.setdefault(node.target, node.start_mark.index)
        return found

    def is_plain_key(self, path: Path) -> bool:
        """Return whether the key at `path` is one plain or quoted word, which surely can be renamed."""
        key = self.document.child(path).key
        if type(key) is not ScalarNode or key.style in BLOCK_STYLES:
            return False
        return bool(key.style) or key.value[:1].isalnum() or key.value[:1] == "_"

    def check_field(self, path: Path) -> None:
        """Refuse a field that is written twice.

        Raises:
            ObstacleError: if it is; so do the other checks.
        """
        owner = self.document.child(path).owner
        if (owner, path[-1]) in self._repeated:
            raise ObstacleError(f"`{path[-1]}` is written twice in this mapping; remove one")

    def check_alone(self, path: Path, *, keeps_value: bool = False) -> None:
        """Refuse the value at `path` if it, or what holds it, is used elsewhere too, in a rubric or not.

        If a fix `keeps_value`, it may change the field itself, whatever its value is.
        """
        if not self.document.may_borrow:
            return
        at = self._find_sharer(path, keeps_value=keeps_value)
        if at is not None:
            line, alias = self.document.source.position(at).line, _ALIAS.match(self.document.source.text, at)
            if alias is None:
                raise ObstacleError(f"it is merged from line {line}; replace the merge key there by its fields")
            raise ObstacleError(f"line {line} shares it through `&{alias[1]}`; replace the alias there by a copy")

    def _find_sharer(self, path: Path, *, keeps_value: bool) -> int | None:
        """Return the offset of the first alias or merge key that uses the value at `path`, or one that holds it."""
        document = self.document
        for length in range(1, len(path) + 1):
            part = path[:length]
            child = document.child(part)
            if document.is_merged(part):
                return self._aliased.get(child.owner, document.span(part).start)
            if length == len(path) and keeps_value:
                return None
            if child.node in self._aliased:
                return self._aliased[child.node]
        return None

    def check_covering(self, path: Path) -> None:
        """Refuse to remove or rename a field that overrides one of a merge key, which would then take its place."""
        hidden = self.document.shadowed(path)
        if hidden is not None:
            line = self.document.source.position(self.document.key_start(hidden)).line
            raise ObstacleError(
                f"the `{path[-1]}` of line {line} would take its place, by a merge key; change both by hand"
            )
