"""Tables of cases: `cases/` has a file for each test file that has them, and in it a part for each table."""

from pathlib import Path

from ruamel.yaml import YAML


def read_cases(file):
    """Return the tables of a test file by their names."""
    name = Path(file).stem.removeprefix("test_")
    return YAML(typ="safe").load((Path(__file__).parent.parent / f"cases/{name}.yaml").read_text("utf-8"))


def as_tuples(value):
    """Return a table with tuples in place of its lists, which a file cannot tell apart."""
    if isinstance(value, dict):
        return {key: as_tuples(item) for key, item in value.items()}
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
