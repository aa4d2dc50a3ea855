"""Say which fields of cases and which assertions mean the same in AgentV 4, AgentV 5 and promptfoo.

Sources: AgentV 4.42.4 (the validator's known fields, its graders, and its own importer of promptfoo files), AgentV at
58f316ca2 (`validation/eval-validator.ts`, `graders/assertions.ts`, `latency.ts`, `cost.ts`), and promptfoo
(`src/assertions/contains.ts`, `regex.ts`, `json.ts`, `equals.ts`, `startsWith.ts`, `latency.ts`, `cost.ts`).
"""

from collections.abc import Mapping
from types import MappingProxyType

AGENTV_4, AGENTV_5, PROMPTFOO, OURS = "agentv-4", "agentv-5", "promptfoo", "rubric"

MARKDOWN = "markdown"

WITH_TEXTS = frozenset({MARKDOWN, "lightspeed"})
"""The targets that have the question and the reference of a case, as plain texts, and nothing else of it."""

WITH_QUESTION = frozenset({"pydantic-evals"})
"""The targets that have the question of a case, whatever its type, and nothing else of it."""

NAMED_BY_CASE = frozenset({MARKDOWN, "xlsx", "lightspeed"})
"""The targets without cases that show the name of the case of a rubric."""

OLDER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "input_messages": "input",
        "expected_messages": "expected_output",
        "expected_outcome": "criteria",
    }
)
"""The fields of cases before AgentV 3, and their names since then."""

ASSERTION_LISTS = ("assertions", "assert", "evaluators")
"""The fields of a case that hold assertions; each also below `execution`."""

_SHARED_BY_AGENTV = frozenset(
    {
        "metadata",
        "input_files",
        "conversation_id",
        "suite",
        "depends_on",
        "on_dependency_failure",
    }
)
CASE_FIELDS: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        (AGENTV_4, AGENTV_4): _SHARED_BY_AGENTV | {"criteria", "vars", "workspace"},
        (AGENTV_4, AGENTV_5): _SHARED_BY_AGENTV | {"description"},
        (AGENTV_4, PROMPTFOO): frozenset({"description", "metadata"}),
        (AGENTV_5, AGENTV_4): _SHARED_BY_AGENTV,
        (AGENTV_5, AGENTV_5): _SHARED_BY_AGENTV | {"description", "provider", "providers", "environment", "options"},
        (AGENTV_5, PROMPTFOO): frozenset({"description", "metadata"}),
        (PROMPTFOO, AGENTV_4): frozenset({"metadata"}),
        (PROMPTFOO, AGENTV_5): frozenset({"description", "metadata"}),
        (PROMPTFOO, PROMPTFOO): frozenset({"description", "metadata", "options", "provider", "providers"}),
    }
)
"""The fields of a case, by source and target, that are copied with their names."""

_ABOUT = frozenset({"name", "description", "category", "version", "author", "tags", "license", "requires", "metadata"})
SUITE_FIELDS: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType(
    {
        (AGENTV_4, AGENTV_4): _ABOUT | {"input_files", "target", "workspace", "governance", "preprocessors"},
        (AGENTV_4, AGENTV_5): _ABOUT | {"input_files", "governance"},
        (AGENTV_4, PROMPTFOO): frozenset({"description"}),
        (AGENTV_5, AGENTV_4): _ABOUT | {"input_files", "governance"},
        (AGENTV_5, AGENTV_5): _ABOUT
        | {"input_files", "governance", "providers", "target", "targets", "environment", "evaluate_options"},
        (AGENTV_5, PROMPTFOO): frozenset({"description"}),
        (PROMPTFOO, AGENTV_4): frozenset({"description"}),
        (PROMPTFOO, AGENTV_5): frozenset({"description"}),
        (PROMPTFOO, PROMPTFOO): frozenset({"description", "providers", "targets", "env", "tags", "evaluateOptions"}),
    }
)
"""The fields of a suite, by source and target, that are copied with their names."""

SAME_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "contains": "value",
        "icontains": "value",
        "contains-any": "value",
        "contains-all": "value",
        "icontains-any": "value",
        "icontains-all": "value",
        "regex": "value",
        "is-json": "",
        "latency": "threshold",
        "cost": "budget",
    }
)
"""The assertions that mean the same everywhere, and the field that each needs, by AgentV's name; "" if none."""

LISTS_OF_VALUES = frozenset({"contains-any", "contains-all", "icontains-any", "icontains-all"})
"""The assertions whose value is a list of strings."""

OTHER_CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "equals": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
        "starts-with": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
        "ends-with": "AgentV ignores white space around both texts, and promptfoo compares them as they are",
    }
)
"""The assertions of the same name that mean different things in AgentV and promptfoo, with the difference."""

FIELD_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        AGENTV_4: {"label": "name", "budget": "budget"},
        AGENTV_5: {"label": "metric", "budget": "budget"},
        PROMPTFOO: {"label": "metric", "budget": "threshold"},
    }
)
"""The names of fields of assertions that differ."""

USUAL_THRESHOLD = 0.8
"""The average from which AgentV passes a test that says nothing else."""
