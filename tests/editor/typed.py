"""A text as it is typed: its state in the server, its hints, what is offered at the `¦` in it, and what is taken."""

from editor import apply_edits, units
from lsprotocol import types

from rubric_lint.editor.answers.completion import complete
from rubric_lint.editor.answers.scores import make_hints
from rubric_lint.editor.server.analysis import State, analyse
from rubric_lint.editor.server.positions import DocumentText
from rubric_lint.editor.server.workspace import EditorOptions
from rubric_lint.lint.project.settings import SettingsFinder
from rubric_lint.source.source import Span


def state_of(text, name="/a.yaml", encoding="utf-16"):
    settings = SettingsFinder(isolated=True).for_file(name)
    return State(f"file://{name}", name, "yaml", 1, DocumentText.of(text, encoding), settings)


def offer(text, *, name="/a.rubric.yaml", encoding="utf-16"):
    """What is offered at the `¦`, by its label."""
    before, _, after = text.partition("¦")
    state = state_of(before + after, name, encoding)
    line = before.rpartition("\n")[2].encode(f"{encoding}-le" if encoding != "utf-8" else encoding)
    position = types.Position(before.count("\n"), len(line) // (int(encoding[4:]) // 8))
    return {item.label: item for item in complete(state, position)}


def take(text, item):
    """The text after an offer is taken as it is."""
    return apply_edits(text.replace("¦", ""), [item.text_edit])


def shown(text, name="/a.yaml", within=None, encoding="utf-16", **options):
    """The text with its hints in guillemets, where an editor shows them."""
    place = within or Span(0, len(text))
    return insert(text, make_hints(analyse(state_of(text, name, encoding)), place, EditorOptions(**options)), encoding)


def insert(text, hints, encoding="utf-16"):
    lines = text.split("\n")
    for hint in reversed(hints):
        line = lines[hint.position.line]
        at = [units(line[:end], encoding) for end in range(len(line) + 1)].index(hint.position.character)
        label = f"{' ' * bool(hint.padding_left)}«{hint.label}»{' ' * bool(hint.padding_right)}"
        lines[hint.position.line] = line[:at] + label + line[at:]
    return "\n".join(lines)
