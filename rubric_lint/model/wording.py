"""The words of criteria: what they grade with, how they begin, what answers do and what negates it.

Rules share them, so that each reads the same forms: "Explains", "Explain", "The response should explain" and "Does the
response explain".
"""

import re
from functools import lru_cache

GRADES = frozenset(
    """
    good bad poor fair great excellent outstanding exceptional superb perfect average mediocre adequate inadequate
    okay ok acceptable unacceptable satisfactory unsatisfactory sufficient insufficient decent weak strong terrible
    awful best worst better worse high medium low pass passes passed passing fail fails failed failing failure success
    successful unsuccessful borderline proficient competent novice expert exemplary ideal nice horrible amazing
    brilliant fantastic wonderful flawless lacking subpar meh correct incorrect right wrong partial incomplete complete
    suitable unsuitable appropriate inappropriate reasonable superior inferior marginal passable optimal suboptimal
    helpful unhelpful useful useless clear unclear accurate inaccurate coherent incoherent thorough relevant irrelevant
    """.split()  # noqa: SIM905 (a paragraph reads better than fifty lines)
)
"""Words that grade instead of describing: a judge who reads only these has to invent the standard."""

GRADES_OF_SCALES = frozenset(
    """
    complete advanced intermediate beginner beginning developing accomplished limited basic minimal standard fine solid
    expected met unmet done satisfied achieved none other otherwise default
    """.split()  # noqa: SIM905
)
"""Grades too, except in a checklist, where they may quote the answer."""

TRAITS = frozenset(
    """
    polite impolite friendly unfriendly concise professional unprofessional readable unreadable
    precise imprecise consistent inconsistent comprehensive informative engaging insightful respectful
    """.split()  # noqa: SIM905
)
"""Words that judge too, but alone they may be all that one answer has and another has not."""

PADDING = frozenset(
    """
    a an the is are was it its this that very quite rather really extremely mostly somewhat fairly pretty not too so
    below above enough completely totally entirely fully largely highly barely just nearly almost only overall
    generally partially partly well moderately slightly possible model's assistant's
    response responses answer answers output outputs result results quality performance work effort attempt submission
    job score scores rating level grade mark tone structure style wording and but or
    """.split()  # noqa: SIM905
)
"""Words that say nothing in addition to a grade."""

ACTIONS = frozenset(
    """
    acknowledge admit advise affirm apologize apologise argue ask assess avoid calculate cite clarify classify compare
    compute conclude confirm consider correct define demonstrate describe determine discuss distinguish emphasize
    emphasise encourage evaluate explain express give highlight identify illustrate include indicate inform inquire
    instruct interpret introduce invite justify mention notify prioritize prioritise propose provide reassure recognize
    recognise recommend refer refuse remind respond say specify stress suggest summarize summarise tell translate urge
    validate verify warn write
    """.split()  # noqa: SIM905
)
"""What an answer does, as an order says it."""

ACTIONS_OR_THINGS = frozenset("address check list name note offer outline point quote report request state".split())  # noqa: SIM905
"""What an answer does, in words that name things as well, also with an -s: "notes the date", "names and notes"."""


def third_person(verb: str) -> str:
    """Return a verb in the third person: "classifies" for "classify"."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"


ORDERED = ACTIONS | ACTIONS_OR_THINGS
"""What an answer does, as an order says it: "Explain"."""

STATED = frozenset(map(third_person, ORDERED))
"""What an answer does, as a statement says it: "Explains"."""

OBJECTS = frozenset(
    """
    the a an that whether how why what when which who it its their his her this these those them any each every all both
    """.split()  # noqa: SIM905
)
"""What stands behind a verb and not behind a thing."""

ADVERB = r"(?:(?:also|then|[a-z]+ly)\s+)?"
"""A pattern of what may stand before a verb."""

SUBJECT = (
    r"(?:\d+(?:\.\d+)*[.:)]?\s+)?"
    r"(?:(?:(?:the|this|an?)\s+(?:[\w'’]+\s+)?)?(?:responses?|answers?|model|assistant|chatbot|output|ai|agent|reply|text)\s+|it\s+)?"  # noqa: RUF001
)
"""A pattern of what an outcome may begin with before its verb: a number such as `1.2:`, and who does it."""

QUESTION = r"(?:\d+(?:\.\d+)*[.:)]?\s+)?(?:do|does|did)\s+(?:the|this|an?)\s+(?:[\w'’-]+\s+){1,2}?"  # noqa: RUF001
"""A pattern of what stands before the verb of a question: "Does the response"."""

DUTY = r"(?:should|must|shall|ought\s+to|needs?\s+to)"
"""A pattern of what asks an answer for something."""

CONTRACTED = r"n['’]t\b"  # noqa: RUF001 (an apostrophe of prose)
"""A pattern of "not" at the end of a word."""

NOT = rf"(?:\s+not\b|{CONTRACTED})"
"""A pattern of what forbids it, or says that it is not so, behind such a word."""

FAILING = r"(?:fail|neglect|forget)(?:s|ed|ing)?\s+to"
"""A pattern of the verbs that say what an answer should do and does not."""

FAILURE = rf"(?:{FAILING}|(?:omits?|lacks?(?!\s+of)|miss(?:es)?|overlooks?)(?!\s+(?:no|none|nothing)\b))"
"""A pattern of those, and of the verbs that say what an answer lacks, which may be right: "Omits the password"."""

FAILURES = ("fail", "neglect", "forget")
"""One of these is in every verb that `FAILING` matches."""

REFUSAL = r"(?:refus(?:es?|ed|ing)\s+to|ignores?(?!\s+(?:no|none|nothing)\b))"
"""A pattern of the verbs that say what an answer does not do, which may be right."""

NEGATION = (
    rf"(?:(?:does|do|did|is|are|was|were|has|have|can|could|will|would|{DUTY}){NOT}|cannot|{FAILURE}|{REFUSAL}|"
    r"never|not|no)"
)
"""A pattern of what negates the words behind it."""

NEGATIONS = frozenset(["not", "no", "never", "without"])
"""Words that turn what an outcome says round."""


POINTERS = tuple(
    "above below previous preceding ditto idem same level band criteri before aforementioned foregoing".split()  # noqa: SIM905
)
"""One of these is in every outcome that points to another one."""


def write_out_negations(text: str) -> str:
    """Return a text with "not" as a word of its own: "does not" for "doesn't"."""
    return re.sub(CONTRACTED, " not", text).replace("cannot", "can not")


@lru_cache(maxsize=1 << 12)
def stem(word: str) -> str:
    """Return a word without the endings that it has in one sentence and loses in the negation of it."""
    if word.endswith(("ies", "ied")) and len(word) > 5:
        return f"{word[:-3]}y"
    for ending, least in (("ing", 6), ("es", 5), ("ed", 5), ("s", 3)):
        if word.endswith(ending) and len(word) > least and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3:
        word = word.rstrip("e")
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
