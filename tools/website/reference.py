"""Tables and lists that pages of the site repeat from the code: rules, settings, schemas, reports."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from rubric_lint.agents.tools import TOOLS
from rubric_lint.cli.output import AGENTS
from rubric_lint.formats.agentv.releases import RELEASES
from rubric_lint.formats.dialects import DIALECTS, load_dialect
from rubric_lint.formats.sheets.columns import FIELDS, WORDS
from rubric_lint.model.messages import HOME
from rubric_lint.model.schema_files import FORMS, catalogue, load, schemas_root
from rubric_lint.rules import GROUPS, RULES
from rubric_lint.rules.rule import Rule
from website import commands
from website.originals import list_originals
from website.sources import ROOT


class ListError(Exception):
    """A page names a list that there is not."""


def list_rules(group: str) -> str:
    """Return the table of the rules of a group, from their pages and what they say of themselves."""
    rows = [
        f"| [`{rule.name}`](../../rubric_lint/rules/{rule.page_file.name}) | {rule.summary} | {rule.severity} "
        f"| {rule.kinds} |"
        for rule in GROUPS[group]
    ]
    return "\n".join(["| rule | finds | severity | fix |", "|---|---|---|---|", *rows])


_MESSAGES = re.compile(r"\n## Messages\n.*", re.DOTALL)
_HEADING = re.compile(r"^## ", re.MULTILINE)


def describe_rule(rule: Rule) -> str:
    """Return the page of a rule as a section of the page of its group, with severity and fix below its summary."""
    _, summary, rest = rule.page.split("\n\n", 2)
    fix = f"**Fix:** {rule.kinds}" if rule.kinds else "**Fix:** none, a person has to decide"
    facts = f"**Severity:** {rule.severity} · {fix} · **In the terminal:** `rubric-lint explain {rule.name}`"
    choices = "".join(f"- `{name}`: {told}\n" for name, told in rule.choices.items())
    facts += (
        f"\n\n**Choices** (`rubric-lint fix --choose NAME`, or the light bulb of an editor):\n\n{choices}"
        if choices
        else ""
    )
    rest = _HEADING.sub("#### ", _MESSAGES.sub("", rest)).rstrip()
    return f"## `{rule.name}` {{ #{rule.name} }}\n\n{summary}\n\n{facts.rstrip()}\n\n{rest}"


def list_choices() -> str:
    """Return the table of the fixes of which only an author can pick one."""
    pages: dict[tuple[str, str], list[str]] = {}
    for rule in RULES:
        for choice in rule.choices.items():
            pages.setdefault(choice, []).append(f"[`{rule.name}`](../../rubric_lint/rules/{rule.page_file.name})")
    rows = [f"| `{name}` | {', '.join(rules)} | {effect} |" for (name, effect), rules in pages.items()]
    return "\n".join(["| choice | rule | what it does |", "|---|---|---|", *rows])


def list_settings() -> str:
    """Return a section for each setting: its type, its default, what it does."""
    schema = load("config/v1.json")
    return "\n\n".join(
        f"### `{name}`\n\n{value['description']}\n\n{_facts(value, schema)}{_list_keys(value, schema)}"
        for name, value in schema["properties"].items()
    )


def _list_keys(value: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return the table of the keys of a setting that is a list of tables; nothing for others."""
    items = value.get("items", {})
    target = _target(items, schema) if "$ref" in items else {}
    rows = [
        f"| `{key}` | {_cell(_type(each, schema))} | {_cell(each['description'])} |"
        for key, each in target.get("properties", {}).items()
    ]
    return "\n".join(["", "", "| key | type | what it says |", "|---|---|---|", *rows]) if rows else ""


def _facts(value: dict[str, Any], schema: dict[str, Any]) -> str:
    default = f" · **Default:** `{json.dumps(value['default'])}`" if "default" in value else ""
    return f"**Type:** {_type(value, schema)}{default}"


def list_schemas() -> str:
    """Return the table of the schemas, without those of other systems: what each describes, and where it is."""
    others = {load_dialect(name).schema for name in DIALECTS}
    rows = [
        f"| {_cell(load(entry.source).get('title', entry.name))} | [`{entry.bundled_name}`]({entry.bundled_id}) |"
        for entry in catalogue()
        if entry.source not in others or entry.is_for_authors
    ]
    return "\n".join(["| what it describes | schema |", "|---|---|", *rows])


def list_forms() -> str:
    """Return the table of the forms of those schemas that have several, with their addresses."""
    rows = [
        f"| {_cell(load(entry.source)['title'])} | "
        + " | ".join(f"[`{file.bundled_name}`]({file.bundled_id})" for file in entry.forms)
        + " |"
        for entry in catalogue()
        if entry.is_for_authors
    ]
    return "\n".join([f"| what it describes | {' | '.join(FORMS)} |", "|---" * (len(FORMS) + 1) + "|", *rows])


