"""Read home-made rubrics that no table describes, and report what nearly is one.

They are read where their structure and other signs agree, and only what is wrong in any format is found in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from rubric_lint.formats.home_made.candidate import Candidate, EvidenceKind
from rubric_lint.formats.home_made.format_table import YES_NO
from rubric_lint.formats.home_made.places import is_line
from rubric_lint.formats.home_made.roles import Role
from rubric_lint.formats.home_made.scores import read_levels
from rubric_lint.formats.home_made.understand import understand
from rubric_lint.formats.search.around import MOVE_AWAY, NEXT_TO_OTHERS
from rubric_lint.model.finding import ADOPT_IT, NearMissStep, UnreadPlace
from rubric_lint.model.messages import find_near as find_similar
from rubric_lint.model.messages import join_words, list_names, pluralize, quote_names, shorten
from rubric_lint.model.view import View
from rubric_lint.rules import RULES
from rubric_lint.source.document import Document
from rubric_lint.source.path import Part, Path

_HOLD = frozenset(
    {
        *("duplicate-id", "duplicate-criterion", "duplicate-outcome", "empty-outcome", "placeholder", "vague-outcome"),
        *("weight", "levels", "bounds", "band-order", "inverted-scale", "undescribed-scale"),
        *("cancelling-criterion", "mirrored-criterion"),
    }
)
"""The rules that hold in any format."""

_HOLD_FOR_ANSWERS = _HOLD | frozenset(
    {"contradicting-sign", "negated-penalty", "two-actions", "two-claims", "bundled-list"}
)
"""The rules that hold as well where the file says that criteria are met or not."""


@lru_cache(maxsize=1)  # what is read of a document and what is nearly read are asked one after the other
def _find_candidates(document: Document) -> list[Candidate]:
    return understand(document)


def read_home(document: Document) -> list[View]:
    """Return the home-made rubrics of a document."""
    views: list[View] = []
    for candidate in _find_candidates(document):
        if candidate.is_rubric:
            views += _read(candidate)
    return views


def _read(candidate: Candidate) -> Iterator[View]:
    """Yield the rubrics of a candidate, with what it leaves open, and with the levels that are not read."""
    rules = _HOLD_FOR_ANSWERS if candidate.format_table.scale == YES_NO else _HOLD
    questions = [*candidate.ask(), *candidate.ask_about_others(candidate.views)]
    doubts = tuple((question.place, question.reason) for question in questions)
    levels = [
        place for document, place in candidate.unused_keys.inside if read_levels(document.value(place)) is not None
    ]
    for view in candidate.views:
        relaxed = _relax(view, rules)
        own = [place for place in levels if place[: len(view.path)] == view.path]
        yield replace(relaxed, doubts=relaxed.doubts + doubts, unread=relaxed.unread + _find_unread_levels(own))


def _relax(view: View, rules: frozenset[str]) -> View:
    """Return a rubric to which only some rules apply."""
    without = frozenset({"schema", "unknown-field", *(rule.name for rule in RULES)}) - rules
    problems = []
    for rule, problem in view.problems:
        # Nobody says how scores combine, so a weight below 0 may be that of what is bad.
        holds = (rule in rules and problem.code != "minimum") or problem.code == "no-text"
        if not holds:
            continue
        if problem.code == "lacking":  # a slip if the criterion has the field under a misspelt name, else none
            entry = view.document.value(problem.path)
            names = entry if isinstance(entry, dict) else ()
            if not any(find_similar(key, [str(problem.values["field"])]) for key in names):
                continue
        # The other rule reports a criterion that says nothing among others that do.
        own_rule = rule if rule != "schema" else "empty-outcome"
        problems.append((own_rule, problem))
    dialect = replace(view.dialect, without=without, reports_unread_fields=False)
    return replace(view, dialect=dialect, problems=tuple(problems))


def _find_unread_levels(places: Sequence[Path]) -> tuple[tuple[Path, str], ...]:
    """Return the place of the first levels of criteria that are not read, with the reason for all of them."""
    names = quote_names(str(place[-1]) for place in places)
    return ((places[0], f"fields of its criteria are not read: {names}"),) if places else ()


def find_near_rubrics(document: Document) -> list[UnreadPlace]:
    """Find what is nearly a home-made rubric, in a document that has none."""
    candidates = _find_candidates(document)
    if any(candidate.is_rubric for candidate in candidates):
        return []
    near: list[UnreadPlace] = []
    for candidate in candidates:
        path, *others = candidate.paths
        part = Part.KEY if path else Part.HEAD
        near.append(UnreadPlace(path, *_find_reason(candidate), part, is_known=False, others=others))
    return near


def find_in_program(document: Document) -> Iterator[UnreadPlace]:
    """Find home-made criteria in the literals of a program."""
    for candidate in _find_candidates(document):
        if _is_likely(candidate) and EvidenceKind.TEXTS in candidate.evidence:
            reason = (
                f"`{candidate.key}` holds criteria with weights, levels or gates, and home-made rubrics are read from "
                "YAML, JSON and TOML only; if a judge reads them, write them to such a file and run `adopt` on it"
            )
            yield UnreadPlace(candidate.paths[0], reason, part=Part.HEAD, is_known=False)


def find_next_to(document: Document, rubrics: set[Path]) -> list[UnreadPlace]:
    """Find home-made rubrics next to others, which have the paths `rubrics`: a file is read in one format."""
    near: list[UnreadPlace] = []
    for candidate in _find_candidates(document):
        path = candidate.paths[0]
        is_other = len(path) == 1 and not any(place[:1] == path for place in rubrics)
        if is_other and _is_likely(candidate):
            reason = f"`{shorten(str(path[0]))}` {NEXT_TO_OTHERS}"
            near.append(UnreadPlace(path, reason, (NearMissStep("move", MOVE_AWAY),), is_known=False))
    return near


def _is_likely(candidate: Candidate) -> bool:
    """Return whether criteria have texts and scores, and no sign is against them."""
    return candidate.columns.has_text and candidate.is_scored and not candidate.against


def _find_reason(found: Candidate) -> tuple[str, tuple[NearMissStep, ...]]:
    """Return why criteria are not read, and the steps to have them read."""
    start = f"`{found.key}` holds" if found.key else "this file holds"
    if found.columns.ladder:
        listed = quote_names(found.columns.ladder)
        reason = f"criteria with levels under keys of their own ({listed}), which no table can describe"
        return f"{start} {reason};", (
            NearMissStep("rewrite", "put them below one key of each, such as `levels`"),
            ADOPT_IT,
        )
    levels = found.written.get("levels", ())
    names = [levels] if isinstance(levels, str) else levels
    own_levels = [name for name in names if not name.startswith("/")]
    if not (found.columns.has_text or own_levels):
        return _find_reason_without_texts(found, start)
    if found.are_texts:
        return f"{_format_texts(found, start)}; if a judge takes each for a criterion,", (ADOPT_IT,)
    if found.columns.guessed:
        criteria = f"criteria whose texts are under a key that is not read, `{shorten(found.columns.guessed)}`"
        return f"{start} {criteria}; if a judge reads them,", (ADOPT_IT,)
    words = {
        Role.TEXT: "texts",
        Role.LEVELS: "levels",
        Role.WEIGHT: "weights",
        Role.WEIGHT_WORDS: "words as weights",
        Role.GATE: "gates",
    }
    keys = {role: names[0] for role, names in found.columns.roles.items() if role in words}
    if own_levels:
        keys[Role.LEVELS] = own_levels[0]
    fields = [f"{words[role]} (`{shorten(name)}`)" for role, name in keys.items()]
    return f"{start} criteria with {join_words(fields)}, {_format_lack(found)}; if a judge reads them,", (ADOPT_IT,)


def _format_texts(found: Candidate, start: str) -> str:
    """Write where some texts are; of the lines of JSON Lines, the same of each."""
    keys = list(dict.fromkeys(group.key for group in found.groups))
    if len(keys) > 1:
        others = f"`{shorten(keys[1])}`" if len(keys) == 2 else f"{len(keys) - 1} more"
        return f"`{shorten(keys[0])}` and {others} hold {found.count} texts"
    count = "" if is_line(found.document) else f"{found.count} "
    return f"{start} {count}texts"


def _find_reason_without_texts(found: Candidate, start: str) -> tuple[str, tuple[NearMissStep, ...]]:
    """Return why criteria that do not say in words what is judged are not read, and the steps to have them read."""
    group, lists = found.groups[0], found.columns.names(Role.TEXTS)
    reason = "criteria that do not say in words what is judged;"
    step = "add a `description` to each criterion"
    if group.are_names:
        reason = "names of criteria without texts;"
        step = "write each as a mapping with an `id` and a `description` that says what is judged"
    elif group.are_pairs:
        reason = "a list of criteria with one key each, which no table can describe;"
        step = f"write `{found.key}` as one mapping from their names to their levels"
    elif found.are_amounts:
        reason = "names with numbers, and no texts that say what is judged;"
        step = "write each as a mapping with a `weight` and a `description`"
    elif lists:
        reason = f"criteria whose texts are lists ({quote_names(lists)}), and nothing says how each of them counts;"
    return f"{start} {reason}", (NearMissStep("rewrite", step), ADOPT_IT)


def _format_lack(found: Candidate) -> str:  # noqa: PLR0911 (one return a reason)
    """Write what is missing for criteria to be read."""
    if found.against:
        return f"but `{shorten(found.against)}` is also in files that no judge reads"
    if found.adds_up:
        return "but the points in some lists repeat, so they are not levels"
    if not found.is_scored:
        return _format_unscored(found)
    if found.count == 1:
        return "but only one"
    if found.is_declared and found.columns.has(Role.TEXT) and EvidenceKind.TEXTS not in found.evidence:
        return "but most of their texts have one or two words, as the names of prices and sections have"
    if not found.evidence:
        return "but nothing shows that a judge reads them"
    signs = join_words([sign for sign in EvidenceKind if sign in found.evidence])
    verb = "shows" if found.evidence in ({EvidenceKind.NAME}, {EvidenceKind.FILE}, {EvidenceKind.DECLARED}) else "show"
    return f"but only {signs} {verb} that a judge reads them"


def _format_unscored(found: Candidate) -> str:
    """Write what criteria have that may score them."""
    if found.columns.has(Role.WEIGHT_WORDS):
        return "and nothing says how much these words count"
    keys = [shorten(name) for name, role in found.roles.items() if role is Role.OPEN]
    if not keys:
        return "but no weights, levels or gates"
    are = pluralize(len(keys), "is a weight, a level or a gate", "are weights, levels or gates")
    return f"and nothing says whether {list_names(keys)} {are}"
