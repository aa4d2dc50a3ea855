"""The messages about a suite that is rewritten for a release of AgentV, by code; values fill their fields."""

from collections.abc import Mapping

MESSAGES: Mapping[str, str] = {
    # Any release
    "whole": "nothing was rewritten, because a suite is rewritten as a whole; fix these and run it again, which may "
    "find more",
    "deprecated": "deprecated fields are rewritten only with the whole suite; to rewrite them alone, run `rubric-lint "
    "fix` without `--to`",
    "errors-first": "{message}; fix errors before you convert to {release}",
    "several-documents": "{release} does not load files with several documents; write each document to its own file",
    "unread": "{part}: {reason}",
    "include": "`include` of a test: {release} refuses it; copy the included tests into this suite",
    "obstacle": "{reason}",
    "field-taken": "`{field}` already exists here; remove one of the two",
    "written-twice": "`{field}` is written twice; remove one",
    "other-file": "the {holds} in `{file}` were not rewritten; run this command on that file too",
    "unknown-type": "AgentV has no `type: {type}`; it scores 0 unless you define it in `.agentv/assertions/`",
    "version-3": "no release of AgentV reads version 3 of our format; run `{command}` to write a new suite",
    "other-system": "{release} does not read rubrics of {system}; rewrite this one by hand or move it to another file",
    "levels": "{release} has no levels; write a checklist or criteria with `score_ranges`",
    "bare-criterion": "{release} reads criteria only from a list; put this one in a list",
    "outside-tests": "{release} reads rubrics only from the cases of `tests`; move this one into a case",
    "unread-type": "{release} does not read criteria from `{type}`; use {known}",
    "unread-strings": "{release} skips strings in an assertion of type `{type}`; write each as a mapping with "
    "`outcome`",
    "unread-execution": "{release} does not read `execution.{list}`; move it out of `execution`",
    "no-criteria": "no criteria found in this list; write each one with an `id` and an `outcome`",
    "second-tests": "AgentV reads `{read}` and ignores `{field}`; merge the two lists",
    "no-type": "AgentV skips an assertion without a `type`; add one or remove the assertion",
    "no-assertions": "`{field}` must be a list of assertions",
    "never-read": "AgentV does not read `{field}` here; remove it or write `assertions`",
    "no-command": "`{type}` becomes `{new}` in {release}, which needs one `command`; write one",
    "test-without": "{release} skips a test without {missing}",
    # AgentV 4
    "later": "this suite is for AgentV 5, and `--to` cannot convert it to an earlier release; restore the earlier "
    "version from Git, for example with `git revert`",
    "member-without-name": "AgentV 4 skips members of a `composite` that have no `name`; add one",
    "ignored-labels": "{tests} a `description`; AgentV 4 ignores it and prints a warning",
    # AgentV 5: a suite and its tests
    "criteria-and-description": "AgentV 5 refuses `{field}` next to `assert`, and it cannot become `description`, "
    "which the test already has; remove one",
    "rubrics-no-list": "`rubrics` must be a list of criteria",
    "setting-twice": "`{field}` is set here and at the top of the suite; remove one",
    "option-taken": "the suite already has `evaluate_options`; write this there as `{option}`",
    "two-providers": "AgentV 5 reads one list `providers`, and several fields of this suite would become it; merge "
    "them",
    "provider-settings": "only the name of a provider can move to `providers`; write its settings there by hand",
    "provider-twice": "AgentV 5 refuses duplicate providers; remove one",
    "input-of-others": "`{field}` of the suite becomes part of each test, but some tests are in other files; move it "
    "into the tests",
    "input-messages": "AgentV adds the suite's input and files only to `input`; rename `input_messages` to `input`",
    "input-apart": "with `input_files`, `input` must be a string; after the `input` of the suite, a string or messages",
    "prompts-of-others": "the new `prompts` would also apply to these cases; move them into a suite of their own",
    "input-and-prompts": "AgentV 5 refuses `{field}`, and the suite already has `prompts`; move `{field}` into `vars`",
    "vars-no-mapping": "`vars` must be a mapping",
    "variable-taken": "`vars` already has `{variable}`; remove one of the two",
    "input-skipped": "AgentV skips a test whose input is {found}; write a string or messages",
    "field-makes-tests": "when this is in `vars`, AgentV 5 makes {made}; write one string",
    "variable-makes-tests": "AgentV 5 makes {made}, but AgentV 4 makes one test; write one string",
    "filled-by-4": "AgentV 4 fills in `vars` here, but AgentV 5 does not; write out the text",
    "environment": "AgentV 5 fills in this environment variable, but AgentV 4 does not; write out the text",
    "filled-by-5": "AgentV 5 evaluates `{{{{`, `{{%` and `{{#` here, but earlier releases fill in only the names in "
    "`vars`; rewrite this text by hand",
    "template": "AgentV 5 cannot render this text: it fails at `{tag}` and does not load the suite; close the tag or "
    "escape it",
    "no-input": "the test has no `input`; AgentV 5 needs one in `vars`",
    # AgentV 5: assertions
    "skill": "`skill-trigger` becomes `skill-used` in AgentV 5; name one `skill`, and write `should_trigger` as true "
    "or false",
    "read-by-5": "AgentV 4 ignores `{field}` of `{type}`, but AgentV 5 would read it; remove it",
    "empty-slot": "AgentV 5 leaves `{slot}` empty in the judge's prompt; write out what the judge should read",
    "program-as-text": "AgentV 5 reads this `prompt` as text; write a program as `command`, or write the text of the "
    "prompt",
    "judge-without-value": "`{type}` becomes `{new}` in AgentV 5, which needs a `value`; the test has no `criteria` "
    "to use, so add one",
    "aggregator": "`composite` becomes `assert-set` in AgentV 5, but only with the aggregator `weighted_average`; "
    "change this one by hand",
    "set-of-one-list": "`composite` becomes `assert-set` in AgentV 5, which needs exactly one list of assertions; "
    "write one",
    "member-without-name-in-5": "AgentV 4 skips a member of a `composite` without a `name`, but AgentV 5 counts it; "
    "name it or remove it",
    "weight-of-member": "AgentV 4 ignores the `weight` of a member, but AgentV 5 counts it; remove it",
    # What is rewritten, and read otherwise
    "scales": "{scales} now the bands of one criterion, `{id}`: scores stay the same, and judges answer with `checks`",
    "no-gates": "{criteria} neither a gate nor `required`, and {release} requires {them} anyway, so no field was "
    "added; to make {them} optional, run this on the original suite with --unsaid optional",
    "no-borderline": "the threshold {mark} of `borderline` in {rubrics}: {release} has only pass and fail",
    "idle-gates": "{criteria} `required_min_score: 0`, which is not a gate, so `required: false` replaces it; AgentV "
    "before February 2026 required them all: if you want that, remove `required: false`",
    "criteria-unseen": "in {tests}, `criteria` is now `description`, which judges of AgentV 5 do not see",
    "expected-unseen": "in {tests}, `expected_output` is now in `vars`: judges of AgentV 5 see it only if an "
    "assertion of the test names it",
    "providers": "`target` is now `providers`, as the latest AgentV 5 reads it; versions 5.1 to 5.3 refuse "
    "`providers` and read `target`",
    "criteria-alone": "{tests} only `criteria`: AgentV 4 scores it from 0 to 1, AgentV 5 asks whether it is met",
    "old-members": "{members} of a `composite` {have}, which AgentV 4 skips; AgentV 5 counts them",
    "scripts": "{graders} now `script`: AgentV 5 reads `pass`, `score` or `checks` from the program's output, and no "
    "`assertions`",
    "skills": "{graders} now `skill-used`: AgentV 4 searches tool calls and their paths for the name, AgentV 5 only "
    "the skill calls that the provider reports, by exact name",
    "sequences": "{graders} now `trajectory:tool-sequence`: AgentV 4 gives partial credit for some of the tools, "
    "AgentV 5 gives all or nothing",
    # Why a rewriting is in doubt
    "bytes": "its bytes cannot be reproduced exactly",
    "new-finding": "it would cause a new finding, {rule}: {message}",
    "unrecognized": "the result would not be recognized as a suite for {release}",
    "scored-otherwise": "a rubric would be scored differently",
    "read-otherwise": "{release} would read `{id}` and the criteria next to it differently",
}


def format_message(code: str, values: Mapping[str, object]) -> str:
    """Return the message with a code."""
    return MESSAGES[code].format_map(values)
