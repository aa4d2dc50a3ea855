"""Tables of cases: `cases/` has a file for each test file that has them, and in it a part for each table."""

from pathlib import Path

from ruamel.yaml import YAML


def read_cases(file):
    """Return the tables of a test file by their names."""
    name = Path(file).stem.removeprefix("test_")
    return YAML(typ="safe").load((Path(__file__).parent.parent / f"cases/{name}.yaml").read_text("utf-8"))
