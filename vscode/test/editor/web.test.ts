/** What a user of vscode.dev or github.dev sees, or of a virtual workspace: VS Code where the files are not on a disk. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { serve, type Site } from "../serve";
import { Editor, pack, until, workspace } from "./editor";
import { FOLDER, listFiles, WebEditor } from "./web";

const FAULTY = "rubrics:\n  - id: a\n    expected_outcome: ''\n";
const SOUND = "rubrics:\n  - id: a\n    expected_outcome: Names the city\n";
const OLD = "rubrics:\n  - id: a\n    description: Names the city\n";
const VAGUE = "rubrics:\n  - id: a\n    expected_outcome: Good\n";

describe("a window in a browser", () => {
  let editor: WebEditor;

  before(async () => {
    editor = await WebEditor.start();
  });

  after(async () => {
    await editor.close();
  });

  it("has findings of all files, by the settings of the folder, and says what runs and what does not", async (context) => {
    const files = {
      "a.rubric.yaml": FAULTY,
      "suites/b.rubric.yaml": FAULTY + VAGUE.replace("rubrics:\n", "").replace("id: a", "id: b"),
      "out/c.rubric.yaml": FAULTY,
      ".gitignore": "out/\n",
      "rubric-lint.toml": 'ignore = ["vague-outcome"]\n',
    };
    const window = await editor.open(files, "a.rubric.yaml");
    const opened = Date.now();
    await window.problems(2, 0);
    context.diagnostic(`a fresh profile in a browser: the findings were there ${String(Date.now() - opened)} ms after the first click`);
    await window.status("built in");
    await window.status("No program can run in a browser, so there are no tasks and no code lenses");
    assert.equal(await window.notification("rubric-lint").count(), 0);
    await window.close();
  });

  it("mends a file, and saves it", async () => {
    const window = await editor.open({ "a.rubric.yaml": OLD }, "a.rubric.yaml");
    await window.problems(0, 1);
    await window.command("rubric-lint: Fix All in This File");
    await window.problems(0, 0);
    const text = window.page.locator(".monaco-editor .view-lines");
    await until(async () => /expected_outcome:\s+Names/.test(await text.innerText()) || undefined);
    await window.page.keyboard.press("Control+s");
    await window.page.locator(".tab.active:not(.dirty)").waitFor();
    await window.problems(0, 0);
    await window.close();
  });

  it("says when the workspace is larger than what it reads, and checks what is open", async () => {
    const many = Array.from({ length: 5_001 }, (_, number) => [`many/${String(number)}.py`, "print()\n"] as const);
    const window = await editor.open({ ...Object.fromEntries(many), "many/x.rubric.yaml": FAULTY, "a.rubric.yaml": FAULTY }, "a.rubric.yaml");
    await window.problems(1, 0);
    await window.status("The workspace has more than 5,000 files: the rest is checked when you open it");
    await window.close();
  });

  it("follows files that change, come and go elsewhere, and settings", async () => {
    const window = await editor.open({ "a.rubric.yaml": SOUND, "b.rubric.yaml": FAULTY }, "a.rubric.yaml");
    await window.problems(1, 0);
    const load = async (files: typeof editor.files): Promise<void> => {
      editor.files = files;
      await window.command("Memory: Load Files");
    };
    await load({ "a.rubric.yaml": SOUND, "b.rubric.yaml": FAULTY, "new/c.rubric.yaml": VAGUE });
    await window.problems(1, 1);
    await load({ "a.rubric.yaml": SOUND, "b.rubric.yaml": SOUND, "new/c.rubric.yaml": VAGUE });
    await window.problems(0, 1);
    await load({ "a.rubric.yaml": SOUND, "new/c.rubric.yaml": VAGUE, "rubric-lint.toml": 'ignore = ["vague-outcome"]\n' });
    await window.problems(0, 0);
    await load({ "a.rubric.yaml": SOUND, "new/c.rubric.yaml": FAULTY });
    await window.problems(1, 0);
    await load({ "a.rubric.yaml": SOUND });
    await window.problems(0, 0);
    await window.close();
  });
});

describe("a virtual workspace on a computer", () => {
  let editor: Editor;
  let site: Site;

  before(async () => {
    const files = { "a.rubric.yaml": FAULTY, "suites/b.rubric.yaml": FAULTY, "c.rubric.yaml": VAGUE, "rubric-lint.toml": 'ignore = ["vague-outcome"]\n' };
    site = await serve(() => ({ text: listFiles(files) }));
    editor = await Editor.start({ extensions: [pack("test/editor/memory")], settings: { "memory.list": site.url } });
  });

  after(async () => {
    await editor.close();
    site.close();
  });

  it("has findings of all its files from the built-in rubric-lint", async () => {
    const folder = workspace({ "virtual.code-workspace": { folders: [{ uri: `${FOLDER.scheme}:${FOLDER.path}` }] } });
    const window = await editor.open(`${folder}/virtual.code-workspace`, "a.rubric.yaml");
    await window.problems(2, 0);
    await window.status("No program can run in a virtual workspace, so there are no tasks and no code lenses");
    await window.close();
  });
});
