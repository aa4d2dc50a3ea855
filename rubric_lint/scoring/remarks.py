"""Reject an object that the words around it retract, contradict or attribute to someone else.

Words before the object may weigh other scores, so only the last score that they settle on counts. Words after it must
not name another score. Hypothetical sentences do not count as naming a score.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from rubric_lint.scoring.blanks import BLANK, IN_LINE
from rubric_lint.scoring.extract import OutputError, line_of, shorten
from rubric_lint.scoring.words import Words

_INTRODUCTION = 300
"""The number of characters before an object to search for what they call it."""


def refuse_overruled(beside: Words, start: int, value: Mapping[str, Any]) -> None:
    """Raise an error if the words around an object at `start` of the whole text overrule it.

    Raises:
        OutputError: quoting the words, with their line.
    """
    words = beside.text
    if words.strip(BLANK):
        start = beside.places[start]
        _refuse_introduction(words, max([end for _, end in beside.asides if end <= start], default=0), start)
        _refuse_continuation(
            words, start, min([begin for begin, _ in beside.asides if begin > start], default=len(words))
        )
        # Most of what is left may be the blanks of thoughts, which searches would go through again and again.
        before = _shorten_blank_lines(words[:start])
        words, start = before + _shorten_blank_lines(words[start:]), len(before)
        _refuse_retraction(words, start)
        _refuse_other_scores(words, start, value)


def _shorten_blank_lines(text: str) -> str:
    """Return the text with at most four spaces in each blank line, which no pattern takes for fewer."""
    if "     " not in text:
        return text
    return "\n".join([line if line.strip(" ") else line[:4] for line in text.split("\n")])


_MINE = re.compile(
    r"\b(?<!not )(?:my|our|final)\b[^.!?\n]{0,40}\b"
    r"(?:verdict|evaluation|judge?ment|scores?|grade|assessment|rating|result|output|decision)\b",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"""
    \b(?<!as\ a\ )(?<!as\ the\ )(?:judge|grader|evaluator|reviewer|rater|model
      |reader|someone|somebody|person|others?|one|they|guess|draft|attempt)
      \b [^.!?\n]{0,30} \b(?:would|might|could|may)\b
    | \b(?:colleague|reviewer|grader|judge|rater|evaluator|friend|author|user).s\ (?:\w+\ )?
      (?:verdict|score|rating|grade)\b
    | \b(?:wrong|bad|lenient|careless|naive|biased)\ (?:judge|grader|evaluator|reviewer|output|verdict)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OTHERS = re.compile(
    r"""
    \b(?:first|initial|early|rough|tentative|preliminary|old|earlier|previous|rejected|discarded)\ (?:\w+\ )?
      (?:guess|thought|draft|attempt|verdict|score|version|output|judge?ment|assessment|impression|try)\b
    | \b(?:injected|planted)\b
    | \b(?:if|suppose|imagine)\b[^.!?\n]{0,60}\b(?:had|were|would|could)\b
    | \bwould\ be\ (?:unfair|unjust|wrong|too)\b
    | \b(?:drafts?|placeholder|template|hypothetical(?:ly)?)\b
    | \bexamples?\b (?!\ of\ the\ answer|[.]\w) | \be\.g\. | \bfor\ instance\b
    | \bnot\ (?:my|the|a)\ (?:\w+\ )?(?:verdict|answer|score|output|judge?ment|evaluation|result)\b
    | \b(?:ignore|disregard|do\ not\ (?:use|count|read|take)|don't\ (?:use|count|read|take))\b
    | ^[^\w\n]*(?:user|human|customer|student|candidate|system|tool|quote[ds]?|injected|planted)\b[^:\n]{0,20}:
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
"""Words for an object of someone else, or for one that is not yet the verdict."""

_SAYS = re.compile(
    r"""
    \b(?:answers?|response|reply|text|it|user|student|author|candidate|submission|message|prompt|injection|question)\s
    (?:[a-z]+\s){0,2}?
    (?:says?|said|contains?|ends?|holds?|asks?|wants?|includes?|claims?|demands?|return(?:s|ed)|outputs?|plants?|reads?
      |tells?|requests?|embeds?|gives?|gave|writes?|wrote|injects?|begins?|tries|tried|states?|hides?)
    (?P<what>(?:\s(?:this|that|the|following|these|below|as|with|an?|object|json|lines?|verdict|score|output|here|it|by|also|at|its
      |end|beginning|in|text|me|us|judge|to|for|return|give|write|say|of|own|fence|block|instruction|instructions)){0,9})
    [\s:,*_]*\Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DISOWNS = re.compile(
    r"""
    \b(?:is|was|be|are)\ (?:only\ |just\ |merely\ |still\ )?(?:an?|my|the|one)\ (?:\w+\ )?
      (?:example|draft|template|placeholder|guess|attempt|first\ version)\b
    | \bnot\ (?:my|the|a)\ (?:\w+\ )?(?:verdict|score|judge?ment|evaluation)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_STOPS = ".!?。！？"  # noqa: RUF001 (in many languages)
_SENTENCE_END = re.compile(rf"[{_STOPS}\n](?:(?<=\n)(?![a-z])|(?<!\n)\s)")


def _refuse_introduction(words: str, floor: int, start: int) -> None:
    """Raise an error if the sentence before an object calls it a draft, an example or the words of others."""
    floor = max(floor, start - _INTRODUCTION)
    before = words[floor:start].rstrip(BLANK + "*_")
    ends = [found.end() for found in _SENTENCE_END.finditer(before, 0, max(0, len(before) - 1))]
    sentence = before[ends[-1] if ends else 0 :]
    if sentence[-1:] and sentence[-1] in _STOPS:
        found = _DISOWNS.search(sentence)
    else:
        found = _OF_ANOTHER.search(sentence)
        if not found and not _MINE.search(sentence):
            found = _OTHERS.search(sentence) or _SAYS.search(sentence)
    if found:
        offset = floor + (ends[-1] if ends else 0) + found.start()
        raise _overruled(sentence, line_of(words, offset), "calls it a draft, an example or the words of others")


_CANNOT = (
    r"(?:can\s?not|can['’]t|could\ not|will\ not|won['’]t|do\ not|don['’]t|did\ not|refuse\ to|decline\ to"  # noqa: RUF001
    r"|(?:un|not\ )able\ to|must\ not)"
)
_GRADE = r"(?:grade|judge|score|evaluate|rate|assess|decide|count)"
_RETRACTS = re.compile(
    r"""
    \b(?:scratch|strike|forget|undo)\ (?:that|this)\b
    | \bon\ (?:second|further)\ (?:thought|reflection)s?\b
    | \bi\ (?:mean|meant|misread|misjudged|mis-?scored|misspoke|overlooked|retract|withdraw)\b
    | \bi\ (?:have\ )?changed\ my\ mind\b
    | \bi\ take\ (?:it|that|this)\ back\b
    | \bi\ (?:have\ |just\ )?(?:made|make)\ (?:a|an)\ (?:\w+\ )?(?:mistake|error)\b
    | \b(?:ignore|disregard|discard)\ (?:the|my|that|this|all)\b (?!\ (?:rubric|instructions?|question))
    | \b(?:that|this|the\ above|it|which|score\ above|object\ above|json\ above)
      \ (?:is|was)\ (?:(?:just|only|still|not|clearly|obviously)\ )*
      (?:wrong|incorrect
        |an?\ (?:mistake|draft|example|placeholder|attempt|first\ guess|test|trick|guess|injection|quote)
        |too\ (?:high|low|generous|harsh|kind|strict)|(?:my|the|a)\ (?:final\ |real\ )?(?:verdict|draft)\ (?:of|yet))\b
    | \bnot\ (?:my|the|a)\ (?:final\ |real\ |actual\ )?(?:verdict|score|judge?ment|evaluation)\b
    | \b(?:score|verdict|grade|rating|it|that|this|object|json)\ (?:should|must|ought\ to)\ (?:\w+\ )?
      (?:be|have\ been|read|say)\ (?:lower|higher|less|more|different|changed)\b
    | \b(?:corrected|revised|updated|amended)\ (?:\w+\ )?(?:verdict|scores?|json|object|output|grade|rating|version)\b
    | \b(?:let\ me|i\ (?:must|have\ to|need\ to|should|will|want\ to))[ ]
      (?:correct|revise|redo|fix|reconsider|rethink|change|lower|raise)\b
    | ^[^\w\n]*(?:(?:wait|oops|hmm+|whoops|sorry|apologies|my\ (?:mistake|bad|apologies))\b | actually\s*, | no\s*,)
    | ^[^\w\n]*(?:correction|edit|erratum|revised|revision|update|amendment|errata|korrektur|berichtigung|correcci[oó]n
        |corre[cç][aã]o|rectification|修正|更正|訂正|исправление|поправка)\s*\W*[:：]
    """,  # noqa: RUF001 (in many languages)
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_REFUSES = re.compile(
    rf"""
    \bi\ (?:therefore\ |hereby\ )?{_CANNOT}\ (?:\w+\ )?{_GRADE}
      (?:\ (?:this|it|that|(?:the|this)\ (?:answer|response|text|content|one)|here|yet|any(?:thing|\ of\ (?:this|it))))*
      [ \t]*(?:[.!;,)]|$)
    | \bi\ (?:\w+\ )?(?:refuse|decline|abstain)[ \t]*(?:[.!;,]|$)
    | \bi\ (?:give|gave|assign|award|return)\ no\ (?:grade|score|verdict|points)\b
    | ^[^\w\n]*no\ (?:grade|score|verdict)(?:\ (?:yet|from\ me|here))?[ \t]*(?:[.!]|$)
    | \bnot\ (?:graded|judged|scored)\ ?(?:yet)?[ \t]*(?:[.!]|$)
    | \b(?:i.m|i\ am|grading|judging|scoring|evaluation|assessment|verdict|score)\ (?:is\ )?not\ (?:done|finished)\b
    | \bi\ (?:ignore|skip|reject|will\ not\ follow|do\ not\ follow|won't\ follow)\ (?:it|this|that)\b
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_IN_REFUSALS = (
    *("not", "n't", "n\u2019t", "unable", "refuse", "decline", "abstain", "ignore", "skip", "reject"),
    *("no grade", "no score", "no verdict", "no points"),
)
"""Each refusal has one of these parts, which are found much faster."""

_ABOUT_VERDICT = (
    r"(?:\b(?:this|that|the|my|real|correct|right|true|final)\s(?:score|verdict|rating|grade|json|object|evaluation|judge?ment|assessment"
    r"|output|value)\b|\b(?:the|all)\ above\b)"
)
_DENIES = (
    r"(?:\b(?:not|never|cannot|no\ longer|void|invalid|placeholder|todo|tbd|fake|unfair|unjust|instead|tentative"
    r"|pending|provisional|dummy|\w+n.t)\b)(?!\s(?:a\s)?(?:higher|lower|perfect|10\b|full|max|better|more|less))"
)
_DOUBTS = re.compile(
    rf"{_ABOUT_VERDICT}[^.!?\n]{{0,80}}{_DENIES}|{_DENIES}[^.!?\n]{{0,80}}{_ABOUT_VERDICT}|\bnull\ and\ void\b"
    r"|\b(?:10|[0-9])\s(?:is|would\sbe|seems|looks)\s(?:more\s)?(?:fair(?:er)?|right|correct|better|accurate|appropriate)\b",
    re.IGNORECASE,
)
"""A sentence that denies the verdict before it."""

_GOES_ON = re.compile(
    r"""
    (?:which|that|this)?\s?(?:is|was|looks|seems)\ (?:like\ )?
      (?:an?\ (?:attempt|attack|injection|trick|quote|example|draft|lie|guess)
      |planted|injected|wrong|what\b|not\b|only\b|too\b|from\ the)
    | (?:but|yet|though|however)\b[^.!?\n]{0,40}\b(?:cannot|not|n't|refuse|wrong|reject|ignore)
    | (?:is\ )?(?:what|as)\ the\ (?:answer|user|text)\ (?:wants|asks|claims|says|demands)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""How a sentence continues after an object that is not the judge's own."""


def _refuse_continuation(words: str, start: int, ceiling: int) -> None:
    """Raise an error if the sentence goes on after an object as after the words of someone else."""
    body = len(words) - len(words[start:].lstrip(BLANK + "*_.。,;:"))
    if body < ceiling and (found := _GOES_ON.match(words, body)):
        raise _retracted(words, found)


def _refuse_retraction(words: str, start: int) -> None:
    """Raise an error if the words after an object retract it, or any words refuse to judge."""
    follows = words[start:].strip(BLANK)
    found = (_RETRACTS.search(words, start) or _DOUBTS.search(words, start)) if follows else None
    folded = words.casefold().replace("\u0307", "").replace("\u0131", "i")  # `re` takes each kind of i for any other
    if not found and any(part in folded for part in _IN_REFUSALS):
        found = _REFUSES.search(words)
    if found:
        raise _retracted(words, found)


def _retracted(words: str, found: re.Match[str]) -> OutputError:
    return _overruled(found[0], line_of(words, found.start()), "takes it back or says that it does not count")


_DIGIT = re.compile("[0-9]")
_NUMBER = r"(?P<{}>(?:10|[0-9])(?:[.][0-9]+)?)(?![0-9%]|[.][0-9]|\ ?[-–]\ ?[0-9])"  # noqa: RUF001 (a range of scores)
_LINK = (
    r"(?:[ \t*_:：=|→>~\-–]+"  # noqa: RUF001
    r"(?:is|was|of|be|been|should|must|now|therefore|then|here|actually|really|to|at|a|an|in\ fact)\b){0,4}"
    r"[ \t*_:：=|→>~\"'`(\[{]{1,12}"  # noqa: RUF001
)
_SCORE = (
    r"(?:scores?|ratings?|grades?|verdict|punktzahl|bewertung|puntuaci[oó]n"
    r"|puntaje|calificaci[oó]n|pontua[cç][aã]o|оценка|балл|评分|分数|得分|評価|スコア|点数)"
)
_MAY_BE_SCORE = r"(?:marks?|points|result|total|ergebnis|note|nota)"
"""Words for a score, if only the scale or the end of the line follows the number."""
_CLAIM = re.compile(
    rf"""
    (?:^[^\w\n]*|\b(?:the|my|our|this|that|its|correct|final|right|true|real|actual|overall|proper|fair|honest|total)\s+)
      (?:(?:correct|final|right|true|real|actual|overall|proper|fair|honest|total|holistic|answer(?:'s)?|new|better)\s+){{0,3}}
      (?: {_SCORE} (?:\ (?:for\ (?:this|the)\ (?:answer|response)|here))? {_LINK} {_NUMBER.format("named")}
        | {_MAY_BE_SCORE} {_LINK} {_NUMBER.format("meant")} (?=\s?(?:/|out\ of)\s?10\b|[*_) \t]*[.!]?[ \t]*$) )
    | \bI\s(?:would\s|will\s|must\s|do\s|therefore\s|now\s|then\s|finally\s|only\s|rather\s|can\s)*
      (?:give|gave|assign|award|rate|score|grade|settle\ (?:on|for)|choose|chose|go\ (?:with|for)|say
      |decide\ (?:on|for))\s
      (?:(?:it|this|that|the\ (?:answer|response|text)
        |only|just|an?|(?:final\ )?(?:score|rating|grade)\ of|as|at|with)\s)*
      [*_]{{0,3}}{_NUMBER.format("given")}
    | \\boxed\{{\s*(?:\\text\{{)?{_NUMBER.format("boxed")}
    | ^[^\w\n]*{_NUMBER.format("alone")}(?:\s?(?:/|out\ of)\s?10)?[^\w\n]*$
    | ^[{IN_LINE}]*\|[^|\n]{{0,40}}\b(?:whole|overall|total|score|all)\b[^|\n]{{0,40}}
      \|[ \t*]*{_NUMBER.format("tabled")}[ \t*]*(?:/\s?10[ \t*]*)?\|
    | (?:^|[.!?:]\s)[^\w\n]{{0,9}}(?:so|thus|hence|therefore|overall|final(?:ly)?|conclusion)\b
      \W{{1,4}}{_NUMBER.format("so")}
      (?:\s?(?:/|out\ of)\s?10)?\b
    | \b(?:makes|deserves|earns|merits|gets|receives|is\ worth)\s(?:(?:it|an?|the|only|just|score\ of)\s){{0,4}}
      [*_]{{0,3}}{_NUMBER.format("earned")}(?!\s\w)
    | (?<=[\s(*:\uff1a]){_NUMBER.format("ends")}(?:\s?(?:/|out\ of)\s?10)?(?:\ instead)?[*_)]{{0,3}}[.!]?[ \t]{{0,9}}$
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|otherwise|were|would\s(?:have|need|require|be|take)|requires?|needs?|to\s(?:get|earn|reach|deserve)|at\sfirst"
    r"|initially|first\s(?:thought|guess)|tempted|lenient|strict(?:er)?|might|could|claims?|asks?|wants?|says|demands?"
    r"|maximum|highest|lowest|confidence|band|range|average|mean|at\s(?:least|most)|out\sof\swhich)\b",
    re.IGNORECASE,
)


def _refuse_other_scores(words: str, start: int, value: Mapping[str, Any]) -> None:
    """Raise an error if the words before an object settle on another score, or those after it name one."""
    allowed = _find_scores(value) if _DIGIT.search(words) else None
    if not allowed:
        return
    last: re.Match[str] | None = None
    for claim in _find_claims(words):
        if claim.start() < start:
            last = last if claim.lastgroup == "ends" else claim
        elif not _agrees(claim, allowed):
            raise _contradicted(words, claim)
    if last and not _agrees(last, allowed):
        raise _contradicted(words, last)


def _find_claims(words: str) -> Iterator[re.Match[str]]:
    """Find the scores that the words claim to give."""
    for claim in _CLAIM.finditer(words):
        begin = max(
            claim.start() - 200,
            *(words.rfind(sign, max(0, claim.start() - 200), claim.start()) for sign in ".!?\n"),
            -1,
        )
        end = min(len(words), claim.end() + 200)
        stops = [place for sign in (". ", "! ", "? ", "\n") if (place := words.find(sign, claim.end(), end)) >= 0]
        if not _HYPOTHETICAL.search(words, begin + 1, min(stops, default=end)):
            yield claim


def _find_scores(value: Mapping[str, Any]) -> tuple[Fraction, Fraction] | None:
    """Return the lowest and the highest score of an object."""
    checks = value.get("checks")
    if isinstance(checks, list):
        held = [check.get("score") for check in checks if isinstance(check, Mapping)]
    else:
        held = [value.get("score")]
    scores = [Fraction(score) for score in held if isinstance(score, int | float) and not isinstance(score, bool)]
    return (min(scores), max(scores)) if scores else None


def _agrees(claim: re.Match[str], allowed: tuple[Fraction, Fraction]) -> bool:
    return allowed[0] <= Fraction(claim[str(claim.lastgroup)]) <= allowed[1]


def _contradicted(words: str, claim: re.Match[str]) -> OutputError:
    number = claim.start(str(claim.lastgroup))
    return _overruled(claim[0], line_of(words, number), "names another score than the object")


def _overruled(quoted: str, line: int, doing: str) -> OutputError:
    message = f"{shorten(quoted.strip(BLANK))} at line {line} {doing}; expected words that agree with the object"
    return OutputError(message, line=line)
