"""Rules without a function here: readers, schemas, the search for rubrics, tests and judged data find what they report.

The texts stand here all the same, so that every message of a rule is in one place.
"""

from collections.abc import Mapping

from rubric_lint.model.finding import Severity
from rubric_lint.model.repairs import FIRST_HIGHEST, FIRST_LOWEST, PLACEHOLDER
from rubric_lint.rules.rule import Rule, of_schema
from rubric_lint.source.path import Part

_ERROR, _WARNING, _HINT = Severity.ERROR, Severity.WARNING, Severity.HINT
_TESTS = "rubric-test"
_VALUE, _KEY, _HEAD = Part.VALUE, Part.KEY, Part.HEAD

JUDGED = "rubric-lint --judged"
"""The command of the rules on judged data."""

_OF_TEXT = (
    Rule("syntax", _ERROR, {"unreadable": "{reason}", "encoding": "{reason}", "time-limit": "{reason}"}),
    Rule(
        "duplicate-key",
        _ERROR,
        {"repeated": "duplicate key `{key}`, first at {line}; most readers keep only the last, so remove one"},
    ),
    Rule(
        "option-in-option",
        _WARNING,
        {
            "hidden": (
                "OpenAI evals take the first answer with which the reply begins or ends, so they read `{choice}` as "
                "`{earlier}`; list `{choice}` before it, or rename one of them"
            )
        },
    ),
    Rule(
        "unused-ignore",
        _WARNING,
        {
            "invalid": "this comment silences nothing; {reason}",
            "idle": "`{rule}` finds nothing here that this comment could silence; remove it",
            "too-far": (
                "`{rule}` finds nothing here that this comment could silence; there is one at line {near}, so move the "
                "comment there"
            ),
            "unknown-rule": "unknown rule `{rule}`; {hint}",
        },
        fix="safe",
    ),
)

_OF_SCHEMAS = (
    Rule(
        "schema",
        _ERROR,
        {
            **of_schema(),
            "missing": "missing field `{field}`{meaning}",
            "no-criteria": (
                "no criteria: the settings say that `{shape}` has them at `{pointer}`; correct the file or the pointer"
            ),
            "no-setting": (
                "the settings say that `{shape}` has its `{setting}` at `{pointer}`, which is not there; correct the "
                "file or the pointer"
            ),
            "no-field": (
                "the settings say that `{shape}` has its `{setting}` in {fields}, which no criterion has; correct the "
                "file or the name"
            ),
            "second-table": (
                "the settings describe these criteria twice, as `{first}` and as `{second}`, and only the first is "
                "read; remove one of the tables, or change its `files` or `criteria`"
            ),
            "no-text": "no {fields}, so nothing says what is judged",
            "scale": "`{field}` {found}, which is not a scale; write its lowest and highest score, such as [1, 5]",
            "blank": "{subject} {found}; write a name",
            "not-a-list": "{subject} {found}, expected {expected}; {form}",
            "bands-as-range": "`score_range` holds bands, expected two integers; did you mean `score_ranges`?",
            "colon-in-string": (
                "a mapping with `{key}` alone is not a criterion; if it is one string with a `: ` in it, quote it"
            ),
            "no-rubrics": "missing field `rubrics`: a rubric file has it at the top level",
            "no-rubrics-misspelt": (
                "missing field `rubrics`: a rubric file has it at the top level; is `{near}` a misspelling of it?"
            ),
            "no-rubrics-kind": "rubrics are read from YAML, JSON and JSON Lines only; move this one to a YAML file",
            "no-rubrics-version-3": (
                "missing field `rubrics`: a file of version 2 has it at the top level; if this is a rubric of version "
                "3, {how}"
            ),
            "no-criteria-version-3": "missing field `criteria`: a rubric file of version 3 has it at the top level",
            "unknown-version": ("this rubric-lint knows only {known} of the schema, not {version}; is it out of date?"),
            "too-many-criteria": (
                "the rubric has over {most} criteria, with those of aliases, so none is read; write several rubrics"
            ),
            "second-document": "a file with rubric tests has one document; move this one to a file of its own",
            "decimal-id": (
                '`{field}` is {found}, expected a string or an integer; write it in quotes, "{found}", or as an integer'
            ),
            "ignored-negation": (
                "promptfoo ignores `not-` before `{type}`: what is met passes all the same; use `not-llm-rubric`"
            ),
            "all-optional": (
                "all criteria are optional, and `required-pass` asks for one that is not; Harbor refuses the file"
            ),
            "repeated-choice": 'the choice "{choice}" is there twice; verifiers refuses the file',
        },
        fix="unsafe",
        marks=(_VALUE, _KEY, _HEAD),
        choices={
            FIRST_LOWEST: "number the names of levels, from 0 for the first one up",
            FIRST_HIGHEST: "number the names of levels, from 0 for the last one up",
        },
    ),
    Rule(
        "unknown-field",
        _ERROR,
        {
            **of_schema("unexpected"),
            "unknown": "unknown field `{field}`; known here are {known}",
            "misspelt": "unknown field `{field}`; did you mean {near}?",
            "misspelt-beside": "unknown field `{field}`, similar to {near}, which is set as well; remove one of them",
            "later-version": "`{field}` is a field of {current}, but this file says that it follows {version}",
            "version-3": "`{field}` is a field of version 3, and this file follows version 2; to use it, {how}",
            "ignored": "unknown field `{field}`, which {system} ignores; did you mean `{near}`?",
        },
        fix="unsafe",
        marks=(_KEY,),
    ),
    Rule(
        "empty-outcome",
        _ERROR,
        {
            **of_schema("unexpected"),
            "blank": "{subject} {found}; say what an observer sees",
            "blank-condition": "{subject} {found}; say when the judge is to answer, or remove it",
            "no-text": "no {fields}, so nothing says what is judged",
        },
        choices={PLACEHOLDER: "write a placeholder, which is reported until you replace it"},
    ),
)

