"""The tools that are timed, each installed into an environment of its own in `.cache/bench`, and what they run."""

import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from contest import Contestant

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "bench"
SCHEMA = ROOT / "schemas" / "bundled" / "suite-v2.schema.json"

PIP = ("check-jsonschema>=0.31,<1", "yamllint>=1.37,<2", "ruamel.yaml[oldlibyaml]>=0.18.15,<0.20")
NPM = ("ajv-cli@5.0.0", "agentv@4.42.4")

COLD, WARM = "rubric-lint --no-cache", "rubric-lint, nothing changed"
CLIB, PURE, YAMLLINT = "check-jsonschema with clib", "check-jsonschema without clib", "yamllint"
AJV, AGENTV = "ajv-cli", "agentv validate"
FAULTY, LONG = ", faulty files", ", long suites"
"""The suffix of the names of tools that read the other sets."""

EVENTS, HASH, START = (
    "floor: the C parser's bare events",
    "floor: reading and hashing the bytes",
    "floor: python -c pass",
)

# What any tool that reads these files has to do at least, in the interpreter that all of them run in.
_HASH = """
import hashlib, pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    hashlib.sha256(path.read_bytes()).digest()
"""
_EVENTS = """
import pathlib, sys
from _ruamel_yaml import CParser
for path in pathlib.Path(sys.argv[1]).iterdir():
    next_event = CParser(path.read_bytes()).get_event
    while next_event() is not None:
        pass
"""


class Suites(NamedTuple):
    """The files that are read: a folder of them, and the same under the names that AgentV wants."""

    folder: Path
    paths: Sequence[Path]
    agentv: Sequence[Path]


def program(name: str, environment: str = "venv") -> str:
    """A program of one of the Python environments."""
    return str(CACHE / environment / "bin" / name)


def install() -> bool:
    """Install the other tools, at the first call and when the lists change, and this one as it now is.

    False where there is no npm, and so neither ajv-cli nor AgentV.
    """
    stamp = CACHE / "installed"
    wanted = "\n".join(PIP + NPM)
    if not stamp.exists() or stamp.read_text() != wanted:
        for name in ("venv", "pure"):
            venv.create(CACHE / name, with_pip=True, clear=True)
            subprocess.run([program("python", name), "-m", "pip", "install", "--quiet", *PIP], check=True)
        pure = [program("python", "pure"), "-m", "pip", "uninstall", "--quiet", "--yes", "ruamel.yaml.clib"]
        subprocess.run(pure, check=True)
        if npm := shutil.which("npm"):
            (CACHE / "npm").mkdir(exist_ok=True)
            command = [npm, "install", "--prefix", str(CACHE / "npm"), "--no-audit", "--no-fund", "--silent", *NPM]
            subprocess.run(command, check=True)
        stamp.write_text(wanted)
    pip = [program("python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, str(ROOT)], check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", str(ROOT)], check=True)
    return (CACHE / "npm" / "node_modules").is_dir()


def lint(files: int, *paths: Path, cache: Path | None = None, of: str = "") -> Contestant:
    """This tool on some files of a set, with its cache in the folder `cache`, or without one."""
    command = (program("rubric-lint"), *(() if cache else ("--no-cache",)), *map(str, paths))
    variables = (("RUBRIC_LINT_CACHE_DIR", str(cache)),)
    return Contestant((WARM if cache else COLD) + of, files, command, variables, exit_code=1 if of == FAULTY else 0)


def others(of: str, paths: Sequence[Path], cache: Path) -> list[Contestant]:
    """This tool, cold and warm, and the others on a set that has findings."""
    folder, count = paths[0].parent, len(paths)
    schema = ("--schemafile", str(SCHEMA))
    field = [
        lint(count, folder, of=of),
        lint(count, folder, cache=cache, of=of),
        Contestant(YAMLLINT + of, count, (program("yamllint"), *(RELAXED if of == LONG else ()), str(folder))),
        Contestant(EVENTS + of, count, (program("python"), "-c", _EVENTS, str(folder))),
    ]
    if of == FAULTY:
        check = (program("check-jsonschema"), *schema, *map(str, paths))
        field += [Contestant(CLIB + of, count, check, exit_code=1), lint(1, paths[0], of=of)]
    return field


RELAXED = ("-d", "{extends: default, rules: {line-length: disable}}")
"""What yamllint is told on the long suites, whose lines are as long as people write them."""


def contestants(suites: Suites, cache: Path, *, has_npm: bool) -> list[Contestant]:
    """Everything that is timed, on all files and on one; a floor is what no tool can undercut."""
    folder, paths = suites.folder, suites.paths
    one, count = paths[0], len(paths)
    schema = ("--schemafile", str(SCHEMA))
    field = [
        lint(count, folder),
        lint(count, folder, cache=cache),
        Contestant(CLIB, count, (program("check-jsonschema"), *schema, *map(str, paths))),
        Contestant(PURE, count, (program("check-jsonschema", "pure"), *schema, *map(str, paths))),
        Contestant(YAMLLINT, count, (program("yamllint"), str(folder))),
        Contestant(EVENTS, count, (program("python"), "-c", _EVENTS, str(folder))),
        Contestant(HASH, count, (program("python"), "-c", _HASH, str(folder))),
        lint(1, one),
        lint(1, one, cache=cache),
        Contestant(CLIB, 1, (program("check-jsonschema"), *schema, str(one))),
        Contestant(YAMLLINT, 1, (program("yamllint"), str(one))),
        Contestant(START, 1, (program("python"), "-c", "pass")),
    ]
    if has_npm:
        bin_folder = CACHE / "npm" / "node_modules" / ".bin"
        ajv = (str(bin_folder / "ajv"), "validate", "--spec=draft7", "--strict=false", "-s", str(SCHEMA), "-d")
        agentv = (str(bin_folder / "agentv"), "validate")
        field += [
            Contestant(AJV, count, (*ajv, f"{folder}/*.yaml")),
            Contestant(AGENTV, count, (*agentv, *map(str, suites.agentv))),
            Contestant(AJV, 1, (*ajv, str(one))),
            Contestant(AGENTV, 1, (*agentv, str(suites.agentv[0]))),
        ]
    else:
        print("no npm here, so neither ajv-cli nor agentv takes part", file=sys.stderr)
    return field
