"""What the VS Code extension gives to the markets: its package, its pages and its walkthrough."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import commands
import pytest
from node import node
from ruamel.yaml import YAML

from rubric_lint import __version__

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text("utf-8"))
(WALKTHROUGH,) = MANIFEST["contributes"]["walkthroughs"]
REPOSITORY = "https://github.com/rubric-lint/rubric-lint"


def lint(folder, *arguments):
    return json.loads(commands.run("rubric-lint", "check", "--format=json", *arguments, folder).stdout)["findings"]


def fence(name, language):
    text = (EXTENSION / "walkthrough" / name).read_text("utf-8")
    (code,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return code


def list_media(step):
    """The files that a step of the walkthrough shows: a page, or a picture for each kind of theme."""
    media = step["media"]
    return [media["markdown"]] if "markdown" in media else [*media["image"].values()]


def test_its_icon_is_a_square_large_enough_for_both_markets():
    head = (EXTENSION / MANIFEST["icon"]).read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:])
    assert width == height >= 128


def test_the_markets_can_find_it():
    assert {"Linters", "Programming Languages"} <= set(MANIFEST["categories"])
    assert 5 <= len(MANIFEST["keywords"]) <= 30
    assert {"name", "displayName", "description", "publisher", "license", "repository", "bugs", "homepage"} <= set(
        MANIFEST
    )


def test_without_trust_or_a_disk_it_says_what_still_works():
    capabilities = MANIFEST["capabilities"]
    assert {name: capability["supported"] for name, capability in capabilities.items()} == {
        "untrustedWorkspaces": "limited",
        "virtualWorkspaces": "limited",
    }
    assert all(capability["description"].endswith(".") for capability in capabilities.values())
    # Each setting that names a file to run or to read waits for trust.
    settings = MANIFEST["contributes"]["configuration"]["properties"]
    named = [name for name, setting in settings.items() if setting["type"] == "string" and "enum" not in setting]
    assert capabilities["untrustedWorkspaces"]["restrictedConfigurations"] == named


def test_both_markets_get_the_package_that_was_built():
    (job,) = [
        job
        for job in YAML(typ="safe").load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"].values()
        if "markets" in str(job.get("environment"))
    ]
    commands = [step["run"].split() for step in job["steps"] if "publish" in step.get("run", "")]
    assert [command[2:4] for command in commands] == [["vsce", "publish"], ["ovsx", "publish"]]
    assert all(command[-2:] == ["--packagePath", "../dist/*.vsix"] for command in commands)


def test_the_steps_of_the_walkthrough_name_commands_and_files_that_exist():
    own = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    for step in WALKTHROUGH["steps"]:
        commands = re.findall(r"\(command:([\w.-]+)", step["description"])
        assert commands
        assert {command for command in commands if command.startswith("rubric-lint.")} <= own
        assert {event.removeprefix("onCommand:") for event in step["completionEvents"]} <= set(commands)
        assert all((EXTENSION / path).is_file() for path in list_media(step))


def test_the_rubric_of_the_walkthrough_has_the_problems_and_fixes_that_it_names(tmp_path):
    (tmp_path / "refund.rubric.yaml").write_text(fence("write.md", "yaml"), "utf-8")
    found = {each["rule"]: each for each in lint(tmp_path)}
    rows = re.findall(r"^\| `([\w-]+)` \|", (EXTENSION / "walkthrough/fix.md").read_text("utf-8"), re.MULTILINE)
    assert set(rows) == set(found)
    assert len(lint(tmp_path)) == len(rows) == 4
    assert [rule for rule in rows if (found[rule]["fix"] or {"safe": False})["safe"]] == rows[:1]


def test_the_settings_of_the_walkthrough_are_valid(tmp_path):
    (tmp_path / "rubric-lint.toml").write_text(fence("project.md", "toml"), "utf-8")
    (tmp_path / "a.rubric.yaml").write_text("rubrics:\n  - expected_outcome: Names the city\n", "utf-8")
    assert lint(tmp_path) == []
    assert json.loads("{" + fence("project.md", "json") + "}")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The files of the extension's package, and what vsce says while it makes it."""
    if not node() or not (EXTENSION / "node_modules/installed").exists():
        pytest.skip("the packages of the extension are not installed (make vscode/node_modules/installed)")
    if (
        not any((ROOT / ".cache/builtin").glob("rubric_lint-*.whl"))
        or not (ROOT / "playground/node_modules/pyodide").exists()
    ):
        pytest.skip("the packages of the built-in server are not here (make built-in)")
    copy = tmp_path_factory.mktemp("extension") / "vscode"
    ignored = shutil.ignore_patterns("node_modules", "dist", "out", "*.vsix")
    shutil.copytree(EXTENSION, copy, ignore=ignored)
    (copy / "node_modules").symlink_to(EXTENSION / "node_modules")
    for built_in in ("playground", ".cache"):
        (copy.parent / built_in).symlink_to(ROOT / built_in)
    shutil.copytree(ROOT / "schemas/bundled", copy.parent / "schemas/bundled")
    shutil.copy(ROOT / "LICENSE", copy.parent)
    environment = {**os.environ, "PATH": f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["npm", "run", "--silent", "package"]
    done = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    with zipfile.ZipFile(copy / "rubric-lint.vsix") as vsix:
        return {name: vsix.read(name) for name in vsix.namelist()}, done.stdout + done.stderr


@pytest.mark.slow
def test_the_package_is_made_without_a_warning(package):
    assert "warn" not in package[1].lower().replace("npm warn", "")


@pytest.mark.slow
def test_the_package_holds_what_it_names_and_its_licences(package):
    files, _ = package
    held = {name.removeprefix("extension/") for name in files if name.startswith("extension/")}
    media = {path for step in WALKTHROUGH["steps"] for path in list_media(step)}
    validation = [*MANIFEST["contributes"]["yamlValidation"], *MANIFEST["contributes"]["jsonValidation"]]
    schemas = {tie["url"].removeprefix("./") for tie in validation}
    named = {MANIFEST["icon"], *(MANIFEST[entry].removeprefix("./") for entry in ("main", "browser")), *media, *schemas}
    assert held >= named | {"package.json", "readme.md", "changelog.md", "LICENSE.txt", "dist/THIRD-PARTY-NOTICES.txt"}
    assert not [name for name in held if name.startswith(("src/", "test/", "node_modules/")) or name.endswith(".map")]
    assert files["extension/LICENSE.txt"] == (ROOT / "LICENSE").read_bytes()
    notices = files["extension/dist/THIRD-PARTY-NOTICES.txt"].decode()
    for name in MANIFEST["dependencies"]:
        version = json.loads((EXTENSION / "node_modules" / name / "package.json").read_text("utf-8"))["version"]
        assert f"{name} {version}\n" in notices
    assert f"## {__version__}\n" in files["extension/changelog.md"].decode()


@pytest.mark.slow
def test_the_pictures_and_links_of_its_page_lead_to_files_of_that_version(package):
    page = package[0]["extension/readme.md"].decode()
    targets = re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", page)
    assert targets
    assert not [target for target in targets if not target.startswith("https://")]
    ours = [target for target in targets if target.startswith(f"{REPOSITORY}/")]
    assert ours
    for target in ours:
        kind, version, path = target.removeprefix(f"{REPOSITORY}/").split("/", 2)
        assert (kind in {"raw", "blob"}, version, (ROOT / path).is_file()) == (True, f"v{__version__}", True)


@pytest.mark.skipif(not sys.platform.startswith("linux") or os.uname().machine != "x86_64", reason="Linux on x86-64")
def test_the_editor_for_the_tests_names_the_packages_that_it_lacks(tmp_path):
    for name, code in {"g++": 0, "make": 0, "krb5-config": 0, "pkg-config": 1, "npm": 9}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [EXTENSION / "scripts/install-editor.sh", tmp_path / "editor"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    missing = "libsecret-1-dev libx11-dev libxkbfile-dev"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"Install it: apt-get install {missing}")
    assert not (tmp_path / "editor").exists()
