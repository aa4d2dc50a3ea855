/** Runs the tests of host.ts in the editor, with this project's rubric-lint in the folder's environment. */
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";

import { Editor, pack, packYaml, PROJECT_VENV, workspace, YAML_SETTINGS } from "./editor";

const SUITE = `# A suite with faults
tests:
  - id: refund
    rubrics:
      - id: accuracy
        required_min_score: 7
        score_ranges:
          - score_range: [0, 4]
            expected_outcome: States another period
          - score_range: [3, 6]
            expected_outcome: States the period
      - id: tone
        wieght: 1.0
        score_ranges: {0: Blames the customer, 4: Helps, 8: Good}
`;

const OLD = `cases:
  - rubrics:
      - id: a
        description: Names the city
        required: true
`;

const FILES = {
  "suite.yaml": SUITE,
  "emoji crlf é.yaml": SUITE.replace("A suite", "\u{1F44B} A suite")
    .replace("States another period", '"\u{1F600} \u{1F469}\u200D\u{1F680} another" # \u{1F600}')
    .replace("[3, 6]", "[3, 6] ")
    .replace("tests:\n  - id: refund", "tests:\n  - {id: \u{1F680}, rubrics: [{expected_outcome: '\u{1F600}', weight: -1}]}\n  - id: refund")
    .replaceAll("\n", "\r\n"),
  "scale.rubric.json": { rubrics: [{ id: "a", levels: [{ level: 1, expected_outcome: "\u{1F600}" }], wieght: 1 }] },
  "typo.yaml": "tests:\n  - rubrics:\n      - id: a # \u{1F600}\n        wieght: 2.0\n        expected_outcome:   'Names the city'\n",
  "old.yaml": OLD,
  "old emoji crlf é.yaml": `\uFEFF${OLD.replace("Names", "\u{1F600} Names")}`.replaceAll("\n", "\r\n"),
  "vague.rubric.yaml": "rubrics:\n  - id: a\n    expected_outcome: Good\n",
  "complete.rubric.yaml": "rubrics:\n  - \n",
  "agentv.yaml": "prompts: [x]\ntests:\n  - id: a\n    assert:\n      - type: llm-rubric\n        value:\n          - outcome: Says so\n            \n",
  "compose.yaml": "services:\n  web:\n    image: nginx\n    image: apache\n",
};

describe("in the extension host", () => {
  let editor: Editor;
  const folder = workspace(FILES);

  before(async () => {
    symlinkSync(PROJECT_VENV, path.join(folder, ".venv"));
    symlinkSync(PROJECT_VENV, path.join(folder, "other-venv"));
    const extensions = [pack("test/editor/python"), packYaml()];
    editor = await Editor.start({ isForModules: true, extensions, settings: YAML_SETTINGS });
  });

  after(async () => {
    await editor.close();
  });

  it("all tests pass", async () => {
    const results = await editor.run(folder, "out/test/editor/host.js");
    console.log(results.filter((line) => line.startsWith("pass: ")).join("\n"));
    assert.deepEqual(
      results.filter((line) => !line.startsWith("pass: ")),
      [],
    );
    assert.ok(results.length >= 15, "the tests ran");
  });
});