_OF_SEARCH = (
    Rule(
        "lost-rubric",
        _ERROR,
        {
            "misnamed": "`{key}` is not read; did you mean `{wanted}`?",
            "outside": "`criteria` is not read here; put it below `rubrics`: write `{whole}`",
            "empty": "`rubrics` {empty}, so nothing is judged by it; list its criteria or remove it",
            "not-a-list": "`rubrics` is {found}, expected a list of criteria",
            "misspelt-field": "`rubrics` is not read, as `{key}` is not a field; did you mean `{wanted}`?",
            "bands-as-range": "`rubrics` is not read, as `{key}` holds bands, not one range; did you mean `{wanted}`?",
            "no-criteria": "`rubrics` is not read, as it is not a list of criteria with `{wanted}`",
            "texts": "`rubrics` is a list of strings, which is a rubric only where the file says so; {advice}",
            "agentv-file": "AgentV reads {holds} from `{file}`, which {reason}",
            "agentv-cases": "AgentV reads the cases of a suite from a list, and this file holds {found}",
            "agentv-5-row": "AgentV 5 does not read `{list}` of a case in another file; write `assert`",
            "agentv-5-test": (
                "{release} does not read `rubrics` of a test; move it into `{list}`, as `{wanted}` of an `{type}`"
            ),
            "agentv-field": (
                "AgentV reads the criteria of `type: {type}` from `{wanted}`, and {loss} `{field}`; rename it"
            ),
            "agentv-both-fields": (
                "AgentV reads the criteria of `type: {type}` from `{wanted}`, and {loss} `{field}`; this assertion has "
                "both, so join them"
            ),
            "agentv-empty": "`{wanted}` of `{type}` is empty, so nothing is judged by it; list its criteria",
            "agentv-missing": "`{type}` has no `{wanted}`, so nothing is judged by it; list its criteria there",
            "agentv-criteria-alone": (
                "AgentV takes a list of `criteria` alone as one value, not as criteria; write `outcome`"
            ),
            "agentv-score-ranges": (
                "AgentV ignores `score_ranges` next to a list of criteria; move it into a criterion"
            ),
            "agentv-one-criterion": (
                "AgentV takes `{taken}` of this mapping and drops its {dropped}; write a list of criteria"
            ),
            "agentv-5-type": "the criteria of `type: {type}` are not read: {reason}",
            "agentv-5-list": "{release} ignores `{list}`; {advice}",
            "agentv-5-turn": "{release} does not read `{list}` of a turn; {advice}",
            "agentv-4-string": "{release} skips strings in the `{field}` of `{type}`; write a mapping with `outcome`",
            "agentv-4-composite": "{release} skips strings in a `{type}`; write `type: {kind}` with `{criteria}`",
            "agentv-4-type": "the criteria of `type: {type}` are not read: {reason}",
            "agentv-4-dropped": "AgentV drops a criterion with `criteria` from `rubrics` of a test; write `outcome`",
            "agentv-4-evaluators": (
                "AgentV reads no `{list}` of a suite, so the criteria here are lost; write `{wanted}`"
            ),
            "agentv-second-list": (
                "AgentV reads only `{first}` of this test, so the criteria here are lost; join the two lists"
            ),
            "agentv-other-field": "AgentV does not read criteria of a test from `{field}`; {advice}",
            "agentv-turn": (
                "AgentV reads only strings as criteria of a turn and scores a mapping 0; write the criteria as strings "
                "into the list"
            ),
            "agentv-template": (
                "AgentV 5 renders this text with Nunjucks and fails at `{tag}`, so it does not load the suite; close "
                "the tag, or escape it"
            ),
            "agentv-variable": (
                "AgentV 5 writes nothing in place of `{name}`, which is not in `vars`; add it there, or escape the text"
            ),
            "agentv-object": (
                "AgentV 5 writes `[object Object]` in place of `{name}`, which is not a string; name a field of it"
            ),
        },
        fix="unsafe",
        marks=(_KEY, _VALUE),
    ),
    Rule(
        "repeated-case",
        _ERROR,
        {
            "second-case": (
                "a case with rubrics has the {field} `{name}` already, at {line}; results cannot tell the two apart, "
                "so rename one"
            ),
            "second-rubric": (
                "this is a second rubric named `{name}`, after the one at {line}; results cannot tell the two apart, "
                "so rename one"
            ),
        },
        marks=(_VALUE, _KEY, _HEAD),
    ),
)

