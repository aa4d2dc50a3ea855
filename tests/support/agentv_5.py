"""What AgentV 5 loads, restated from its sources: no release of it is on npm, so nothing here runs AgentV itself.

Each check names the file and the rule that it restates, below `packages/core/src/evaluation`. The fields are those of
the validator at c08d2bd89 (July 2026), without `target`, `targets`, `model`, `experiment` and `workspace` and with
`providers`, as 58f316ca2 has them.
"""

import re
from itertools import pairwise

SUITE = frozenset(
    {
        "$schema", "name", "description", "category", "version", "author", "tags", "license", "requires", "input_files",
        "prompts", "tests", "defaults", "environment", "providers", "timeout_seconds", "evaluate_options",
        "threshold", "default_test", "assert", "scenarios", "derived_metrics", "output_path", "env", "nunjucks_filters",
        "extensions", "metadata", "governance"
    }
)  # fmt: skip
TEST = frozenset(
    {
        "id", "description", "vars", "criteria", "provider", "providers", "prompts", "provider_output", "input_files",
        "assert", "assert_scoring_function", "options", "threshold", "execution", "run", "environment", "metadata",
        "conversation_id", "suite", "depends_on", "on_dependency_failure", "mode", "turns", "aggregation",
        "on_turn_failure", "window_size"
    }
)  # fmt: skip

EXECUTION = frozenset(
    {
        "assert", "skip_defaults", "cache", "trials", "budget_usd", "budgetUsd", "fail_on_error", "failOnError",
        "threshold"
    }
)  # fmt: skip

REFUSED = frozenset(
    {
        "script-grader", "code-judge", "code_judge", "code_grader", "g-eval", "rubrics", "rubric", "composite",
        "llm-judge", "llm_judge", "llm-grader", "llm_grader", "skill-trigger", "tool-trajectory", "tool_trajectory"
    }
)  # fmt: skip

RESERVED = frozenset(
    {
        "answer-relevance", "bleu", "classifier", "contains-html", "contains-json", "contains-sql", "contains-xml",
        "context-faithfulness", "context-recall", "context-relevance", "conversation-relevance", "factuality",
        "finish-reason", "gleu", "guardrails", "human", "is-html", "is-refusal", "is-sql", "is-valid-function-call",
        "is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml", "levenshtein", "max-score", "meteor",
        "model-graded-closedqa", "model-graded-factuality", "moderation", "perplexity", "perplexity-score", "pi",
        "rouge-n", "ruby", "search-rubric", "select-best", "similar:cosine", "similar:dot", "similar:euclidean",
        "tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration", "word-count"
    }
)  # fmt: skip
"""Types that loaders/grader-parser.ts refuses as custom assertions, with `not-` before them too."""

KNOWN = frozenset(
    {
        "llm-rubric", "agent-rubric", "assert-set", "script", "javascript", "python", "webhook", "similar",
        "skill-used", "not-skill-used", "trajectory:tool-used", "trajectory:tool-sequence",
        "trajectory:tool-args-match", "field-accuracy", "latency", "cost", "token-usage", "execution-metrics",
        "contains", "contains-any", "contains-all", "icontains", "icontains-any", "icontains-all", "starts-with",
        "ends-with", "regex", "is-json", "equals"
    }
)  # fmt: skip
"""Any other type is scored 0 (graders/grader-registry.ts)."""

REFUSED_BY_JUDGES = ("criteria", "rubrics", "rubric_item", "rubricItem", "target")

UNREAD = frozenset({"threshold", "assert_scoring_function", "provider", "providers", "prompts"})
"""Fields of a test that the validator accepts and yaml-parser.ts never reads."""

_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)


def faults(suite):
    """What AgentV 5 says of a suite, each with its place."""
    tests = suite["tests"] if isinstance(suite.get("tests"), list) else ()  # else the path of a file with them
    return [*_suite_faults(suite), *(fault for test in tests for fault in _test_faults(suite, test))]


