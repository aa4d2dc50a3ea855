"""Find rubrics that are written in the dialects of other systems."""

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.text.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rubric_lint.format.view import Dialect, View
    from rubric_lint.text.document import Document
    from rubric_lint.text.path import Path


_SCORES = ((b"score-",), *((b"score%d" % digit,) for digit in range(10)))
_RUBRIC_KEY = r"""rubric["']?\s*:"""
"""The key `rubric` in YAML or JSON; `score_range` and `weight` would be in most files of our own format too."""


class Family(NamedTuple):
    """The dialects of one module, and the words that show that a text may hold one of them.

    A text that holds such a rubric has at least one of the `signs`, one of the `endings` or a match of `pattern`. An
    ending is a word that does not count as the end of a longer one: `outcome` in `expected_outcome`. In YAML and JSON,
    a file holds all the words of one item of `files_have`; in Python and notebooks, all of `programs_have` and a match
    of `programs_match`; in TOML, all the words of one item of `toml_has`. A family without these is not looked for
    there, and one that is not `in_data` only there.
    """

    module: str
    dialects: tuple[str, ...]
    signs: tuple[str, ...] = ()
    endings: tuple[tuple[str, str], ...] = ()
    pattern: str = ""
    files_have: tuple[tuple[bytes, ...], ...] = ()
    programs_have: tuple[bytes, ...] = ()
    programs_match: bytes = b""
    toml_has: tuple[tuple[bytes, ...], ...] = ()
    in_data: bool = True
    in_yaml: bool = True

    def is_in(self, kind: Kind) -> bool:
        """Return whether files of a kind may hold one of the dialects."""
        if kind is Kind.TOML:
            return bool(self.toml_has)
        if kind.is_program:
            return bool(self.programs_have)
        return self.in_data and (self.in_yaml or kind is not Kind.YAML)

    def may_be_in_program(self, data: bytes) -> bool:
        """Return whether the bytes of a program show that it may hold one of the dialects."""
        words = self.programs_have
        return bool(words) and all(map(data.__contains__, words)) and re.search(self.programs_match, data) is not None

    def may_be_in(self, text: str) -> bool:
        """Return whether the text may hold one of the dialects, so that the module has to be loaded."""
        return (
            any(sign in text for sign in self.signs)
            or any(text.count(word) > text.count(longer) for word, longer in self.endings)
            or (self.pattern != "" and re.search(self.pattern, text) is not None)
        )


