import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { taskArguments } from "../../src/run";

const module = { command: "/v/bin/python", arguments: ["-m", "rubric_lint"], origin: ".venv" };
const program = { command: "/bin/rubric-lint", arguments: [], origin: "PATH" };

describe("the arguments of a task", () => {
  it("check the folder, one finding to a line", () => {
    assert.deepEqual(taskArguments(module, {}), ["-m", "rubric_lint", "check", "--format", "concise"]);
  });

  it("have options first, and paths that look like options as paths", () => {
    const wish = { options: ["--fail-on", "warning"], paths: ["evals", "-x.yaml"] };
    assert.deepEqual(taskArguments(program, wish), ["check", "--format", "concise", "--fail-on", "warning", "--", "evals", "-x.yaml"]);
  });

  it("leave out what is not a list of strings", () => {
    assert.deepEqual(taskArguments(program, { options: "--fix", paths: [1, "a"] }), ["check", "--format", "concise", "--", "a"]);
  });
});