def _suite_faults(suite):
    # validation/eval-validator.ts, validateEvalFile: KNOWN_TOP_LEVEL_FIELDS and REMOVED_TOP_LEVEL_FIELDS.
    yield from (f"Unknown top-level field {key}" for key in suite if key not in SUITE)
    # loaders/config-loader.ts, extractTargetRefsFromSuite: names, or definitions with an id, all different.
    providers = suite.get("providers", [])
    names = providers if isinstance(providers, list) else [providers]
    if len(set(map(str, names))) < len(names) or not all(names):
        yield "Duplicate or empty provider"
    # loaders/config-loader.ts, extractWorkersFromSuite.
    workers = (suite.get("evaluate_options") or {}).get("max_concurrency", 1)
    if type(workers) is not int or not 1 <= workers <= 50:
        yield "Invalid max_concurrency"
    # loaders/config-loader.ts, extractThreshold.
    if not 0 <= suite.get("threshold", 0) <= 1:
        yield "Invalid threshold"
    repeat = (suite.get("evaluate_options") or {}).get("repeat", 1)
    if type(repeat) is not int or repeat < 1:
        yield "Invalid repeat"
    # yaml-parser.ts, parseMetadata: with a name, labels of a wrong type stop the whole file.
    labels = [suite.get(key, "") for key in ("version", "author", "license", "description")]
    if isinstance(suite.get("name"), str) and not all(isinstance(label, str) for label in labels):
        yield "Invalid metadata"
    if not isinstance(suite.get("tests"), list | str):
        yield "Missing or invalid tests"
    # yaml-parser.ts: "cannot be combined with 'prompts'".
    if "input_files" in suite and "prompts" in suite:
        yield "input_files beside prompts"
    yield from _assertion_faults(suite.get("assert", []), "suite")
    # yaml-parser.ts: the assertions of `default_test` stand before those of each test.
    yield from _assertion_faults((suite.get("default_test") or {}).get("assert", []), "default_test")


def _test_faults(suite, test):
    name = test.get("id")
    # yaml-parser.ts: the loader skips a row without an id.
    if not isinstance(name, str) or not name.strip():
        yield "Test without id"
    # validation/eval-validator.ts: KNOWN_TEST_FIELDS, REMOVED_TEST_FIELDS, and the check of `expected_output`.
    yield from (f"{name}: unknown test field {key}" for key in test if key not in TEST)
    yield from (f"{name}: {key} is never read" for key in test if key in UNREAD)
    yield from _variable_faults(test.get("vars", {}), name)
    # orchestrator.ts: "No assertions declared; grading skipped" passes; yaml-parser.ts skips a test with nothing.
    shared = suite.get("assert") or (suite.get("default_test") or {}).get("assert")
    if test.get("assert") == [] or not (shared or test.keys() & {"criteria", "assert", "turns"}):
        yield f"{name}: nothing judges it"
    # validation/eval-validator.ts: "Do not combine test-level 'criteria' with 'assert'".
    if "criteria" in test and "assert" in test:
        yield f"{name}: criteria beside assert"
    # validation/eval-validator.ts, validateInputField: required without prompts.
    if "prompts" not in suite and "prompts" not in test:
        yield f"{name}: no input"
    # validation/eval-validator.ts, validateTestExecutionFields: KNOWN_TEST_EXECUTION_FIELDS.
    yield from (
        f"{name}: unsupported execution field {key}" for key in test.get("execution", {}) if key not in EXECUTION
    )
    # yaml-parser.ts: beside prompts, only a PROMPT.md is looked for among the files.
    if "input_files" in test and "prompts" in suite:
        yield f"{name}: input_files is not read"
    # A template that asks for a variable that is not there renders as nothing.
    if suite.get("prompts") == ["{{ input }}"] and "input" not in test.get("vars", {}):
        yield f"{name}: the prompt is empty"
    own = test.get("assert", test.get("execution", {}).get("assert", []))
    yield from _assertion_faults(own, name)
    if re.search(r"\$\{\{\s*[A-Za-z_]\w*\s*\}\}", str(test)):  # only AgentV 4 fills these in
        yield f"{name}: a variable of the environment in the words of AgentV 4"
    if test.get("vars"):
        # yaml-parser.ts renders these with Nunjucks as soon as there are variables; a bad tag stops the whole file.
        rendered = [own, test["vars"].get("input"), test.get("criteria")]
        yield from (f"{name}: broken template {text!r}" for text in _texts(rendered) if _is_broken(text))


