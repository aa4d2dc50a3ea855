"""What AgentV 5 loads, restated from its sources: no release of it is on npm, so nothing here runs AgentV itself.

The comments name the files that state the rules, below `packages/core/src/evaluation`. The fields are those of the
validator at c08d2bd89 (July 2026), without `target`, `targets`, `model`, `experiment` and `workspace` and with
`providers`, as 58f316ca2 has them.
"""

import re
from itertools import pairwise


def _words(text):
    return frozenset(text.split())


SUITE = _words("""
    $schema name description category version author tags license requires input_files prompts tests defaults
    environment providers timeout_seconds evaluate_options threshold default_test assert scenarios derived_metrics
    output_path env nunjucks_filters extensions metadata governance
""")
TEST = _words("""
    id description vars criteria provider_output input_files assert options execution run environment metadata
    conversation_id suite depends_on on_dependency_failure mode turns aggregation on_turn_failure window_size
""")
"""What yaml-parser.ts reads: the validator takes `threshold`, `assert_scoring_function`, `provider`, `providers` and
`prompts` too, which are never read."""
EXECUTION = _words("assert skip_defaults cache trials budget_usd budgetUsd fail_on_error failOnError threshold")
KNOWN = _words("""
    llm-rubric agent-rubric assert-set script javascript python webhook similar skill-used not-skill-used
    trajectory:tool-used trajectory:tool-sequence trajectory:tool-args-match field-accuracy latency cost token-usage
    execution-metrics contains contains-any contains-all icontains icontains-any icontains-all starts-with ends-with
    regex is-json equals
""")
"""Any other type is refused (loaders/grader-parser.ts) or scored 0 (graders/grader-registry.ts)."""
RESERVED = _words("""
    answer-relevance bleu classifier contains-html contains-json contains-sql contains-xml context-faithfulness
    context-recall context-relevance conversation-relevance factuality finish-reason gleu guardrails human is-html
    is-refusal is-sql is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml levenshtein
    max-score meteor model-graded-closedqa model-graded-factuality moderation perplexity perplexity-score pi rouge-n
    ruby search-rubric select-best similar:cosine similar:dot similar:euclidean tool-call-f1 trace-error-spans
    trace-span-count trace-span-duration word-count
""")
"""Types that loaders/grader-parser.ts refuses as custom assertions, with `not-` before them too."""
REFUSED_BY_JUDGES = {"criteria", "rubrics", "rubric_item", "rubricItem", "target"}

_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_FILLED_LATER = re.compile(r'\{\{ "[^"]*" \}\}|\{\{ env\.\w+ \}\}')


def faults(suite):
    """What AgentV 5 refuses, skips or never reads of a suite, each with its place."""
    tests = suite["tests"] if isinstance(suite.get("tests"), list) else ()  # else the path of a file with them
    found = [*_list_suite_faults(suite)]
    for test in tests:
        found += [f"{test.get('id')}: {fault}" for fault in _list_test_faults(suite, test)]
    return found


def _list_suite_faults(suite):
    options = suite.get("evaluate_options") or {}
    providers = suite.get("providers", [])
    names = providers if isinstance(providers, list) else [providers]
    labels = [suite.get(key, "") for key in ("version", "author", "license", "description")]
    workers, repeat = options.get("max_concurrency", 1), options.get("repeat", 1)
    broken = {
        "providers": len(set(map(str, names))) < len(names) or not all(names),  # loaders/config-loader.ts
        "workers": type(workers) is not int or not 1 <= workers <= 50,
        "threshold": not 0 <= suite.get("threshold", 0) <= 1,
        "repeat": type(repeat) is not int or repeat < 1,
        # yaml-parser.ts, parseMetadata: with a name, labels of a wrong type stop the whole file.
        "labels": isinstance(suite.get("name"), str) and not all(isinstance(label, str) for label in labels),
        "tests": not isinstance(suite.get("tests"), list | str),
        "input_files beside prompts": "input_files" in suite and "prompts" in suite,
    }
    yield from (f"no field {key}" for key in suite if key not in SUITE)  # validation/eval-validator.ts
    yield from (name for name, is_broken in broken.items() if is_broken)
    yield from _list_assertion_faults(suite.get("assert", []), is_of_suite=True)
    yield from _list_assertion_faults((suite.get("default_test") or {}).get("assert", []))


