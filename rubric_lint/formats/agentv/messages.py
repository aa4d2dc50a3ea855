"""What is said of a suite that is rewritten for a release of AgentV: each text by its code, with the values in it."""

from collections.abc import Mapping

MESSAGES: Mapping[str, str] = {
    # Any release
    "whole": "nothing is rewritten before these are changed, and others may be found then: "
    "a suite is rewritten whole or not at all",
    "deprecated": "deprecated fields are rewritten with the suite, not before; `rubric-lint fix` without `--to` "
    "rewrites them alone",
    "errors-first": "{message}; not rewritten for {release} before its errors are fixed",
    "several-documents": "{release} loads no file with several documents; write each to a file of its own",
    "unread": "{part}: {reason}",
    "include": "`include` of a test: {release} refuses it",
    "obstacle": "{reason}",
    "field-taken": "`{field}` is there too; remove one",
    "written-twice": "`{field}` is written twice; remove one",
    "other-file": "the {holds} in `{file}` are not rewritten; run this on that file too",
    "unknown-type": "no release of AgentV has `type: {type}`; it scores 0 unless `.agentv/assertions/` defines it",
    "version-3": "no release reads rubrics of version 3; `{command}` writes the suite anew",
    "other-system": "a rubric of {system}, which {release} does not read",
    "levels": "{release} has no levels, only checklists and criteria with `score_ranges`",
    "bare-criterion": "{release} has no criterion outside a list; write a list of one",
    "outside-tests": "{release} reads rubrics only in the cases of `tests`; move this one to a case",
    "unread-type": "{release} does not read criteria in `{type}`; write {known}",
    "unread-strings": "{release} skips the strings in an assertion of the type `{type}`; write mappings",
    "unread-execution": "{release} does not read `execution.{list}`; move it up",
    "no-criteria": "nothing in it is read as criteria; write each with an `id` and an `outcome`",
    "second-tests": "AgentV reads only `{read}` here; join it with `{field}`",
    "no-type": "AgentV skips an assertion without a `type`; write one, or remove it",
    "no-assertions": "`{field}` is not a list of assertions",
    "never-read": "AgentV reads no `{field}` here; remove it, or write `assertions`",
    "no-command": "{release} has `{new}` with `command` for `{type}`; write one",
    "test-without": "{release} skips a test without {missing}",
    # AgentV 4
    "later": "the suite is written for AgentV 5, and `--to` never goes back to an earlier release; restore it from "
    "Git, such as with `git revert`",
    "member-without-name": "AgentV 4 skips what has no `name` in a `composite`",
    "ignored-labels": "{tests} a `description`, a label, which AgentV 4 ignores with a warning",
    # AgentV 5: a suite and its tests
    "criteria-and-description": "AgentV 5 refuses `{field}` beside `assert`, and `description` is there already",
    "rubrics-no-list": "`rubrics` is not a list of criteria",
    "setting-twice": "`{field}` stands at the top of the suite too; remove one",
    "option-taken": "write it as `{option}` in `evaluate_options`, which is there",
    "two-providers": "AgentV 5 has `providers` for this, and the suite has two of them; join them",
    "provider-settings": "AgentV 5 reads `providers`, and only the name of a provider can be moved there",
    "provider-twice": "AgentV 5 refuses a provider that is named twice; remove one",
    "input-of-others": "`{field}` of a suite goes into the input of each test, and some are in other files",
    "input-messages": "AgentV reads what is added to it only beside `input`; rename it",
    "input-apart": "only an `input` that is one string takes files, and only messages go after the `input` of the "
    "suite",
    "prompts-of-others": "AgentV 5 would put `prompts` before these cases too; move them into a suite",
    "input-and-prompts": "AgentV 5 refuses `{field}`, and the suite has `prompts` already; move it to `vars`",
    "vars-no-mapping": "`vars` is not a mapping",
    "variable-taken": "`vars` has `{variable}` too; remove one",
    "input-skipped": "AgentV skips a test with {found} as its input; write a string, or messages",
    "field-makes-tests": "in `vars`, AgentV 5 makes {made}; write one string",
    "variable-makes-tests": "AgentV 5 makes {made}, and AgentV 4 one test; write one string",
    "filled-by-4": "AgentV 4 fills in `vars` here, and AgentV 5 does not; write the text",
    "environment": "AgentV 5 fills in this variable of the environment, and AgentV 4 has another form for it; write "
    "the text",
    "filled-by-5": "AgentV 5 fills in `{{{{`, `{{%` and `{{#` here, and earlier releases only the names in `vars`; "
    "write it by hand",
    "template": "AgentV 5 renders this text and fails at `{tag}`, so it does not load the suite",
    "no-input": "the test has no `input`, which AgentV 5 needs in `vars`",
    # AgentV 5: assertions
    "skill": "AgentV 5 has `skill-used` with `value` for `skill-trigger`; write the name of one `skill`",
    "read-by-5": "AgentV 4 ignores `{field}` of `{type}`, and AgentV 5 would read it; remove it",
    "empty-slot": "AgentV 5 puts nothing in place of `{slot}` in the prompt of its judge; write what it should read",
    "program-as-text": "AgentV 5 takes this `prompt` for text; write its program as `command`, or its text",
    "judge-without-value": "AgentV 5 has `{new}` with `value` for `{type}`, and the test has no `criteria`",
    "aggregator": "AgentV 5 has `assert-set` for `composite`, only with the aggregator `weighted_average`; change it "
    "by hand",
    "set-of-one-list": "AgentV 5 has `assert-set` for `composite`, with one list of assertions; write one",
    "member-without-name-in-5": "AgentV 4 skips what has no `name` in a `composite`, and AgentV 5 does not",
    "weight-of-member": "AgentV 5 counts the `weight` of a member, and AgentV 4 does not",
    # What is rewritten, and read otherwise
    "scales": "{scales} now the bands of one criterion, `{id}`: scores stay the same, judges answer in `checks`",
    "no-gates": "{criteria} no gate and no `required`: {release} requires {them}, so nothing is written; to make "
    "{them} optional, run this on the original suite with --unsaid optional",
    "idle-gates": "{criteria} `required_min_score: 0`, which is no gate here, so `required: false` is written: AgentV "
    "before February 2026 required them all; if that is meant, remove it",
    "criteria-unseen": "in {tests}, `criteria` is now `description`: judges of AgentV 5 do not see it",
    "expected-unseen": "in {tests}, `expected_output` is now in `vars`: judges of AgentV 5 see it only where an "
    "assertion of a test names it",
    "providers": "`target` is now `providers`, as the newest AgentV 5 reads it; 5.1 to 5.3 refuse that and read "
    "`target`",
    "criteria-alone": "{tests} `criteria` alone: AgentV 4 gives a score from 0 to 1 for it, AgentV 5 asks whether it "
    "is met",
    "old-members": "{members} of a `composite` {have}: AgentV 4 skips such members, and they count now",
    "scripts": "{graders} now `script`: AgentV 5 reads `pass`, `score` or `checks` of what the program prints, and no "
    "`assertions`",
    "skills": "{graders} now `skill-used`: AgentV 4 looks for the name in the calls of tools and their paths, AgentV 5 "
    "for exactly this name in the calls of skills that the provider reports",
    "sequences": "{graders} now `trajectory:tool-sequence`: AgentV 4 gives a part of the score for a part of the tools",
    # Why a rewriting is in doubt
    "bytes": "its bytes cannot be reproduced exactly",
    "new-finding": "there would be a new finding, {rule}: {message}",
    "unrecognized": "it would not be recognized as a suite for {release}",
    "scored-otherwise": "a rubric would be scored differently",
    "read-otherwise": "{release} would not read `{id}` and the criteria beside it as intended",
}


def write(code: str, values: Mapping[str, object]) -> str:
    """Write the message with a code."""
    return MESSAGES[code].format_map(values)