def _variable_faults(given, name):
    # yaml-parser.ts: a variable that is a list of strings, or an empty one, makes other tests of this one.
    for key, value in given.items():
        if key in ("input", "expected_output") and isinstance(value, list) and isinstance([*value, ""][0], str):
            yield f"{name}: {key} is several tests"
    for message in given["input"] if isinstance(given.get("input"), list) else ():
        if (
            isinstance(message, dict)
            and "role" in message
            and not isinstance(message.get("content"), str | list | dict)
        ):
            yield f"{name}: the content of a message is not a string"


def _texts(value):
    if isinstance(value, str):
        yield value
    children = value.values() if isinstance(value, dict) else value
    for inner in children if isinstance(value, dict | list) else ():
        yield from _texts(inner)


def _is_broken(text):
    """Whether a tag is opened and not closed, or a block or a comment is closed and not opened."""
    return re.search(r"\{[{%#]|#\}", _TAG.sub("", text)) is not None


def _assertion_faults(assertions, name):
    if not isinstance(assertions, list):
        yield f"{name}: assert is not a list"
        return
    for assertion in assertions:
        if isinstance(assertion, str) or "include" in assertion:
            continue
        kind = assertion.get("type")
        # loaders/grader-parser.ts, removedGraderReplacement; validation/eval-validator.ts, the removed types.
        if kind in REFUSED or kind not in KNOWN:
            yield f"{name}: unsupported grader {kind}"
        # loaders/grader-parser.ts: `required` of an assertion is a boolean.
        if not isinstance(assertion.get("required", False), bool):
            yield f"{name}: 'required' is a boolean"
        if not 0 < assertion.get("min_score", 1) <= 1 or not assertion.get("weight", 1) >= 0:
            yield f"{name}: invalid min_score or weight"
        yield from (f"{name}: refused {key}" for key in ("preprocessors", "postprocess", "name") if key in assertion)
        if kind == "assert-set":
            yield from _assertion_faults(assertion.get("assert"), name)
        if kind in ("llm-rubric", "agent-rubric"):
            yield from _judge_faults(assertion, name)
        if kind == "script" and not assertion.get("command"):
            yield f"{name}: script without command"


def _judge_faults(assertion, name):
    kind = assertion["type"]
    # loaders/grader-parser.ts 1810: "Unsupported llm-rubric field".
    yield from (f"{name}: unsupported field {key}" for key in REFUSED_BY_JUDGES if key in assertion)
    value = assertion.get("value")
    entries = [assertion, *(value if isinstance(value, list) else [value])]
    if kind == "agent-rubric" and any("score_ranges" in item for item in entries if isinstance(item, dict)):
        yield f"{name}: an agent sees no bands"
    # yaml-parser.ts renders the prompt of a test before the judge's own names are known, and none of a suite.
    if name != "suite" and "{{" in re.sub(
        r'\{\{ "[^"]*" \}\}|\{\{ env\.\w+ \}\}', "", str(assertion.get("prompt", ""))
    ):
        yield f"{name}: the prompt loses its variables"
    if "value" not in assertion and "prompt" not in assertion:
        yield f"{name}: {kind} without value and prompt is skipped"
    yield from _value_faults(assertion.get("value"), name)


def _value_faults(value, name):
    # loaders/grader-parser.ts 2379-2478: which values hold criteria, and what makes the loader skip the test.
    entries = [value] if isinstance(value, dict) else value
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, str):
            continue
        if not isinstance(entry, dict) or not (entry.keys() & {"outcome", "criteria", "score_ranges"}):
            yield f"{name}: missing outcome"
        elif "required_min_score" in entry:
            yield f"{name}: 'required_min_score' has been removed"
        elif not 0 < entry.get("min_score", 1) <= 1:
            yield f"{name}: 'min_score' must be in (0, 1]"
        elif "score_ranges" in entry and not _covers(entry["score_ranges"]):
            yield f"{name}: incomplete score_ranges"


def _covers(ranges):
    """Whether bands cover 0 to 10 without overlap (loaders/grader-parser.ts, the checks of score_ranges)."""
    if isinstance(ranges, dict):
        starts = [int(key) for key in ranges]
        return min(starts) == 0 and max(starts) <= 10 and all(ranges.values())
    bounds = sorted(tuple(band["score_range"]) for band in ranges)
    is_joined = all(one[1] + 1 == two[0] for one, two in pairwise(bounds))
    return bounds[0][0] == 0 and bounds[-1][1] == 10 and is_joined and all(band.get("outcome") for band in ranges)