_OF_TESTS = (
    Rule(
        "unmet-expectation",
        _ERROR,
        {
            "verdict": "test `{test}`: expected the verdict {expected}, but it is {verdict}: {explanation}",
            "score": "test `{test}`: expected the score {expected}, but it is {score}",
            "gate": "test `{test}`: expected the gate of `{criterion}` to be {expected}, but the judge gave {given}",
            "criterion": "test `{test}`: expected {expected} for `{criterion}`, but the judge gave {given}",
            "group": "test `{test}`: expected the score {expected} of the group `{criterion}`, but it is {given}",
            "gate-of-group": (
                "test `{test}`: expected the gate of the group `{criterion}` to be {expected}, but its score is {given}"
            ),
            "grade": "test `{test}`: expected the grade {expected}, but it is {grade}: score {score}",
            "unscored": (
                "test `{test}`: nothing in the rubric applies to this answer, so it has no score and no verdict; if "
                "that is right, expect `verdict: unscored` alone"
            ),
        },
        command=_TESTS,
    ),
    Rule(
        "unrecorded-test",
        _ERROR,
        {
            "missing": "test `{test}`: no recorded output: {reason}",
            "invalid": "test `{test}`: {reason}; judge it again with --record",
            "invalid-output": "test `{test}`: {reason}; correct it",
        },
        command=_TESTS,
    ),
    Rule(
        "broken-test",
        _ERROR,
        {
            "untestable": "{reason}",
            "unreadable-outputs": "the recorded outputs in {file} cannot be read: {reason}",
            "faulty-outputs": "the recorded outputs in {file} have an error in line {at}: {reason}",
            "two-outputs": (
                "test `{test}`: two recorded outputs in {file} have the id `{test}`, in lines {lines}; remove one"
            ),
            "unknown-criterion": "test `{test}`: the rubric has no {kind} `{criterion}`; {hint}",
            "no-gate": (
                "test `{test}`: `{criterion}` has no gate in the rubric; remove this line, or give the criterion one"
            ),
            "constant-gate": "test `{test}`: the gate of `{criterion}` is {when} met",
            "impossible-score": "test `{test}`: the rubric never has this score: {reason}",
            "impossible-answer": "test `{test}`: a judge never gives this to `{criterion}`: it takes {takes}",
        },
        command=_TESTS,
    ),
    Rule(
        "untested",
        _WARNING,
        {
            "gate-missed": "no test misses the gate of `{criterion}`; add one that does",
            "gate-met": "no test meets the gate of `{criterion}`; add one that does",
            "met": "no test has an answer that meets `{criterion}`; add one",
            "missed": "no test has an answer that does not meet `{criterion}`; add one",
            "not-applicable": "no test has an answer to which `{criterion}` does not apply; add one",
            "level": "no test has an answer in level {level}{of_criterion}; add one",
            "band": "no test has an answer in this band ({scores}){of_criterion}; add one",
        },
        command=_TESTS,
    ),
    Rule(
        "unnoticed-change",
        _WARNING,
        {
            "survives": (
                "no test notices it when {change}; {answer} would: its verdict turns from {before} to {after}"
            ),
            "survives-passing": (
                "no passing test notices it when {change}; {answer} would: its verdict turns from {before} to {after} "
                "({failing} left out)"
            ),
        },
        command=_TESTS,
    ),
)


