"""The hints of an editor, written into the text."""

from editor import units
from typed import state_of

from rubric_lint.editor.answers.scores import make_hints
from rubric_lint.editor.server.analysis import analyse
from rubric_lint.editor.server.workspace import EditorOptions
from rubric_lint.source.source import Span


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
