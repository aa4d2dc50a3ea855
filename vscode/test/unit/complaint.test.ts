import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { complaint, complaintOfEnd, limitsOf, listTried, replaced } from "../../src/complaint";
import type { Tool } from "../../src/tool";

const PYTHON: Tool = { command: "/ws/.venv/bin/python", arguments: ["-m", "rubric_lint"], origin: ".venv in ws" };
const PROGRAM: Tool = { command: "/usr/bin/rubric-lint", arguments: [], origin: "PATH" };

describe("what the user is told", () => {
  it("of the places that have no rubric-lint", () => {
    const tried = [{ kind: "absent", tool: PYTHON, reason: "rubric-lint is not installed there" }] as const;
    assert.deepEqual(listTried(tried), [
      "Tried /ws/.venv/bin/python -m rubric_lint (.venv in ws): rubric-lint is not installed there",
    ]);
  });

  it("of a tool that is too old", () => {
    const command = 'pip install -U "rubric-lint[lsp]"';
    assert.deepEqual(complaint({ kind: "old", tool: PROGRAM, version: "0.0.9" }), {
      brief: "rubric-lint 0.0.9 from PATH is too old",
      message: `rubric-lint 0.0.9 from PATH is too old: the editor needs 0.1.0 or newer. Upgrade it with: ${command}`,
      details: ["Command: /usr/bin/rubric-lint"],
      command,
    });
  });

  it("of a tool that does not run", () => {
    assert.deepEqual(complaint({ kind: "broken", tool: PROGRAM, reason: "ImportError: no ruamel" }), {
      brief: "rubric-lint from PATH cannot start",
      message: "rubric-lint from PATH cannot start: /usr/bin/rubric-lint: ImportError: no ruamel",
      details: ["Command: /usr/bin/rubric-lint"],
      command: undefined,
    });
  });

  it("of folders that an installed tool cannot read", () => {
    const limits = [["file", "file"], ["file", "vscode-vfs"], []].map(limitsOf);
    assert.deepEqual(limits, ["", ". It cannot read the virtual folders of this workspace", ""]);
  });

  it("of what runs in place of a tool of no use", () => {
    const old = complaint({ kind: "old", tool: PROGRAM, version: "0.0.9" });
    assert.deepEqual(replaced(old), { ...old, message: `The built-in rubric-lint runs for now. ${old.message}` });
  });

  it("of a server that lacks a part: its own words, and the command for its own interpreter", () => {
    const lastWords = "rubric-lint: the language server needs the pygls package; install it with: pip install 'pygls>=2'";
    assert.deepEqual(complaintOfEnd(PYTHON, { code: 2, signal: null, lastWords }, 0), {
      brief: "The server of rubric-lint from .venv in ws cannot start",
      message: lastWords,
      details: ["Command: /ws/.venv/bin/python -m rubric_lint lsp"],
      command: '/ws/.venv/bin/python -m pip install -U "rubric-lint[lsp]"',
    });
  });

  it("of the built-in server, which lacks no part", () => {
    assert.deepEqual(complaintOfEnd(undefined, { code: 2, signal: null, lastWords: "RangeError: out of memory" }, 5), {
      brief: "The server crashed 5 times",
      message: "The rubric-lint server crashed 5 times in a row, the last time with exit code 2. It will not restart.",
      details: ["Last output: RangeError: out of memory"],
      command: undefined,
    });
  });

  it("of a server that ends again and again", () => {
    assert.deepEqual(complaintOfEnd(PYTHON, { code: null, signal: "SIGSEGV", lastWords: "" }, 5), {
      brief: "The server crashed 5 times",
      message: "The rubric-lint server crashed 5 times in a row, the last time with signal SIGSEGV. It will not restart.",
      details: [],
      command: undefined,
    });
  });
});
