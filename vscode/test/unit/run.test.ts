import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { taskArguments } from "../../src/run";

const module = { command: "/v/bin/python", arguments: ["-m", "rubric_lint"], origin: ".venv" };
const program = { command: "/bin/rubric-lint", arguments: [], origin: "PATH" };

describe("the arguments of a task", () => {
  it("check the folder, one finding to a line", () => {
    assert.deepEqual(taskArguments(module, {}), ["-m", "rubric_lint", "check", "--format", "vscode"]);
  });

  it("have options first, and paths that look like options as paths", () => {
    const wish = { options: ["--fail-on", "warning"], paths: ["evals", "-x.yaml"] };
    assert.deepEqual(taskArguments(program, wish), ["check", "--format", "vscode", "--fail-on", "warning", "--", "evals", "-x.yaml"]);
  });

  it("ask it to stay only if that is said plainly", () => {
    assert.deepEqual(taskArguments(program, { watch: true, paths: ["evals"] }), ["check", "--format", "vscode", "--watch", "--", "evals"]);
    assert.deepEqual(taskArguments(program, { watch: "yes" }), ["check", "--format", "vscode"]);
  });

  it("leave out what is not a list of strings", () => {
    assert.deepEqual(taskArguments(program, { options: "--fix", paths: [1, "a"] }), ["check", "--format", "vscode", "--", "a"]);
  });
});
