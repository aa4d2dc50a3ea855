"""Find rubrics that are written in the dialects of other systems.

Call `could_hold_rubrics` for the bytes of a file, `find_families` for its text and `find_views` for its rubrics. A
family is a module here, or a table that `search.described` reads. A module has `find(document)`, which yields a `View`
for each rubric: its data in the words of version 2, with the place of each part in the document.
"""

import codecs
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from rubric_lint.formats.home_made.vocabulary import FILES, SETS, Containers
from rubric_lint.formats.search.documents import (
    NOTEBOOK,
    could_hold_criteria,
    is_document,
    may_ask_for_scores,
    may_hold_scale,
)
from rubric_lint.formats.search.documents import SUFFIXES as DOCUMENTS
from rubric_lint.source.source import DATA, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rubric_lint.model.view import Dialect, View
    from rubric_lint.source.document import Document
    from rubric_lint.source.path import Path

_SCORES = ((b"score-",), *((b"score%d" % digit,) for digit in range(10)))
_RUBRIC = ('rubric"', "rubric'", "rubric:", "rubric :")
"""The end of the key `rubric` in YAML or JSON; most files of our own format have the other words too."""
JUDGED_TYPES = ("llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "factuality")
"""The types of assertions by which a model judges, in promptfoo and AgentV."""


class Family(NamedTuple):
    """The dialects of one module, or of one table of the same name, and the words that show that a text may hold one.

    A text that holds such a rubric has all the words of one item of `signs`, or a match of `pattern`. In YAML and JSON,
    a file holds all the words of one item of `files_have`; in Python, all of `programs_have` and a match of
    `programs_match`; in TOML, all the words of one item of `toml_has`. A family without these is not looked for there,
    and one that is not `in_data` only there. `names` are those of its dialects, if they differ from that of the module.
    """

    module: str
    signs: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    pattern: str = ""
    files_have: tuple[tuple[bytes, ...], ...] = ()
    programs_have: tuple[bytes, ...] = ()
    programs_match: bytes = b""
    toml_has: tuple[tuple[bytes, ...], ...] = ()
    in_data: bool = True
    in_yaml: bool = True
    is_table: bool = False

    @property
    def dialects(self) -> tuple[str, ...]:
        """The names of the dialects."""
        return self.names or (self.module.replace("_", "-"),)

    def find(self, document: "Document") -> "Iterable[View]":
        """Find the rubrics of a document that are written in these dialects."""
        if self.is_table:
            from rubric_lint.formats.search.described import find  # noqa: PLC0415  (few files hold rubrics of other systems)

            return find(document, self.module)
        return import_module(f"rubric_lint.formats.dialects.{self.module}").find(document)  # type: ignore[no-any-return]

    def is_in(self, kind: Kind) -> bool:
        """Return whether files of a kind may hold one of the dialects."""
        if kind is Kind.TOML:
            return bool(self.toml_has)
        if kind.is_program:
            return bool(self.programs_have)
        return self.in_data and (self.in_yaml or kind is Kind.JSON)


# Words are only a reason to load the module: the shape decides whether there is a rubric. Each list of criteria belongs
# to the first family that finds it. Words that a rubric has together are asked for together, because each of them is
# common in files of other tools, whose mappings would be walked through for nothing.
FAMILIES = (
    Family("lightspeed", (("geval:", "rubrics"),), is_table=True),
    Family("confident_ai", (("scoreRange", "expectedOutcome"),), is_table=True),
    Family(
        "ragas",
        pattern="score[-0-9]",
        files_have=_SCORES,
        programs_have=(b"_description",),
        programs_match=rb"score(?:-?[0-9]{1,4}|\{[^{}]{1,40}\}|%[ds])_",
    ),
    Family(
        "deepeval",
        (("score_range",), ("GEval(", "criteria"), ("GEval(", "evaluation_steps")),
        programs_have=(b"score_range", b"expected_outcome"),
        in_data=False,
    ),
    Family("healthbench", (("criterion", "points", "rubrics"),), is_table=True),
    Family(
        "autoevals",
        (("choice_scores", "prompt"),),
        names=("autoevals", "openai-evals"),
        files_have=((b"choice_scores",),),
    ),
    Family(
        "agent_skills",
        (("evals", "prompt"), ("assertions", "prompt"), ("expectations", "prompt")),
        files_have=tuple((name, b"prompt") for name in (b"expected_output", b"assert", b"expectations", b"evals")),
    ),
    Family(
        "agentv",
        (("llm-rubric",), ("agent-rubric",), ("assert",), ("criteria", "evaluators"), ("criteria", "input")),
        names=("agentv-a3", "agentv-a4", "agentv-a6", "agentv-a7"),
        pattern="outcome(?<!expected_outcome)|min_score(?<!required_min_score)",
        files_have=(  # criteria as plain texts among assertions
            (b"assert", b"tests"),
            (b"assert", b"criteria", b"input"),
            (b"evaluators", b"criteria", b"input"),
        ),
    ),
    Family(
        "promptfoo",
        tuple(("assert", kind) for kind in JUDGED_TYPES),
        files_have=((b"assert", b"g-eval"), (b"assert", b"model-graded-closedqa"), (b"assert", b"factuality")),
    ),
    Family("harbor", (("criterion",),), toml_has=((b"criterion", b"description"),), in_data=False),
    Family(
        "harbor_check",
        (("guidance", "criteria"),),
        files_have=((b"guidance", b"criteria"),),
        toml_has=((b"guidance", b"criteria"),),
        is_table=True,
    ),
    Family(
        "verifiers",
        (("choices", "text", "name"), ("weight", "text", "name")),
        files_have=((b'"choices"', b'"text"', b'"name"'), (b'"criteria"', b'"text"', b'"weight"', b'"name"')),
        toml_has=((b"criteria", b"text", b"name"),),
        in_yaml=False,
        is_table=True,
    ),
    Family("adk", (("rubric_id",), ("rubricId",)), is_table=True),
    Family("pydantic_evals", (("LLMJudge", "evaluators"), ("GEval", "evaluators")), files_have=((b"LLMJudge",),)),
    Family("deepeval_data", tuple((key, "score_range", "expected_outcome") for key in _RUBRIC), is_table=True),
    Family("rar", tuple((key, "title", "description", "weight") for key in _RUBRIC), is_table=True),
    Family(
        "swe_atlas",
        (("annotations", "importance", "title"),),
        files_have=((b"importance", b"annotations"),),
        is_table=True,
    ),
    Family(
        "requirement",
        tuple(("requirement" + end, "weight") for end in ('"', "'", ":", " :")),
        files_have=tuple((b"weight", b"requirement" + end) for end in (b'"', b"'", b":", b" :")),
    ),
    Family("trpc_agent", (("llmJudge",),), is_table=True),
    Family("tessl", (("weighted_checklist",),), files_have=((b"weighted_checklist",),), is_table=True),
    Family(
        "task_rubrics",
        (("is_positive", "criterion"), ("is_positive", "must")),
        files_have=((b"is_positive", b"criterion"), (b"is_positive", b"must")),
        is_table=True,
    ),
    Family(
        "reward_lens",
        (("polarity", "criteria", "text"),),
        files_have=((b"polarity", b"criteria", b"text"),),
        is_table=True,
    ),
    Family("hermes", (("evidence_instructions",),), files_have=((b"evidence_instructions",),), is_table=True),
    Family("ai_rubric", (("is_critical", "children"),), files_have=((b"is_critical", b"children"),), is_table=True),
    Family("paperbench", (("sub_tasks",),), files_have=((b"sub_tasks", b"requirements"),)),
    Family("tolokaforge", (("llm_judge", "criteria"),), is_table=True),
)

AGENTV = next(family for family in FAMILIES if family.module == "agentv")

# Graders of OpenAI by which a model judges are only reported as not read.
_GRADERS = (b"label_model", b"score_model")
_GRADERS_IN_PROGRAMS = re.compile(rb"""["'](?:label|score)_model\\?["']|(?:Label|Model)Grader\(""")

_NAMED_MISSES = (
    (b"model_judge", b"graders"),
    (b"extraction", b"judge", b"prompt"),
    (b"anchors", b"rubric", b"output"),
    (b"dimension", b"dimensions", b"criteria"),
    (b'"criterion_id"', b'"scoring_type"'),
)
"""The words that files have together whose criteria are in a prompt or in several places: see `named_misses`."""

_OUR_SIGNS = (
    *(b"rubric", b"Rubric", b"RUBRIC"),
    *(b"expected_outcome", b"expectedOutcome", b"score_range", b"scoreRange", b"required_min_"),
)
# Criteria of our format as literals of a program or as tables of TOML, where they are only reported as not read.
_OURS_ELSEWHERE = re.compile(
    rb"""(?m)^[ \t]*(?:expected_outcome[ \t]*=[ \t]*["']|score_ranges[ \t]*=[ \t]*[\[{])"""
    rb"""|\[\[?[\w.]+\.score_ranges\]|["'](?:expected_outcome|score_ranges)\\?["'][ \t]*:"""
)
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32-LE begins as UTF-16-LE
_SIGNS_OF_TOML = tuple(words for family in FAMILIES for words in family.toml_has)

# Most files have none of the signs, so what several of them begin with or contain is looked for once.
_CORES_OF_FILES = ("score", "ubric", "xpected")
_CORES = ("llm", "criteri", "choice_", "requirement")


def _core_of(sign: str, cores: tuple[str, ...]) -> str:
    return next((core for core in cores if core in sign), sign)


def _group_signs() -> list[tuple[bytes, list[tuple[bytes, ...]]]]:
    """Return the signs of YAML and JSON, words that a file has together, by what is looked for first."""
    signs: list[tuple[bytes, ...]] = [(sign,) for sign in [*_OUR_SIGNS, *_GRADERS]]
    signs += _NAMED_MISSES
    for family in FAMILIES:
        signs += family.files_have
    groups: dict[bytes, list[tuple[bytes, ...]]] = {}
    for words in signs:
        groups.setdefault(_core_of(words[0].decode(), _CORES_OF_FILES).encode(), []).append(words)
    return list(groups.items())


_SIGNS = _group_signs()


def could_hold_rubrics(data: bytes, name: str) -> bool:
    """Return whether a file with these bytes may contain a rubric of a known format; its `name` selects the kind."""
    if name.endswith(DOCUMENTS) and is_document(name):
        return _could_be_metrics(data) if name.endswith(NOTEBOOK) else could_hold_criteria(data, name)
    kind = kind_of(name)
    may_be_ours = kind not in DATA and (b"ubric" in data or b"UBRIC" in data)
    if data.startswith(_OTHER_UNICODE) or (may_be_ours and _OURS_ELSEWHERE.search(data)):
        return True
    if kind.is_program:
        return _could_be_metrics(data) or (_NAMED.search(name) is not None and _could_be_judged(data))
    if kind is Kind.TOML:
        is_known = any(all(map(data.__contains__, words)) for words in _SIGNS_OF_TOML)
        return is_known or (_IN_TOML.search(data) is not None and any(mark in data for mark in _SCORED))
    for core, signs in _SIGNS:
        if core in data and any(all(map(data.__contains__, words)) for words in signs):
            return True
    return _could_be_home_made(data, name, are_lines=kind is Kind.JSON_LINES)


# A value behind the key, an entry that is one word or ends as a file does, or an include.
_NAMES_FILES = re.compile(
    rb"""(?m)^["']?(?:tests|eval_?cases|cases|scenarios|default_test)["']?[ \t]*:[ \t]*[^\s#{]"""
    rb"""|^[ \t]*-[ \t]++(?:["']?[^\s:{"']+["']?|.*\.(?:jsonl?|ya?ml|csv|[cm]?js|py)["']?)[ \t\r]*$"""
    rb"""|\binclude["']?[ \t]*:"""
)


def has_words_of_named(text: str) -> bool:
    """Return whether a text has the words of a system that is only named in a near miss."""
    return any(all(word.decode() in text for word in words) for words in _NAMED_MISSES)


SUITE_FILES = ("eval.yaml", "eval.yml", "suite.yaml", "suite.yml")
"""How the names of files end that a search takes for suites of AgentV."""


def may_name_files(data: bytes) -> bool:
    """Return whether a suite, or a part of one, may name other files; few do."""
    return _NAMES_FILES.search(data) is not None


def _could_be_metrics(data: bytes) -> bool:
    """Return whether a program or a notebook has words of metrics or graders of other systems."""
    if b"GEval(" in data or _GRADERS_IN_PROGRAMS.search(data):
        return True
    for family in FAMILIES:
        has_words = family.programs_have and all(map(data.__contains__, family.programs_have))
        if has_words and re.search(family.programs_match, data):
            return True
    return False


# The key of what holds criteria; `rubric` and `rubrics` are among the words of our format.
_STRONG = tuple(word for word in Containers.strong if "rubric" not in word)
_CONTAINERS = tuple(word.encode() for word in _STRONG)
_CONTAINER = re.compile(rf"""(?:{"|".join(_STRONG)})["']?[ \t]*:""".encode())
_COMMON_CONTAINER = re.compile(rf"""\b(?:{"|".join(Containers.common)})["']?[ \t]*:""".encode())
_IN_TOML = re.compile(rf"(?m)^[ \t]*\[{{0,2}}(?:[\w.-]+\.)?(?:{'|'.join(_STRONG)})[ \t]*[\].=]".encode())
_SCORED = tuple(word.encode() for word in sorted(SETS["scored"]))
_DEDUCTION = re.compile(rb"""\bweight["']?[ \t]*:[ \t]*-[1-9]\d*(?![.\d])""")
_EXPECTED = re.compile(rb"""\bexpect(?:ed|ations)\w*["']?[ \t]*:""")
_TEXTS = re.compile(rf"""\b(?:{"|".join(Containers.texts)})["']?[ \t]*:""".encode())
_PROMPTS = (b"prompt", b"instruction", b"template")
_OWN_NAME = re.compile(FILES["own"] + r"|judge[^/\\]*\Z", re.IGNORECASE)
_NAMED = re.compile(FILES["judged"], re.IGNORECASE)
_MOST_BYTES = 1 << 18
"""A larger file holds data, unless one of the words for criteria says otherwise."""


def _could_be_judged(data: bytes) -> bool:
    """Return whether a program has literals of home-made criteria, or a prompt with a scale."""
    has_container = any(word in data for word in _CONTAINERS) and _CONTAINER.search(data) is not None
    has_criteria = has_container and any(mark in data for mark in _SCORED)
    return has_criteria or may_hold_scale(data.decode("utf-8", "replace"))


def _could_be_home_made(data: bytes, name: str, *, are_lines: bool) -> bool:
    """Return whether bytes have the words of home-made criteria, in a file named for them or under a word of theirs.

    The lines of JSON Lines are cases, which may have criteria.
    """
    is_own = not are_lines and _OWN_NAME.search(name) is not None
    is_named = is_own or _NAMED.search(name) is not None
    if any(word in data for word in _CONTAINERS) and _CONTAINER.search(data):
        return is_named or (not are_lines and (any(mark in data for mark in _SCORED) or b"description" in data))
    if not are_lines and b"weight" in data and _DEDUCTION.search(data):  # under any name
        return True
    is_scored = any(mark in data for mark in _SCORED)
    is_large = len(data) > _MOST_BYTES or _SCHEMA.match(data) is not None
    if is_own and (is_scored or not is_large):  # its words may be those of any language
        return True
    if not is_named or is_large or are_lines:
        return False
    has_criteria = is_scored and _COMMON_CONTAINER.search(data) is not None
    if has_criteria or _EXPECTED.search(data) is not None or _TEXTS.search(data) is not None:
        return True
    text = data.decode("utf-8", "replace")
    return may_hold_scale(text) or (any(word in data for word in _PROMPTS) and may_ask_for_scores(text))


_SCHEMA = re.compile(rb"""\s*\{\s*"\$schema"\s*:\s*"https?://json-schema\.org/""")
"""The start of a JSON Schema, in which words are names of fields."""


DIALECTS: tuple[str, ...] = tuple(name for family in FAMILIES for name in family.dialects)
"""The names of all dialects."""


def load_dialect(name: str) -> "Dialect":
    """Return the dialect of this name."""
    family = next(family for family in FAMILIES if name in family.dialects)
    if family.is_table:
        from rubric_lint.formats.search.described import load_table  # noqa: PLC0415  (as above)

        return load_table(family.module).dialect
    dialect: Dialect = getattr(
        import_module(f"rubric_lint.formats.dialects.{family.module}"), name.upper().replace("-", "_")
    )
    return dialect


def find_families(text: str, kind: Kind) -> list[Family]:
    """Return the families of which a text has words, and that its kind of file may hold."""
    signs, others = _signs_of(kind)
    found: set[int] = set()
    for core, uses in signs:
        if core in text:
            found.update(at for at, words in uses if at not in found and all(map(text.__contains__, words)))
    found.update(at for at in others if at not in found and re.search(FAMILIES[at].pattern, text))
    return [FAMILIES[at] for at in sorted(found)]


@cache
def _signs_of(kind: Kind) -> tuple[list[tuple[str, list[tuple[int, tuple[str, ...]]]]], list[int]]:
    """Return the signs by what is looked for first, each with its family and all its words; and other families."""
    signs: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    others: list[int] = []
    for at, family in enumerate(FAMILIES):
        if family.is_in(kind):
            for words in family.signs:
                signs.setdefault(_core_of(words[0], _CORES), []).append((at, words))
            if family.pattern:
                others.append(at)
    return list(signs.items()), others


def find_views(document: "Document", families: "Iterable[Family]") -> list["View"]:
    """Find the rubrics of a document that are written in dialects of some families, in the order of the dialects.

    What an alias repeats is looked at in each case that has it. Elsewhere it is looked at where it is first, and where
    it is last if it is a rubric only there, or one whose surroundings matter.
    """
    families = list(families)
    if not document.has_aliases:
        return list(_find_once(document, families).values())
    from dataclasses import replace  # noqa: PLC0415  (few documents have aliases)

    from rubric_lint.model.recognition import repeat_in_cases  # noqa: PLC0415  (as above)

    found = _find_once(repeat_in_cases(document), families)
    known: dict[int, list[Path]] = {}
    for path in found:
        known.setdefault(id(document.value(path)), []).append(path)
    for path, view in _find_once(document.with_last_paths(), families).items():
        others = known.get(id(document.value(path)), [])
        if path in found or len(others) > 1:
            continue
        if others:
            first = found[others[0]]
            if first.holder_definition or not view.holder_definition or first.dialect.name != view.dialect.name:
                continue
            del found[first.path]
        found[path] = view
        known[id(document.value(path))] = [path]
    return [replace(view, document=document) for view in found.values()]


def _find_once(document: "Document", families: "Iterable[Family]") -> dict["Path", "View"]:
    """Find the rubrics of a document by their paths; each belongs to the first family that finds it."""
    found: dict[Path, View] = {}
    for family in families:
        for view in family.find(document):
            found.setdefault(view.path, view)
    return found
