/** What a user sees in the window when the tool is missing, too old, incomplete or ends, or not trusted. */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";

import { Editor, type Files, PROJECT_VENV, until, workspace } from "./editor";

const RUBRIC = "rubrics:\n  - id: a\n    expected_outcome: Names the city\n";
const FAULTY = "rubrics:\n  - id: a\n    expected_outcome: ''\n";

/** A folder with an environment whose Python is a few lines of shell. */
function withPython(files: Files, ...lines: string[]): string {
  const folder = workspace(files);
  const python = path.join(folder, ".venv/bin/python");
  mkdirSync(path.dirname(python), { recursive: true });
  writeFileSync(python, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(python, 0o755);
  return folder;
}

const ANSWER = 'case "$*" in *--version) echo "rubric-lint 0.1.0"; exit;; esac';

describe("a window", () => {
  let editor: Editor;

  before(async () => {
    editor = await Editor.start();
  });

  after(async () => {
    await editor.close();
  });

  it("does not bother who edits other YAML files", async () => {
    const folder = withPython({ "values.yaml": "services: {}\n" }, "echo rubric-lint 0.0.7");
    const window = await editor.open(folder, "values.yaml");
    await window.status("rubric-lint 0.0.7 from .venv");
    assert.equal(await window.notification("rubric-lint").count(), 0);
    await window.close();
  });

  it("says nothing of what was wrong and is mended by the time that a rubric is opened", async () => {
    const folder = withPython({ "values.yaml": "services: {}\n", "a.rubric.yaml": FAULTY }, "echo rubric-lint 0.0.7");
    const window = await editor.open(folder, "values.yaml");
    await window.status("rubric-lint 0.0.7 from .venv");
    mkdirSync(path.join(folder, ".vscode"));
    const settings = { "rubric-lint.interpreter": path.join(PROJECT_VENV, "bin/python") };
    writeFileSync(path.join(folder, ".vscode/settings.json"), JSON.stringify(settings));
    await window.status("rubric-lint 0");
    await window.page.getByRole("treeitem", { name: "a.rubric.yaml" }).dblclick();
    await window.problems(1, 0);
    assert.equal(await window.notification("rubric-lint").count(), 0);
    await window.close();
  });

  it("says how to upgrade what is too old, and has findings from the built-in rubric-lint", async () => {
    const folder = withPython({ "a.rubric.yaml": FAULTY }, "echo rubric-lint 0.0.9");
    const window = await editor.open(folder, "a.rubric.yaml");
    const name = path.basename(folder);
    await window
      .notification(
        `The built-in rubric-lint runs for now. rubric-lint 0.0.9 from .venv in ${name} is too old: the editor needs 0.1.0 or newer. ` +
          `Upgrade it with: "${folder}/.venv/bin/python" -m pip install -U "rubric-lint[lsp]"`,
      )
      .waitFor();
    await window.problems(1, 0);
    await window.status("built in");
    await window.status(`rubric-lint 0.0.9 from .venv in ${name} is too old`);
    await window.close();
  });

  it("says what the server lacks, in the server's own words, and does not start it again", async () => {
    const python = path.join(PROJECT_VENV, "bin/python");
    const code = "import runpy, sys; sys.modules['pygls'] = None; runpy.run_module('rubric_lint', run_name='__main__')";
    // The arguments of `python -m rubric_lint` are the module's name and what follows it.
    const folder = withPython(
      { "a.rubric.yaml": FAULTY },
      'echo start >> "$(dirname "$0")/starts"',
      `shift 2; exec "${python}" -c "${code}" "$@"`,
    );
    const window = await editor.open(folder, "a.rubric.yaml");
    await window.notification("The built-in rubric-lint runs for now. rubric-lint: the language server needs the pygls package").waitFor();
    await window.problems(1, 0);
    await window.status(`The server of rubric-lint from .venv in ${path.basename(folder)} cannot start`);
    assert.equal(readFileSync(path.join(folder, ".venv/bin/starts"), "utf8"), "start\nstart\n");
    await window.close();
  });

  it("passes over an environment whose Python does not work", async () => {
    const folder = withPython({ "a.rubric.yaml": FAULTY }, "echo 'libpython3.11.so: cannot open' >&2", "exit 127");
    const window = await editor.open(folder, "a.rubric.yaml");
    await window.problems(1, 0);
    await window.status("No installed rubric-lint found");
    assert.equal(await window.notification("rubric-lint").count(), 0);
    await window.close();
  });

  it("follows a setting or says that it cannot, whatever the setting holds, until it can", async () => {
    const settings = (value: unknown): string => JSON.stringify({ "rubric-lint.path": value });
    const folder = workspace({ "a.rubric.yaml": FAULTY, ".vscode/settings.json": settings("/no/rubric-lint") });
    const window = await editor.open(folder, "a.rubric.yaml");
    const start = "rubric-lint from the setting rubric-lint.path cannot start: ";
    await window.notification(`${start}/no/rubric-lint: there is no such file`).waitFor();
    await window.status("rubric-lint is not running");
    writeFileSync(path.join(folder, ".vscode/settings.json"), settings(["/opt"]));
    await window.notification(`${start}${folder}/["/opt"]: there is no such file`).waitFor();
    await window.problems(0, 0);
    writeFileSync(path.join(folder, ".vscode/settings.json"), settings(path.join(PROJECT_VENV, "bin/rubric-lint")));
    await window.status("From the setting rubric-lint.path");
    await window.problems(1, 0);
    await window.close();
  });

  it("starts a server that ends again, ever later, then says so once", async () => {
    const folder = withPython(
      { "a.rubric.yaml": RUBRIC },
      ANSWER,
      'date +%s%N >> "$(dirname "$0")/starts"',
      "echo boom >&2",
      "exit 70",
    );
    const window = await editor.open(folder, "a.rubric.yaml");
    const notification = window.notification(
      "The rubric-lint server crashed 5 times in a row, the last time with exit code 70. It will not restart.",
    );
    await notification.waitFor();
    const starts = readFileSync(path.join(folder, ".venv/bin/starts"), "utf8").trim().split("\n");
    const waits = starts.slice(1).map((start, index) => (Number(start) - Number(starts[index])) / 1e9);
    assert.equal(waits.length, 4);
    [0.5, 2, 4, 8].forEach((least, index) => {
      assert.ok((waits[index] ?? 0) >= least, `the waits are ${waits.join(", ")}`);
    });
    assert.equal(await window.page.locator(".notification-toast").count(), 1);
    await window.press(notification, "Show Output");
    await window.page.locator(".part.panel .view-line", { hasText: "boom" }).first().waitFor();
    await window.close();
  });
});

describe("a machine without Python", () => {
  let editor: Editor;
  let programs: string;

  before(async () => {
    programs = workspace({});
    editor = await Editor.start({ programs });
  });

  after(async () => {
    await editor.close();
  });

  it("has findings from the built-in rubric-lint, of all files, and no message", async (context) => {
    const folder = workspace({ "a.rubric.yaml": FAULTY, "evals/b.rubric.yaml": FAULTY });
    const window = await editor.open(folder, "a.rubric.yaml");
    const opened = Date.now();
    await window.problems(2, 0);
    context.diagnostic(`the findings were there ${String(Date.now() - opened)} ms after the double click`);
    await window.status("built in");
    assert.equal(await window.notification("rubric-lint").count(), 0);
    await window.close();
  });

  it("gets an installed one by one command, in the folder of the extension", async () => {
    const window = await editor.open(workspace({ "a.rubric.yaml": FAULTY }), "a.rubric.yaml");
    await window.status("built in");
    await window.command("rubric-lint: Install rubric-lint");
    await window.notification("To install rubric-lint, you need uv, or Python 3.11 or newer").waitFor();
    const uv = path.join(programs, "uv");
    writeFileSync(uv, ["#!/bin/sh", "exec /usr/bin/sleep 600", ""].join("\n"));
    chmodSync(uv, 0o755);
    await window.command("rubric-lint: Install rubric-lint");
    await window.press(window.notification("Installing rubric-lint"), "Cancel");
    await window.notification("Installing rubric-lint").waitFor({ state: "detached" });
    writeFileSync(uv, ["#!/bin/sh", "echo 'error: the index refused the request' >&2", "exit 2", ""].join("\n"));
    await window.command("rubric-lint: Install rubric-lint");
    const refusal = "rubric-lint could not be installed: error: the index refused the request. The built-in one keeps working.";
    await window.notification(refusal).waitFor();
    await window.status("built in");
    const install = `pip) own=\${4%/bin/python}; rmdir "$own"; ln -s "${PROJECT_VENV}" "$own";;`;
    writeFileSync(uv, ["#!/bin/sh", "PATH=/usr/bin:/bin", 'case $1 in venv) mkdir "$6";;', install, "esac", ""].join("\n"));
    await window.command("rubric-lint: Install rubric-lint");
    await window.status("From the folder of the extension");
    await window.problems(1, 0);
    await window.close();
  });
});

describe("a window that is not trusted", () => {
  let editor: Editor;

  before(async () => {
    editor = await Editor.start({ isTrusted: false });
  });

  after(async () => {
    await editor.close();
  });

  it("runs nothing until it is", async () => {
    const settings = { "rubric-lint.path": "${workspaceFolder}/.venv/bin/python" };
    const folder = withPython(
      { "a.rubric.yaml": FAULTY, ".vscode/settings.json": settings },
      'touch "$(dirname "$0")/was-run"',
      `[ "$1" = -m ] && shift 2; exec "${path.join(PROJECT_VENV, "bin/rubric-lint")}" "$@"`,
    );
    const ran = path.join(folder, ".venv/bin/was-run");
    const window = await editor.open(folder, "a.rubric.yaml");
    await window.status("Trust this workspace to use an installed rubric-lint");
    await window.problems(1, 0);
    assert.equal(existsSync(ran), false);
    await window.page.locator("#status\\.workspaceTrust").or(window.page.getByText("Restricted Mode", { exact: true })).first().click();
    await window.page.getByRole("button", { name: "Trust", exact: true }).first().click();
    await until(() => existsSync(ran) || undefined);
    await window.problems(1, 0);
    await window.close();
  });
});

describe("an editor without Red Hat's YAML extension", () => {
  const recommended = "Red Hat's YAML extension completes the fields of rubrics and suites";
  let editor: Editor;

  before(async () => {
    editor = await Editor.start({ settings: { "extensions.ignoreRecommendations": false } });
  });

  after(async () => {
    await editor.close();
  });

  it("recommends it once, to those who edit rubrics", async () => {
    const folder = workspace({ "a.rubric.yaml": FAULTY, "values.yaml": "services: {}\n" });
    const window = await editor.open(folder, "values.yaml");
    await window.problems(1, 0);
    assert.equal(await window.notification(recommended).count(), 0);
    await window.page.getByRole("treeitem", { name: "a.rubric.yaml" }).dblclick();
    const notification = window.notification(recommended);
    await notification.waitFor();
    await window.press(notification, "Not Now");
    await window.close();
    const again = await editor.open(folder, "a.rubric.yaml");
    await again.problems(1, 0);
    await again.status("rubric-lint 0");
    assert.equal(await again.notification(recommended).count(), 0);
    await again.close();
  });
});
