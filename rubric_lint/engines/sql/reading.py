"""Write the steps of a query that read JSON: an output in, what it is and its fields out.

Each step adds columns to the rows of the one before. No step drops a row.
"""

from rubric_lint.engines.sql.dialects import Dialect
from rubric_lint.engines.sql.patterns import DEPTH
from rubric_lint.outputs.blanks import BLANK

Step = tuple[str, dict[str, str]]
"""What a step does, and the columns that it adds."""

_BLANK = " \t\r\n"


def read_output(sql: Dialect, *, is_struct: bool) -> list[Step]:
    """Return the steps from the column `output` to the names and values of its JSON object.

    `held` is the JSON, `is_object` and `is_value` say what it is, `names` and `fields` are those of its fields.
    """
    text = _from_struct(sql) if is_struct else _from_text(sql)
    return [*text, *_outline(sql), *_divide(sql, is_struct=is_struct)]


def _from_struct(sql: Dialect) -> list[Step]:
    odd = f"typeof(output) NOT ILIKE 'struct%' OR {sql.matches('typeof(output)', sql.unknown_types)}"
    return [("The struct as JSON", {"held": sql.to_json("output"), "is_fence": "FALSE", "is_odd": odd})]


def _from_text(sql: Dialect) -> list[Step]:
    body = sql.trim(f"CAST(output AS {sql.text_type})", sql.text(BLANK))
    odd = f"NOT {sql.matches('typeof(output)', sql.known_texts)}"
    fence = sql.patterns.fence
    is_fence = f"body LIKE '```%```' AND {sql.matches('body', fence)}"
    inner = sql.trim(sql.extract("body", fence), sql.text(_BLANK))
    return [
        ("The text without blanks around it", {"body": body, "is_odd": odd}),
        ("Is it one Markdown fence?", {"is_fence": f"COALESCE({is_fence}, FALSE)"}),
        ("What should be JSON", {"held": f"CASE WHEN is_fence THEN {inner} ELSE body END"}),
    ]


def _outline(sql: Dialect) -> list[Step]:
    """Return the steps that tell JSON from other texts: JSON is what can be reduced to one value."""
    patterns = sql.patterns
    reduced = "outline_1"
    for _ in range(DEPTH):
        reduced = sql.replace(reduced, patterns.container, "0")
    irreducible = f"{sql.replace('outline_2', patterns.container, '0')} = outline_2"
    return [
        ("Each string becomes two quotes", {"bare": sql.replace("held", patterns.string, '""')}),
        ("Each number, true, false and null becomes 0", {"outline_1": sql.replace("bare", patterns.word, "0")}),
        ("Each container of these becomes 0, from the inside: in the end, all JSON is 0", {"outline_2": reduced}),
        (
            "What is it?",
            {
                "is_object": "COALESCE(outline_2 = '0' AND left(held, 1) = '{', FALSE)",
                "is_value": "COALESCE(outline_2 IN ('0', '\"\"') AND left(held, 1) <> '{', FALSE)",
                "is_broken": f"COALESCE(outline_2 NOT IN ('0', '\"\"') AND {irreducible}, FALSE)",
                "is_huge": f"COALESCE({sql.matches('bare', patterns.huge)}, FALSE)",
                "has_constants": f"COALESCE({sql.matches('bare', patterns.constant)}, FALSE)",
                "is_collated": sql.is_collated,
            },
        ),
    ]


def _divide(sql: Dialect, *, is_struct: bool) -> list[Step]:
    members = f"CASE WHEN is_object THEN {sql.extract_all('held', sql.patterns.member)} END"
    found = members if not is_struct else without_nulls(sql, members)
    return [
        ("Its fields", {"members": found}),
        ("Their names", {"names": names_of(sql, "members")}),
        ("Their values", {"fields": values_of(sql, "members", "names")}),
    ]


def without_nulls(sql: Dialect, members: str) -> str:
    """Return the fields that are not null: a null in a struct stands for a field that is not there."""
    return sql.keep(members, "m", "n", "m NOT LIKE '%:null'")


def names_of(sql: Dialect, members: str) -> str:
    """Return the names of fields. A name with an escaped quote ends there, with the back slash."""
    return sql.transform(members, "m", "n", "split_part(m, '\"', 2)")


def values_of(sql: Dialect, members: str, names: str) -> str:
    """Return the values of fields as they are written: what follows the name, its quotes and a colon."""
    name = sql.at(names, sql.counted("n", 1))
    return sql.transform(members, "m", "n", sql.trim_left(f"substr(m, length({name}) + 3)", sql.text(f"{_BLANK}:")))


def value_of(sql: Dialect, name: str, names: str, values: str) -> str:
    """Return the value of a field as it is written, or NULL without one."""
    return sql.at(values, sql.place(names, sql.text(name)))