# Words are only a reason to load the module: the shape decides whether there is a rubric. Each list of criteria belongs
# to the first family that finds it.
FAMILIES = (
    Family("lightspeed", ("lightspeed",), ("geval:",)),
    Family("confident_ai", ("confident-ai",), ("scoreRange",)),
    Family(
        "ragas",
        ("ragas",),
        pattern="score[-0-9]",
        files_have=_SCORES,
        programs_have=(b"_description",),
        programs_match=rb"score-?[0-9]{1,4}_",
    ),
    Family(
        "deepeval",
        ("deepeval",),
        ("score_range",),
        programs_have=(b"score_range", b"expected_outcome"),
        in_data=False,
    ),
    Family("healthbench", ("healthbench",), ("criterion",)),
    Family("autoevals", ("autoevals",), ("choice_scores",), files_have=((b"choice_scores",),)),
    Family(
        "agentv",
        ("agentv-a3", "agentv-a4", "agentv-a6", "agentv-a7"),
        ("criteria", "llm-rubric", "agent-rubric", "assert"),
        endings=(("outcome", "expected_outcome"), ("min_score", "required_min_score")),
        files_have=(  # criteria as plain texts among assertions
            (b"assert", b"tests"),
            (b"assert", b"criteria", b"input"),
            (b"evaluators", b"criteria", b"input"),
        ),
    ),
    Family(
        "promptfoo",
        ("promptfoo",),
        ("llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "factuality"),
        files_have=((b"assert", b"g-eval"), (b"assert", b"model-graded-closedqa"), (b"assert", b"factuality")),
    ),
    Family("harbor", ("harbor",), ("criterion",), toml_has=((b"criterion", b"description"),), in_data=False),
    Family(
        "harbor_check",
        ("harbor-check",),
        ("guidance",),
        files_have=((b"guidance", b"criteria"),),
        toml_has=((b"guidance", b"criteria"),),
    ),
    Family(
        "verifiers",
        ("verifiers",),
        ("choices", "weight"),
        files_have=((b'"choices"', b'"text"', b'"name"'), (b'"criteria"', b'"text"', b'"weight"', b'"name"')),
        toml_has=((b"criteria", b"text", b"name"),),
        in_yaml=False,
    ),
    Family("adk", ("adk",), ("rubric_id", "rubricId")),
    Family("pydantic_evals", ("pydantic-evals",), ("LLMJudge",), files_have=((b"LLMJudge",),)),
    Family("deepeval_data", ("deepeval-data",), pattern=_RUBRIC_KEY),
    Family("rar", ("rar",), pattern=_RUBRIC_KEY),
    Family("swe_atlas", ("swe-atlas",), ("annotations",), files_have=((b"importance", b"annotations"),)),
    Family(
        "requirement",
        ("requirement",),
        ('requirement"', "requirement:"),
        files_have=((b"weight", b'requirement"'), (b"weight", b"requirement:")),
    ),
    Family("trpc_agent", ("trpc-agent",), ("llmJudge",)),
    Family("paperbench", ("paperbench",), ("sub_tasks",), files_have=((b"sub_tasks", b"requirements"),)),
    Family("tolokaforge", ("tolokaforge",), ("llm_judge",)),
    Family("openai_evals", ("openai-evals",), ("choice_strings",)),
    Family(
        "openai_graders",
        ("openai-graders",),
        ("label_model", "score_model"),
        files_have=((b"label_model",), (b"score_model",)),
    ),
)

DIALECTS: tuple[str, ...] = tuple(name for family in FAMILIES for name in family.dialects)
"""The names of all dialects."""


def load_dialect(name: str) -> "Dialect":
    """Return the dialect of this name."""
    module = next(family.module for family in FAMILIES if name in family.dialects)
    dialects: tuple[Dialect, ...] = import_module(f"rubric_lint.dialects.{module}").DIALECTS
    return next(dialect for dialect in dialects if dialect.name == name)


def find_unread_forms(document: "Document", taken: "set[Path]", *, of_agentv: bool) -> "list[tuple[Path, str]]":
    """Find rubrics in known forms that are not linted, each with a message; see `unread`."""
    if document.kind.is_program:
        from rubric_lint.dialects.search.computed import find_computed  # noqa: PLC0415  (most files are no programs)

        return list(find_computed(document, taken))
    text = document.quick_text
    if not any(sign in text for sign in _SIGNS_OF_FORMS):
        return []
    from rubric_lint.dialects.search.unchecked_forms import find_unread  # noqa: PLC0415  (most files have no assertions)

    return list(find_unread(document, taken, of_agentv=of_agentv))


_SIGNS_OF_FORMS = ("assert", "llm-rubric", "agent-rubric", "calculate_output")


def may_have_views(text: str, kind: Kind) -> bool:
    """Return whether a text has words of a dialect that its kind of file may hold."""
    return any(family.is_in(kind) and family.may_be_in(text) for family in FAMILIES)


def find_families(text: str, kind: Kind) -> list[Family]:
    """Return the families of which a text has words."""
    return [family for family in FAMILIES if family.is_in(kind) and family.may_be_in(text)]


def find_views(document: "Document", families: "Iterable[Family]") -> list["View"]:
    """Find the rubrics of a document that are written in dialects of some families, in the order of the dialects."""
    found: dict[Path, View] = {}
    for family in families:
        for view in import_module(f"rubric_lint.dialects.{family.module}").find(document):
            found.setdefault(view.path, view)
    return list(found.values())