def _list_test_faults(suite, test):
    given, execution = test.get("vars", {}), test.get("execution", {})
    own = test.get("assert", execution.get("assert", []))
    shared = suite.get("assert") or (suite.get("default_test") or {}).get("assert")
    # yaml-parser.ts renders these with Nunjucks as soon as there are variables; a bad tag stops the whole file.
    rendered = [own, given.get("input"), test.get("criteria")] if given else []
    lists = [given[key] for key in ("input", "expected_output") if isinstance(given.get(key), list)]
    messages = given["input"] if isinstance(given.get("input"), list) else []
    contents = [message.get("content") for message in messages if isinstance(message, dict) and "role" in message]
    broken = {
        "skipped without id": not isinstance(test.get("id"), str) or not test["id"].strip(),
        # orchestrator.ts: "No assertions declared; grading skipped" passes; yaml-parser.ts skips a test with nothing.
        "unjudged": test.get("assert") == [] or not (shared or test.keys() & {"criteria", "assert", "turns"}),
        "criteria beside assert": "criteria" in test and "assert" in test,  # validation/eval-validator.ts
        "no input": "prompts" not in suite and "prompts" not in test,
        "input_files beside prompts": "input_files" in test and "prompts" in suite,
        "empty prompt": suite.get("prompts") == ["{{ input }}"] and "input" not in given,
        # yaml-parser.ts: a variable that is a list of strings, or an empty one, makes other tests of this one.
        "several tests": any(isinstance([*value, ""][0], str) for value in lists),
        "messages": not all(isinstance(content, str | list | dict) for content in contents),
        "variables of AgentV 4": re.search(r"\$\{\{\s*[A-Za-z_]\w*\s*\}\}", str(test)),
        # A tag that is opened and not closed, or closed and not opened.
        "template": any(re.search(r"\{[{%#]|#\}", _TAG.sub("", text)) for text in _list_texts(rendered)),
    }
    yield from (f"no field {key}" for key in test if key not in TEST)
    yield from (f"no field {key} of execution" for key in execution if key not in EXECUTION)
    yield from (name for name, is_broken in broken.items() if is_broken)
    yield from _list_assertion_faults(own)


def _list_texts(value):
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_texts(inner)


def _list_assertion_faults(assertions, *, is_of_suite=False):
    if not isinstance(assertions, list):
        yield "assert is no list"
        return
    for assertion in assertions:
        if isinstance(assertion, str) or "include" in assertion:
            continue
        kind = assertion.get("type")
        is_judge = kind in {"llm-rubric", "agent-rubric"}
        # yaml-parser.ts renders the prompt of a test before the judge's own names are known, and none of a suite.
        prompt = "" if is_of_suite else _FILLED_LATER.sub("", str(assertion.get("prompt", "")))
        entries = _list_entries(assertion.get("value"))
        has_bands = any("score_ranges" in entry for entry in [assertion, *entries] if isinstance(entry, dict))
        broken = {
            f"grader {kind}": kind not in KNOWN,
            "required is no boolean": not isinstance(assertion.get("required", False), bool),
            "min_score": not 0 < assertion.get("min_score", 1) <= 1,
            "weight": not assertion.get("weight", 1) >= 0,
            "refused field": assertion.keys() & {"preprocessors", "postprocess", "name"},
            "refused field of a judge": is_judge and assertion.keys() & REFUSED_BY_JUDGES,
            "an agent sees no bands": kind == "agent-rubric" and has_bands,
            "the prompt loses its variables": is_judge and "{{" in prompt,
            "skipped without value": is_judge and not assertion.keys() & {"value", "prompt"},
            "script without command": kind == "script" and not assertion.get("command"),
            "criterion": is_judge and not all(isinstance(entry, str) or _is_criterion(entry) for entry in entries),
        }
        yield from (name for name, is_broken in broken.items() if is_broken)
        if kind == "assert-set":
            yield from _list_assertion_faults(assertion.get("assert"), is_of_suite=is_of_suite)


def _list_entries(value):
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _is_criterion(entry):
    """Whether the loader takes a criterion (loaders/grader-parser.ts, 2379-2478), else it skips the test."""
    return (
        isinstance(entry, dict)
        and bool(entry.keys() & {"outcome", "criteria", "score_ranges"})
        and "required_min_score" not in entry
        and 0 < entry.get("min_score", 1) <= 1
        and ("score_ranges" not in entry or _covers(entry["score_ranges"]))
    )


def _covers(ranges):
    """Whether bands cover 0 to 10 without overlap."""
    if isinstance(ranges, dict):
        starts = [int(key) for key in ranges]
        return min(starts) == 0 and max(starts) <= 10 and all(ranges.values())
    bounds = sorted(tuple(band["score_range"]) for band in ranges)
    is_joined = all(one[1] + 1 == two[0] for one, two in pairwise(bounds))
    return bounds[0][0] == 0 and bounds[-1][1] == 10 and is_joined and all(band.get("outcome") for band in ranges)
