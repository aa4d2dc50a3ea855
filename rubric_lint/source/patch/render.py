"""Write changed data: what is kept is copied with its comments, what moved is indented anew, the rest is new."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.nodes import ScalarNode

from rubric_lint.source.lines import new_line, without_comments
from rubric_lint.source.patch.layout import Layout, LayoutEntry, Layouts, is_block
from rubric_lint.source.patch.pieces import TextPiece, copy, shift_lines
from rubric_lint.source.patch.plan import ChangePlan, UnwritableError, find_within, is_alike
from rubric_lint.source.patch.style import DocumentStyle, find_style
from rubric_lint.source.patch.tracked import Origin, is_in_brackets
from rubric_lint.source.source import Span
from rubric_lint.source.tree import items_of

_PLAIN = r"""[^\s,\[\]{}#&*!|>'"%@`:?-][^,\[\]{}#:\r\n]*"""
_QUOTED = r""" "[^"\\\r\n]*"|'[^'\r\n]*' """.strip()
_FITS_BRACKETS = re.compile(rf"[\[{{*]|(?:{_PLAIN}|{_QUOTED})\Z")
_ANCHOR = re.compile(r"(?:^|[\s\[{,:])&[^\s,\[\]{}]", re.MULTILINE)
_BLANK_END = re.compile(r"(?<![ \t])[ \t]++(?=\r?\n)")


NOTHING = TextPiece("")


@dataclass(slots=True, eq=False)
class EntryMatch:
    """A new field or item: its key, its value, and the old entry whose text it keeps, if any.

    `old` is the value of that entry, and `is_kept` says that it stays as it is. `donor` is the entry whose place it
    takes, with the comments above; it is another one where a collection was put around an old value, or taken away.
    `neighbor` is an old entry in the same collection, whose style a new one has.
    """

    step: str | int
    value: Any
    entry: LayoutEntry | None = None
    old: Any = None
    donor: LayoutEntry | None = None
    is_kept: bool = False
    neighbor: LayoutEntry | None = None

    @property
    def key(self) -> str | None:
        """The key of a field; None for an item."""
        return self.step if isinstance(self.step, str) else None

    @property
    def kept_head(self) -> LayoutEntry | None:
        """The old entry, if it is of the same kind: a field of a block or an item of one."""
        entry = self.entry
        is_alike = entry is not None and not entry.is_flow and (entry.key is None) == (self.key is None)
        return entry if is_alike else None


@dataclass(slots=True, eq=False)
class EntryLines:
    """The lines of a new field or item: the blank ones above, the comments above, its indentation, and the rest.

    `lead_column` is the indentation of the comments; it is smaller than `column` where they come above a dash.
    """

    column: int
    lead_column: int
    indent: TextPiece
    entry: LayoutEntry | None = None
    gap: TextPiece = NOTHING
    lead: list[TextPiece] = field(default_factory=list)
    body: list[TextPiece] = field(default_factory=list)


class Renderer:
    """Writes the new data of one document as pieces of the new text."""

    def __init__(self, layouts: Layouts, plan: ChangePlan) -> None:
        self._document = layouts.document
        self._text = layouts.document.source.text
        self._plan = plan
        self._layouts = layouts
        self._known: dict[Any, Layout] = {}
        self._led: set[LayoutEntry] = set()
        self._is_copying = False
        self._new_line = TextPiece(new_line(layouts.document))

    @property
    def style(self) -> DocumentStyle:
        """How the document is written; found out once something new is to be written."""
        return find_style(self._layouts)

    def _layout(self, origin: Origin) -> Layout:
        if origin.home not in self._known:
            self._known[origin.home] = self._layouts.of_tracked(origin)
        return self._known[origin.home]

    def render(self, value: Any) -> tuple[list[TextPiece], Span]:
        """Return the pieces of the new text of the root, and the span of the old text that they replace."""
        origin = self._plan.root
        if self._document.root is None:
            raise UnwritableError("the document is empty; write its first value by hand", ())
        if origin is None or not isinstance(value, dict | list):
            raise UnwritableError("a document that is not a mapping or a list cannot be rewritten", ())
        layout = self._layout(origin)
        heir = self._plan.claim(value, origin)
        if layout.is_flow:
            margin = layout.column if self._may_have_lines(origin) else None
            return self._flow(value, heir, margin, 0), Span(layout.start, layout.end)
        if heir is None or heir is not origin:
            raise UnwritableError("the whole document would be written anew; write it by hand", ())
        if value:
            lines = self._block(value, heir, layout.column, layout.column)
            is_inline = layout.is_inline and layout.start == layout.entries[0].start
            if is_inline and lines[0].lead:
                raise UnwritableError("a comment would come between a dash and its first key; move it", origin.path)
            pieces = self._join_lines(lines, is_inline=is_inline)
        elif origin.parent is not None:
            raise UnwritableError("nothing would be left of it; remove it by hand", origin.path)
        else:
            pieces = [*self._flow(value, heir, 0, 0), self._new_line]
        return pieces, Span(layout.start, layout.end)

    def render_copy(self, value: Any) -> list[TextPiece]:
        """Return the pieces of a copy of the whole document, whose lines follow others."""
        origin = self._plan.origin(value)
        with self._copying(is_copy=True):
            if origin is not None and is_block(origin.node):
                return self._join_lines(self._block(value, origin, 0, 0))
            return [*self._flow(value, origin, 0, 0), self._new_line]

    def _may_have_lines(self, origin: Origin) -> bool:
        """Return whether the brackets around a part, if any, have their entries on lines of their own."""
        if origin.parent is None or is_block(origin.parent.node):
            return True
        around = self._layouts.of(origin.parent.node)
        return "\n" in self._text[around.start : around.entries[0].start]

    # The children of a collection.

    def _match(self, value: Any, layout: Layout | None) -> list[EntryMatch]:
        """Return the new children of a collection, with the old entries that they keep or replace."""
        matches: list[EntryMatch] = []
        following = 0
        neighbor = layout.entries[-1] if layout is not None and layout.entries else None
        for step, child in items_of(value):
            match = EntryMatch(step, child, neighbor=neighbor)
            former = getattr(value, "renamed", {}).get(step, step)
            self._find_own(match, former, layout)
            if match.entry is None and layout is not None:
                place = following if layout.is_list else former
                self._find_replaced(match, place, layout)
            match.is_kept = match.is_kept or (match.entry is not None and self._plan.is_kept(child, match.old))
            match.donor = match.entry
            if layout is not None and (match.entry is None or match.entry.owner is not layout.home):
                match.donor = self._find_donor(child, layout) or match.entry
            if match.donor is not None and layout is not None and match.donor.owner is layout.home and layout.is_list:
                following = int(match.donor.step) + 1
            matches.append(match)
        return matches

    def _find_own(self, match: EntryMatch, former: str | int, layout: Layout | None) -> None:
        """Find the entry from which a tracked value comes: the one in its place, if it is written in several."""
        origin = self._plan.origin(match.value)
        if origin is None or origin.parent is None:
            return
        here = layout.by_step.get(former) if layout is not None else None
        if layout is not None and here is not None and here.target is origin.node and here.is_copy is origin.is_copy:
            match.entry, match.old = here, layout.value(here)
            match.is_kept = here.is_alias and isinstance(match.value, dict | list)
            return
        home = self._layout(origin.parent)
        if home.unusual:
            raise UnwritableError(home.unusual, origin.path)
        match.entry = home.by_step[origin.step]
        match.old = home.value(match.entry)

    def _find_replaced(self, match: EntryMatch, former: str | int, layout: Layout) -> None:
        """Find the entry whose value a new one replaces, unless that value stays elsewhere."""
        entry = layout.by_step.get(former)
        if entry is not None and (entry.owner, entry.step) not in self._plan.kept:
            match.entry, match.old = entry, layout.value(entry)

    def _find_donor(self, value: Any, layout: Layout) -> LayoutEntry | None:
        """Find the entry of a collection in whose place a value is: one that it comes from, or that it has in it."""
        origin = self._plan.origin(value)
        inner = origin
        if inner is not None and inner.is_copy:
            return None
        while origin is not None and origin.parent is not None:
            if origin.parent.home is layout.home:
                is_free = origin is inner or origin.place not in self._plan.kept
                return layout.by_step.get(origin.step) if is_free else None
            origin = origin.parent
        if inner is None and isinstance(value, dict | list):
            for _, child in items_of(value):
                found = self._find_donor(child, layout)
                if found is not None:
                    return found
        return None

    # Blocks, line by line.

    def _block(self, value: Any, heir: Origin | None, column: int, lead_column: int) -> list[EntryLines]:
        """Return the lines of a block collection; the comments above the first entry are indented by `lead_column`."""
        layout = self._layout(heir) if heir is not None and is_block(heir.node) else None
        if layout is not None and self._plan.is_unchanged(value):
            first = layout.entries[0]
            lines = self._begin([first], column, lead_column)
            lines.body = [self._copy(first.start, layout.end, column - layout.column), self._end_line(layout.end)]
            return [lines]
        if layout is not None and layout.unusual:
            raise UnwritableError(layout.unusual, layout.path)
        matches = self._match(value, layout)
        entries = [self._write_entry(match, column, column if at else lead_column) for at, match in enumerate(matches)]
        if layout is not None:
            self._set_gaps(entries, layout)
            self._keep_comments(entries, matches, layout)
        return entries

    def _begin(self, donors: list[LayoutEntry | None], column: int, lead_column: int) -> EntryLines:
        """Return the start of the lines of an entry, with the comments above those whose place it takes."""
        lines = EntryLines(column, lead_column, TextPiece(" " * column))
        for donor in donors:
            if donor is None or donor.is_flow or donor in self._led:
                continue
            if not donor.is_copy:
                self._led.add(donor)
            lines.entry = lines.entry or donor
            line = self._layouts.line_start(donor.start)
            if donor.lead > line:  # it shares its line with a dash
                continue
            lines.lead.append(self._copy(donor.lead, line, lead_column - donor.column, from_line=True))
            if lines.entry is donor:
                lines.gap = self._copy(donor.first, donor.lead)
                if column == donor.column == donor.start - line:
                    lines.indent = self._copy(line, donor.start)
        return lines

    def _write_entry(self, match: EntryMatch, column: int, lead_column: int) -> EntryLines:
        """Return the lines of a field or item."""
        with self._copying(is_copy=match.entry is not None and match.entry.is_copy):
            lines = self._begin([match.donor, match.entry], column, lead_column)
            head, heir = match.kept_head, self._find_heir(match)
            if head is not None and match.is_kept and match.key in (None, head.step):
                lines.body = [self._copy(head.start, head.end, column - head.column), self._end_line(head.end)]
            elif self._has_lines(match, heir):
                self._write_lines(match, heir, lines)
            else:
                lines.body = self._write_inline(match, heir, column)
        return lines

    def _find_heir(self, match: EntryMatch) -> Origin | None:
        if not isinstance(match.value, dict | list):
            return None
        return self._plan.claim(match.value, getattr(match.old, "origin", None))

    def _has_lines(self, match: EntryMatch, heir: Origin | None) -> bool:
        """Return whether a value is written over lines of its own."""
        if not isinstance(match.value, dict | list) or not match.value:
            return False
        is_alias = match.is_kept and match.entry is not None and match.entry.is_alias
        if is_alias or is_in_brackets(match.value):
            return False
        if heir is not None and heir.node.value:
            return is_block(heir.node)
        around: Any = match.neighbor.target if match.neighbor is not None else None
        is_like_neighbor = match.key is None and is_alike(match.value, around) and bool(around.value)
        return is_block(around) if is_like_neighbor else match.key not in self.style.flow_keys

    def _write_inline(self, match: EntryMatch, heir: Origin | None, column: int) -> list[TextPiece]:
        """Return a field or item whose value begins on its line, with the comments behind and below it."""
        head, entry = match.kept_head, match.entry
        shift = column - entry.column if entry is not None else 0
        value = self._write_value(match, heir, column, shift, is_block=True)
        if head is None or head.has_lines:
            start, tail = self._write_head(match, None, 0, 0), [self._new_line]
            if entry is not None and not entry.is_flow:
                tail = [self._copy(*entry.comment), self._new_line, *self._copy_below(entry, shift)]
        else:
            start = self._write_head(match, head, head.value, shift)
            tail = [self._copy(head.stop, head.end, shift), self._end_line(head.end)]
        if any(piece.text for piece in value) and not start[-1].text.endswith((" ", "\n")):
            start.append(TextPiece(" "))
        return [*start, *value, *tail]

    def _copy_below(self, entry: LayoutEntry | None, shift: int) -> list[TextPiece]:
        """Return the comments below an entry."""
        if entry is None or entry.below >= entry.end:
            return []
        return [self._copy(entry.below, entry.end, shift, from_line=True), self._end_line(entry.end)]

    def _write_head(self, match: EntryMatch, head: LayoutEntry | None, end: int, shift: int) -> list[TextPiece]:
        """Return a key or dash: up to `end` as in the old entry, with the new key, if the key has changed."""
        if head is None:
            head_text = "-" if match.key is None else f"{self._write_key(match)}:"
            return [TextPiece(head_text)]
        if match.key is None or match.key == head.step:
            return [self._copy(head.start, end, shift)]
        key = head.key.end_mark.index
        new = self.style.write_key(match.key, self._text[head.start : key])
        return [TextPiece(new), self._copy(key, end, shift)]

    def _write_key(self, match: EntryMatch) -> str:
        """Return the text of a new key, in the quotes of its neighbor."""
        quote = self._text[match.neighbor.start] if match.neighbor is not None else ""
        return self.style.write_key(match.key or "", quote)

    def _write_lines(self, match: EntryMatch, heir: Origin | None, lines: EntryLines) -> None:
        """Write a field or item whose value is a block collection."""
        head = match.kept_head
        if head is not None and head.has_lines and heir is not None and heir.node is head.target:
            self._write_kept_lines(match, head, heir, lines)
            return
        entry, column = match.entry, lines.column
        properties = comment = NOTHING
        if entry is not None and not entry.is_flow:
            comment = self._copy(*entry.comment)
            is_same = heir is not None and heir.node is entry.target
            properties = self._copy(*entry.properties) if is_same else NOTHING
        shift = column - entry.column if entry is not None else 0
        below = self._copy_below(entry, shift)
        if match.key is None and entry is not None and comment.text.strip():
            lines.lead += [TextPiece(" " * lines.lead_column), self._trim(entry.comment), self._new_line]
            comment = NOTHING
        if match.key is None and not properties.text:
            inner = self._block(match.value, heir, column + 2, lines.lead_column)
            lines.lead += inner[0].lead
            lines.body = [TextPiece("- "), *self._join_lines(inner, is_inline=True), *below]
            return
        indent = self.style.item_indent if isinstance(match.value, list) else self.style.field_indent
        indent = 2 if match.key is None else indent
        inner = self._block(match.value, heir, column + indent, column + indent)
        start = [*self._write_head(match, None, 0, 0), properties, comment, self._new_line]
        lines.body = [*start, *self._join_lines(inner), *below]

    def _write_kept_lines(self, match: EntryMatch, head: LayoutEntry, heir: Origin, lines: EntryLines) -> None:
        """Write a field or item whose value was a block collection in the same place before."""
        shift = lines.column - head.column
        column = self._layout(heir).column + shift
        is_inline = head.value > self._layouts.line_start(head.value)
        lead_column = lines.lead_column if is_inline else column
        inner = self._block(match.value, heir, column, lead_column)
        below = self._copy_below(head, shift)
        if is_inline:
            lines.lead += inner[0].lead
        start = self._write_head(match, head, head.value, shift)
        lines.body = [*start, *self._join_lines(inner, is_inline=is_inline), *below]

    def _join_lines(self, lines: list[EntryLines], *, is_inline: bool = False) -> list[TextPiece]:
        """Return the pieces of lines; with `is_inline`, the first is the rest of a line."""
        pieces: list[TextPiece] = []
        for number, entry in enumerate(lines):
            if number or not is_inline:
                pieces += [entry.gap, *entry.lead, entry.indent]
            pieces += entry.body
        return pieces

    def _set_gaps(self, lines: list[EntryLines], layout: Layout) -> None:
        """Keep the blank lines where another entry is the first one now, and put the usual ones above new ones."""
        first = layout.entries[0]
        top = self._text[first.first : first.lead]
        swapped = TextPiece(layout.gap)
        above: LayoutEntry | None = None
        for number, entry in enumerate(lines):
            is_first = entry.entry is first
            is_own = entry.entry is not None and entry.entry.owner is layout.home
            if number == 0 and not is_first:
                if is_own:
                    swapped = entry.gap
                entry.gap = TextPiece(top)
            elif number and is_first:
                entry.gap = swapped
            elif number and not is_own:
                entry.gap = TextPiece(layout.gap)
            if entry.gap.text and above is not None and self._layouts.keeps_blank_lines(above.node):
                entry.gap = NOTHING
            above = entry.entry

    def _keep_comments(self, lines: list[EntryLines], matches: list[EntryMatch], layout: Layout) -> None:
        """Keep the comments of entries that are no more, each on a line of its own, where the entry was."""
        used = {match.entry for match in matches}
        by_entry = {line.entry: line for line in lines if line.entry is not None}
        pending: list[LayoutEntry] = []
        for entry in layout.entries:
            is_gone = entry not in used and (layout.home, entry.step) not in self._plan.kept and not entry.is_copy
            if entry not in by_entry:
                pending += [entry] if is_gone else []
                continue
            column, lead = by_entry[entry].lead_column, by_entry[entry].lead
            above: list[TextPiece] = []
            for gone in pending:
                above += self._list_comments(gone, column, has_lead=True)
            behind = self._list_comments(entry, column) if is_gone else []
            lead[:] = [*above, *lead[:1], *behind, *lead[1:]]
            pending = []
        for gone in pending:
            lines[-1].body += self._list_comments(gone, lines[-1].column, has_lead=True)

    def _list_comments(self, entry: LayoutEntry, column: int, *, has_lead: bool = False) -> list[TextPiece]:
        """Return the comments on the line of an entry and below it as lines, and with `has_lead` those above it."""
        shift, line = column - entry.column, self._layouts.line_start(entry.start)
        pieces = [self._copy(entry.lead, line, shift, from_line=True)] if has_lead else []
        if self._text[slice(*entry.comment)].strip():
            pieces += [TextPiece(" " * column), self._trim(entry.comment), self._new_line]
        return [*pieces, *self._copy_below(entry, shift)]

    def _trim(self, comment: Span) -> TextPiece:
        """Return a comment without the blanks around it."""
        text = self._text[slice(*comment)]
        start = comment.start + len(text) - len(text.lstrip())
        return self._copy(start, start + len(text.strip()))

    # Values on the line of their key, and between brackets.

    def _write_value(
        self, match: EntryMatch, heir: Origin | None, column: int | None, shift: int, *, is_block: bool
    ) -> list[TextPiece]:
        """Return a value that begins on the line of its key, in a block or between brackets."""
        entry, old = match.entry, None
        if entry is not None:
            fits = is_block or entry.is_flow or _FITS_BRACKETS.match(self._text[entry.value : entry.stop])
            if fits and not entry.has_lines and match.is_kept:
                return [self._copy(entry.value, entry.stop, shift)]
            old = entry.target
        if isinstance(match.value, dict | list):
            pieces = self._flow(match.value, heir, column, shift)
            if entry is not None and heir is not None and heir.node is entry.target and not entry.has_lines:
                pieces.insert(0, self._copy(entry.value, self._layout(heir).start))  # an anchor or a tag
            return pieces
        may_have_lines = is_block and (entry is None or not self._text[slice(*entry.comment)].strip())
        quotes = old.style or "" if type(old) is ScalarNode else ""
        own_column = column if may_have_lines else None
        return [TextPiece(self.style.write_scalar(match.value, quotes, own_column))]

    def _flow(self, value: Any, heir: Origin | None, margin: int | None, shift: int) -> list[TextPiece]:
        """Return a collection in brackets; `margin` is the indentation of its line, None if all around is on one."""
        layout = self._layout(heir) if heir is not None and not is_block(heir.node) else None
        if layout is not None and self._plan.is_unchanged(value):
            return [self._copy(layout.start, layout.end, shift)]
        if layout is not None and layout.unusual:
            raise UnwritableError(layout.unusual, layout.path)
        matches = self._match(value, layout)
        if layout is not None and self._has_same_places([match.entry for match in matches], layout):
            return self._fill(matches, layout, shift)
        return self._rebuild(value, matches, layout, margin, shift)

    def _has_same_places(self, entries: list[LayoutEntry | None], layout: Layout) -> bool:
        """Return whether the entries are the old ones, maybe in another order if no comment is about one of them."""
        if entries == layout.entries:
            return True
        has_comments = bool(find_within(self._document.tree.comments, Span(layout.start, layout.end)))
        return not has_comments and len(entries) == len(layout.entries) and {*entries} == {*layout.entries}

    def _fill(self, matches: list[EntryMatch], layout: Layout, shift: int) -> list[TextPiece]:
        """Write entries of a flow collection in the places of the old ones, and leave everything between as it is."""
        pieces, at = [], layout.start
        first = layout.entries[0].start if layout.entries else layout.end
        has_lines = "\n" in self._text[layout.start : first]
        for match, entry in zip(matches, layout.entries, strict=True):
            margin = entry.column + shift if has_lines else None
            pieces += [self._copy(at, entry.start, shift), *self._write_member(match, margin)]
            at = entry.stop
        return [*pieces, self._copy(at, layout.end, shift)]

    def _rebuild(
        self, value: Any, matches: list[EntryMatch], layout: Layout | None, margin: int | None, shift: int
    ) -> list[TextPiece]:
        """Write a flow collection with other entries, separated as before, or as others in the document."""
        if layout is not None and layout.entries:
            opening, comma, closing = self._read_separators(layout.whole or layout, shift)
            inner = layout.entries[0].column + shift
        else:
            opening, comma, closing = self._make_separators(value, margin)
            inner = (margin or 0) + len(self.style.indent or "")
        if not matches:
            return [TextPiece(opening[0] + closing[-1])]
        has_lines, first, last = "\n" in opening, TextPiece(opening), TextPiece(closing)
        if layout is not None and layout.is_part:
            first = last = NOTHING
        elif layout is not None and layout.entries:
            first = self._keep(opening, Span(layout.start, layout.entries[0].start))
            last = self._keep(closing, Span(layout.entries[-1].stop, layout.end))
        pieces: list[TextPiece] = []
        for number, match in enumerate(matches):
            before = TextPiece(comma) if number else first
            pieces.append(before)
            own_margin = inner if has_lines else None
            pieces += self._write_member(match, own_margin)
        return [*pieces, last]

    def _keep(self, text: str, span: Span) -> TextPiece:
        return self._copy(*span) if self._text[slice(*span)] == text else TextPiece(text)

    def _make_separators(self, value: Any, margin: int | None) -> tuple[str, str, str]:
        """Return the opening bracket, a comma and the closing bracket of a new collection."""
        opening, closing = "[]" if isinstance(value, list) else "{}"
        if self.style.indent is None or margin is None or is_in_brackets(value):
            return opening, self.style.comma, closing
        end = self.style.new_line + self.style.indent[:1] * margin
        return opening + end + self.style.indent, "," + end + self.style.indent, end + closing

    def _read_separators(self, layout: Layout, shift: int) -> tuple[str, str, str]:
        """Return the opening bracket, a comma and the closing bracket with the white space around them."""
        code, entries = self._document.tree.code, layout.entries
        opening = code[layout.start : entries[0].start]
        closing = code[entries[-1].stop : layout.end]
        comma = "," + opening[1:] if "\n" in opening else self.style.comma
        if len(entries) > 1:
            comma = code[entries[0].stop : entries[1].start]
        opening, comma, closing = (_BLANK_END.sub("", shift_lines(part, shift)) for part in (opening, comma, closing))
        return opening, comma, closing

    def _write_member(self, match: EntryMatch, margin: int | None) -> list[TextPiece]:
        """Return a field or item between brackets."""
        entry = match.entry
        shift = margin - entry.column if entry is not None and margin is not None else 0
        with self._copying(is_copy=entry is not None and entry.is_copy):
            value = self._write_value(match, self._find_heir(match), margin, shift, is_block=False)
            if match.key is None:
                return value
            if entry is None or not entry.is_flow or entry.key is None:
                return [TextPiece(self._write_key(match) + self.style.colon), *value]
            head = self._write_head(match, entry, entry.value, shift)
        is_bare = head[-1].text.endswith(":") and not self.style.is_json and any(piece.text for piece in value)
        space = " " if is_bare else ""
        return [*head, TextPiece(space), *value]

    # Copies.

    @contextmanager
    def _copying(self, *, is_copy: bool) -> Iterator[None]:
        """Write a part that is a copy, whose comments stay where they are, or one that is not."""
        around, self._is_copying = self._is_copying, is_copy
        yield
        self._is_copying = around

    def _copy(self, start: int, end: int, shift: int = 0, *, from_line: bool = False) -> TextPiece:
        end = max(start, end)
        if not self._is_copying:
            return copy(self._text, start, end, shift, from_line=from_line)
        if _ANCHOR.search(self._document.tree.code, start, end):
            raise UnwritableError("it holds an anchor, which cannot be copied", self._document.find_path(start))
        return TextPiece(shift_lines(without_comments(self._document, Span(start, end)), shift, from_line=from_line))

    def _end_line(self, at: int) -> TextPiece:
        """Return the line end that an entry needs that ended with the text."""
        is_cut = at == len(self._text) and not self._text.endswith(("\n", "\r"))
        return self._new_line if is_cut else NOTHING
