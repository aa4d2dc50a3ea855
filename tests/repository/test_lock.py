"""The lock files: what pyproject.toml asks for, at one version with hashes on every machine, and no index by name."""

import re
import sys
import tomllib
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.repository

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
from lock import FOLDER, HEADER, LOCKS  # noqa: E402 (a script beside the package)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WHEELS = [ROOT / "playground/requirements.txt", ROOT / "vscode/requirements.txt"]
PIN = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.!+]+)(?: ; (?P<marker>.+?))?"
    r"(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n    # via (?P<via>.+)\n"
)
VERSIONS = [
    line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if re.search(r":: Python :: 3\.\d", line)
]
SYSTEMS = {"linux": ("Linux", "posix"), "darwin": ("Darwin", "posix"), "win32": ("Windows", "nt")}
MACHINES = [
    {
        **default_environment(),
        "python_version": version,
        "python_full_version": f"{version}.0",
        "sys_platform": system,
        "platform_system": SYSTEMS[system][0],
        "os_name": SYSTEMS[system][1],
    }
    for version, system in product(VERSIONS, SYSTEMS)
]


class Pin(NamedTuple):
    """One version of a package, and the machines that take it."""

    name: str
    version: str
    marker: Marker | None
    via: str

    def applies(self, machine):
        return self.marker is None or self.marker.evaluate(machine)


def pins_of(name):
    """The pins of a lock file; each of its characters belongs to one."""
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert text.startswith(HEADER)
    assert PIN.sub("", text.removeprefix(HEADER)) == ""
    return [
        Pin(found["name"], found["version"], Marker(found["marker"]) if found["marker"] else None, found["via"])
        for found in PIN.finditer(text)
    ]


def group(name):
    """The requirements of a dependency group, those of the groups in it included."""
    for entry in PROJECT["dependency-groups"][name]:
        if isinstance(entry, str):
            yield Requirement(entry)
        else:
            yield from group(entry["include-group"])


def wanted_by(name):
    lock = LOCKS[name]
    package = [Requirement(text) for text in PROJECT["project"]["dependencies"]] if lock.package else []
    return [*package, *(requirement for each in lock.groups for requirement in group(each))]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_the_project_asks_for(name):
    pins, wanted = pins_of(name), wanted_by(name)
    assert {canonicalize_name(each.name) for each in wanted} == {
        pin.name for pin in pins if "(pyproject.toml" in pin.via
    }
    for requirement, machine in product(wanted, MACHINES):
        if requirement.marker is None or requirement.marker.evaluate(machine):
            found = [pin for pin in pins if pin.name == canonicalize_name(requirement.name) and pin.applies(machine)]
            assert [requirement.specifier.contains(pin.version) for pin in found] == [True], f"run `make lock`: {found}"


@pytest.mark.parametrize("name", [name for name, lock in LOCKS.items() if not lock.alone])
def test_locks_for_one_environment_agree(name):
    known = {(pin.name, pin.version) for pin in pins_of("dev")}
    names = {name for name, _ in known}
    assert {(pin.name, pin.version) for pin in pins_of(name) if pin.name in names} <= known


@pytest.mark.parametrize("path", WHEELS, ids=["playground", "built-in server"])
def test_pyodide_takes_the_locked_wheels(path):
    if not path.exists():
        pytest.skip(f"{path.parent.name} is not part of the sdist")
    wanted = re.findall(r"^(\S+)==(\S+) --hash=(\S+)$", path.read_text("utf-8"), re.MULTILINE)
    locked = [
        entry for name in ("run", "dev") for entry in re.split(r"\n(?=\w)", (FOLDER / f"{name}.txt").read_text("utf-8"))
    ]
    known = {
        (*entry.split()[0].split("=="), digest) for entry in locked for digest in re.findall(r"--hash=(\S+)", entry)
    }
    wanted = [(canonicalize_name(name), version, digest) for name, version, digest in wanted]
    assert wanted
    assert [each for each in wanted if each not in known] == [], "copy version and hash of the wheel from run.txt"


def test_there_is_no_lock_that_nothing_makes():
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in LOCKS}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host(name):
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert [line for line in text.splitlines() if "://" in line or line.startswith("-") or " @ " in line] == []


def test_what_builds_the_package_is_locked():
    build = {str(requirement) for requirement in group("build")}
    assert {str(Requirement(text)) for text in PROJECT["build-system"]["requires"]} <= build