def published_schemas() -> dict[str, str]:
    """Return what stands below `schemas/` on the site, by path: each schema at its `$id`, and the catalog."""
    files = sorted(schemas_root().glob("*/*.json"))
    found = {}
    for path in files:
        text = path.read_text("utf-8")
        url = json.loads(text).get("$id", f"{HOME}schemas/{path.name}")
        found[url.removeprefix(HOME)] = text
    files = [file for entry in catalogue() for file in entry.forms]
    return {**found, **{file.bundled_id.removeprefix(HOME): file.text for file in files}}


def _target(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["definitions"][value["$ref"].rsplit("/", 1)[1]]
    return found


def _type(value: dict[str, Any], schema: dict[str, Any]) -> str:  # noqa: PLR0911 (one for each form of a type)
    if "$ref" in value:
        target = _target(value, schema)
        return str(target.get("title") or _type(target, schema))
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if "enum" in value:
        return " or ".join(f"`{json.dumps(each)}`" for each in value["enum"])
    for word in ("allOf", "anyOf", "oneOf"):
        if word in value:
            return " or ".join(_type(each, schema) for each in value[word])
    kind = value.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and "items" in value:
        return f"list of {_type(value['items'], schema)}"
    if kind == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"mapping to {_type(value['additionalProperties'], schema)}"
    if "minimum" in value and "maximum" in value:
        return f"{kind} from {value['minimum']} to {value['maximum']}"
    return str(value.get("title", kind))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def list_agents() -> str:
    """Return the table of the coding agents that the tool recognizes."""
    rows = [
        f"| {'any' if agent.name == 'any' else f'`{agent.name}`'} "
        f"| {', '.join(f'`{name}`' for name in agent.variables)} | `{agent.skills}` |"
        for agent in AGENTS
    ]
    return "\n".join(["| agent | variables | skills |", "|---|---|---|", *rows])


def list_headers() -> str:
    """Return the table of the words in headers that `rubric-lint import` reads."""
    rows = []
    for field, text in FIELDS.items():
        names = WORDS["id"] if field == "expected_outcome" else ()  # a name may be a text, as the page says
        words = dict.fromkeys(word for word in WORDS[field] if word not in names)
        shown = ", ".join(f"`{word if word in FIELDS else word.replace('_', ' ')}`" for word in words)
        rows.append(f"| {shown} | {_cell(text)} |")
    return "\n".join(["| header | what is in the column |", "|---|---|", *rows])


def list_tools() -> str:
    """Return the table of the tools of the MCP server."""
    rows = [f"| `{tool.name}` | {tool.description} | {'yes' if tool.writes else 'no'} |" for tool in TOOLS]
    return "\n".join(["| tool | what it does | can write |", "|---|---|---|", *rows])


def list_editor_settings() -> str:
    """Return the table of the settings that the language server reads, as the VS Code extension describes them."""
    properties = json.loads(_MANIFEST.read_text("utf-8"))["contributes"]["configuration"]["properties"]
    rows = [
        f"| `{name}` | `{json.dumps(each['default'])}` | {_cell(_describe_editor_setting(each))} |"
        for name, each in properties.items()
        if each["scope"] == "resource"
    ]
    return "\n".join(["| setting | default | what it does |", "|---|---|---|", *rows])


_MANIFEST = ROOT / "vscode/package.json"


def _describe_editor_setting(setting: dict[str, Any]) -> str:
    values = zip(setting.get("enum", ()), setting.get("enumDescriptions", ()), strict=True)
    return " ".join([setting["markdownDescription"], *(f"`{value}`: {text}" for value, text in values)])


def list_agentv_types() -> str:
    """Return the table of the types of assertions that releases of AgentV do not read."""
    rows = []
    for release in RELEASES.values():
        for row in release.loaded["unloaded"]:
            reserved = "; so with `not-` before it" if row.get("is_reserved") else ""
            rows.append(f"| {', '.join(f'`{kind}`' for kind in row['types'])} | {row['reason']}{reserved} |")
        rows.append(f"| `not-` before another type | {release.loaded['negated'].format(type='TYPE')} |")
    return "\n".join(["| type | what AgentV does |", "|---|---|", *rows])


LISTS: dict[str, Callable[[], str]] = {
    **{f"rules: {group}": partial(list_rules, group) for group in GROUPS},
    "agents": list_agents,
    "agentv types": list_agentv_types,
    "tools": list_tools,
    "choices": list_choices,
    "settings": list_settings,
    "commands": commands.list_programs,
    "exit codes": commands.list_exit_codes,
    "schemas": list_schemas,
    "schema forms": list_forms,
    "headers": list_headers,
    "originals": list_originals,
    "editor settings": list_editor_settings,
}
"""What stands between `<!-- list: NAME -->` and `<!-- /list -->` on a page."""

_LIST = re.compile(r"^<!-- list: (?P<name>.+?) -->\n.*?^<!-- /list -->$", re.MULTILINE | re.DOTALL)


def renew(page: str) -> str:
    """Return a page with its lists as they are now.

    Raises:
        ListError: when the page names a list that there is not.
    """

    def write(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in LISTS:
            raise ListError(f"unknown list `{name}`; known: {', '.join(LISTS)}")
        return f"<!-- list: {name} -->\n\n{LISTS[name]()}\n\n<!-- /list -->"

    return _LIST.sub(write, page)
