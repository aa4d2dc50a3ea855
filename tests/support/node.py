"""The programs that run on Node.js: which Node.js, and what npm installs, kept between runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import pytest
from once import make_once

ROOT = Path(__file__).parents[2]
LOCKED = ROOT / "tests/npm"
SECONDS = 300
"""How long npm may install: without a network it tries forever."""


def node():
    """The Node.js of the development packages, else the one of the system; None where there is none."""
    return shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")


def install_locked():
    """The folder of the packages that tests/npm/package-lock.json names, with just those versions."""
    lock = (LOCKED / "package-lock.json").read_text("utf-8")

    def install(folder):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(LOCKED / name, folder)
        npm = Path(node()).with_name("npm")
        environment = {**os.environ, "PATH": f"{npm.parent}{os.pathsep}{os.environ['PATH']}"}
        command = [npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, cwd=folder, env=environment, timeout=SECONDS)

    return make_once(ROOT / ".cache/npm", lock, install) / "node_modules"


def install_package(package):
    """The folder of one package of npm, such as `agentv@4.42.4`, with what it needs; the test skips without npm."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("it runs on Node.js, and node or npm is missing")

    def install(folder):
        command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--omit=peer", "--omit=optional"]
        command += ["--ignore-scripts", "--prefix", folder, package]
        subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS)

    name = package.rpartition("@")[0]
    return make_once(ROOT / ".cache/npm" / name, package, install) / "node_modules" / name


def ask_ajv(asked):
    """What Ajv makes of `schemas` and of `documents`; the test skips without Node.js."""
    if not node():
        pytest.skip("Ajv runs on Node.js, and there is none")
    command = [node(), ROOT / "tests/support/ajv.cjs", install_locked()]
    return json.loads(commands.run_process(command, stdin=json.dumps(asked), check=True, timeout=SECONDS).stdout)


if __name__ == "__main__":  # for the tests in VS Code, which run the YAML language server
    install_locked()