def _judged(
    name: str,
    severity: Severity,
    messages: Mapping[str, str],
    *,
    finds: str,
    shows: str,
    brief: Mapping[str, str] = {},
    finds_of: Mapping[str, str] = {},
) -> Rule:
    """Return a rule on judged data; a `|` in a message ends what people need who know no statistics."""
    marked = {code: text.partition("|") for code, text in messages.items()}
    brief = brief or {code: before for code, (before, mark, _) in marked.items() if mark}
    whole = {code: before + after for code, (before, _, after) in marked.items()}
    return Rule(name, severity, whole, command=JUDGED, finds=finds, shows=shows, brief=brief, finds_of=finds_of)


_OF_JUDGED_DATA = (
    _judged(
        "judged-unstable",
        _WARNING,
        {
            "gate": (
                "the gate changes between samples of one answer: {rate} of pairs differ| ({bound}, {budget}; {n} "
                "answers with {samples} samples); {advice}"
            ),
            "verdict": (
                "the verdict changes between samples of one answer: {rate} of pairs differ| ({bound}, {budget}; {n} "
                "answers with {samples} samples); start with gates that change, and with scores near a threshold"
            ),
        },
        finds="the same answer gets different results",
        shows="whether the same answer always gets the same result",
    ),
    _judged(
        "judged-disagrees",
        _WARNING,
        {
            "gaps": "{gaps}; {budget}; {advice}{look}",
            "verdict": "verdicts: {gaps}; {budget}; {advice}{look}",
        },
        finds="the judge and people disagree",
        shows="whether the judge and people agree",
        brief={"gaps": "{gap}", "verdict": "{gap}"},
    ),
    _judged(
        "judged-flat",
        _HINT,
        {
            "alike": (
                "{share} {value}| ({bound}, {budget}); add answers that should get something else, ask for more, or "
                "remove the criterion if none can"
            ),
            "labels-differ": (
                "{share} {value}, but people give {differing} of {labelled} labelled ones something else| ({bound}, "
                "{budget}); say in the outcome what the judge overlooks; look at {look}"
            ),
        },
        finds="nearly every answer gets the same",
        shows="whether it tells answers apart",
    ),
    _judged(
        "judged-inverse",
        _HINT,
        {
            "correlation": (
                "it rises when the other criteria fall: r = {r} with their mean in {n} judged answers (chance alone "
                "reaches {chance}, {budget}); {advice}"
            ),
            "turned": (
                "it counts against an answer but rises with what the other criteria earn: r = {r} between what it "
                "earns and their mean in {n} judged answers (chance alone reaches {chance}, {budget}); {advice}"
            ),
        },
        finds="it rises when the other criteria fall",
        shows="whether it points the same way as the others",
        finds_of={"turned": "it counts against an answer but rises with what the other criteria earn"},
    ),
    _judged(
        "judged-length",
        _HINT,
        {
            "criterion": (
                "among answers that people judge alike, longer ones get {turn} values|: r = {r} in {n} labelled "
                "answers ({p}, {budget}); say in the outcome what an answer must have, whatever its length; look "
                "at {look}"
            ),
            "score": (
                "among answers that people score alike, longer ones get {turn} scores|: r = {r} in {n} labelled "
                "answers ({p}, {budget}); look at {look}"
            ),
        },
        finds="longer answers get other values than people give them",
        shows="whether the judge only rewards length",
    ),
)

ROWS = {
    rule.name.replace("-", "_"): rule for rule in (*_OF_TEXT, *_OF_SCHEMAS, *_OF_SEARCH, *_OF_TESTS, *_OF_JUDGED_DATA)
}
"""These rules by the names of their pages."""


def find_row(name: str) -> Rule:
    """Return one of these rules by its name."""
    return ROWS[name.replace("-", "_")]
