/** Each feature as a user sees it in the window. What a test has seen becomes two pictures of the film. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Locator } from "playwright-core";

import { Editor, packYaml, PROJECT_VENV, until, type Window, workspace, YAML_SETTINGS } from "./editor";
import { Film } from "./film";

const RUBRIC = "refund.rubric.yaml";
const TESTS = "refund.rubric-test.yaml";
const OUTPUTS = "refund.judged.jsonl";
const EXAMPLES = [RUBRIC, TESTS, OUTPUTS, "support-bot.yaml"];

const SHIPPING = `description: What the support assistant says about parcels
tests:
  - id: late-parcel
    input: My parcel is five days late. Where is it?
    rubrics:
      - id: accuracy
        weight: 2.0
        score_ranges:
          - score_range: [0, 5]
            expected_outcome: Names another place than the tracking page does
          - score_range: [4, 7]
            expected_outcome: Names the place, but not the day of delivery
          - score_range: [8, 10]
            expected_outcome: Names the place and the day of delivery
      - id: next-step
        score_ranges:
          - score_range: [0, 3]
            expected_outcome: Leaves the customer without anything to do
          - score_range: [3, 10]
            expected_outcome: Says when to write again if the parcel does not come
`;

const BILLING = `description: What the support assistant says about invoices
tests:
  - id: charged-twice
    input: You charged me twice for March.
    rubrics:
      - id: cause
        expected_outcome: Names the second charge and its day
        wieght: 2.0
      - id: refund
        expected_outcome: ""
`;

const DRAFT = `# A draft: bands from high to low, fields as they came to mind
rubrics:
  - score_ranges: # three bands
      8: Names the cause and a way to mend it
      4: Names the cause # but no way to mend it
      0: Names another cause
    weight: 2.0
    id: cause
  - required_min_score: 5
    score_ranges:
      - expected_outcome: Blames nobody
        score_range: [5, 10]
      - expected_outcome: Blames the customer
        score_range: [0, 4]
    id: tone
`;

const PLACE = "rubrics:\n  - id: place\n    expected_outcome: Names the city\n";

const FILES = { "shipping.yaml": SHIPPING, "billing.yaml": BILLING, "draft.rubric.yaml": DRAFT, "place.rubric.yaml": PLACE };

const SETTINGS = {
  "rubric-lint.formatting": true,
  "[plaintext]": { "editor.wordWrap": "on" },
  // What would only be in the way of the pictures.
  "editor.cursorBlinking": "solid",
  "editor.minimap.enabled": false,
  "editor.scrollbar.horizontal": "hidden",
  "editor.scrollbar.vertical": "hidden",
  "editor.stickyScroll.enabled": false,
  "files.exclude": { ".venv": true },
  "remote.autoForwardPorts": false,
  "terminal.integrated.gpuAcceleration": "off",
  "terminal.integrated.stickyScroll.enabled": false,
  "workbench.layoutControl.enabled": false,
  "workbench.reduceMotion": "on",
};

describe("in the window", () => {
  const film = new Film();
  const folder = path.join(workspace({}), "support");
  let editor: Editor;
  let window: Window;

  before(async () => {
    for (const name of EXAMPLES) {
      cpSync(path.join("../examples", name), path.join(folder, name));
    }
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(path.join(folder, name), text);
    }
    symlinkSync(PROJECT_VENV, path.join(folder, ".venv"));
    editor = await Editor.start({ extensions: [packYaml()], settings: { ...SETTINGS, ...YAML_SETTINGS } });
    window = await editor.open(folder, "support-bot.yaml");
  });

  after(async () => {
    await editor.close();
  });

  beforeEach(async () => {
    await window.clear();
  });

  const read = (name: string): string => readFileSync(path.join(folder, name), "utf8");

  /** Opens a file and puts the cursor before a part of it. */
  async function show(name: string, part?: string): Promise<void> {
    await window.show(name);
    if (part) {
      await window.go(read(name), part);
    }
  }

  /** The text of each of these elements, on one line. */
  async function texts(elements: Locator): Promise<string[]> {
    await elements.first().waitFor();
    return (await elements.allInnerTexts()).map(onOneLine);
  }

  /** What is written in the editor, hints included. */
  const lines = (): Promise<string[]> => texts(window.page.locator(".editor-instance .view-line"));

  const squiggle = (): Promise<void> => window.page.locator(".squiggly-error, .squiggly-warning").first().waitFor();

  describe("findings", () => {
    it("are underlined, and listed for all files, open or not", async () => {
      await show("support-bot.yaml");
      await squiggle();
      await window.page.keyboard.press("Control+Shift+m");
      const rows = window.page.locator(".markers-panel .monaco-list-row");
      for (const name of ["billing.yaml", "shipping.yaml", "support-bot.yaml"]) {
        await rows.filter({ hasText: name }).first().waitFor();
      }
      const shown = (await texts(rows)).map((row) => row.replace(/^criterion .+ (?=rubric-lint [a-z-]+ \[)/, ""));
      assert.deepEqual(shown.slice(0, 4), [
        "billing.yaml 2",
        "rubric-lint unknown-field [Ln 8, Col 9]",
        "rubric-lint empty-outcome [Ln 10, Col 27]",
        "shipping.yaml 2",
      ]);
      await film.take(window, "problems", "Findings are underlined, and listed for all files of the folder, open or not.");
    });
  });

  describe("fixes", () => {
    const offered = (): Locator => window.page.locator(".action-widget .monaco-list-row.action");
    const changes = (): Locator => window.page.locator(".part.panel .monaco-list-row");

    /** Opens the light bulb at the first overlap, once the server has read the file that was just opened. */
    async function ask(): Promise<void> {
      await show("shipping.yaml", "4, 7]");
      await squiggle();
      await until(async () => {
        await window.page.keyboard.press("Control+.");
        await window.page.waitForTimeout(1000);
        return (await offered().count()) > 0 ? true : undefined;
      });
    }

    /** Chooses a fix, and ticks its changes in the preview. */
    async function choose(title: string): Promise<void> {
      await ask();
      await offered().filter({ hasText: title }).first().click();
      await changes().first().locator(".edit-checkbox").click();
      await changes().nth(1).click();
      await window.page.locator(".multiDiffEditor .char-insert").first().waitFor();
    }

    it("are one for each answer, and one for all findings of a rule", async () => {
      await ask();
      assert.deepEqual(await texts(offered()), [
        "End [0, 5] at 3 (unsafe)",
        "Start [4, 7] at 6 (unsafe)",
        "Fix all 2 findings of overlap in this file: end each lower band before the upper one starts (unsafe)",
        "Fix all 2 findings of overlap in this file: start each upper band after the lower one ends (unsafe)",
        "Ignore overlap here",
      ]);
      await film.take(window, "choices", "Two bands overlap: the light bulb has a fix for each answer, and one for all overlaps of the file.");
    });

    it("that are unsafe are made once they are confirmed", async () => {
      await choose("Start [4, 7] at 6");
      assert.deepEqual(await texts(changes()), ["shipping.yaml", "- score_range: [46, 7]"]);
      await film.take(window, "preview", "An unsafe fix is shown as a diff. It is made when its change is ticked and applied.");
      await window.page.getByRole("button", { name: "Apply" }).click();
      await window.page.locator(".view-line", { hasText: "score_range: [6, 7]" }).waitFor();
      assert.ok(!(await lines()).includes("- score_range: [4, 7]"));
      await window.page.keyboard.press("Control+z");
      await window.page.locator(".tab.dirty").waitFor({ state: "detached" });
    });

    it("of all findings of a rule are confirmed together", async () => {
      await choose("Fix all 2 findings of overlap in this file: end each lower");
      assert.deepEqual(await texts(changes()), ["shipping.yaml", "- score_range: [0, 53]", "- score_range: [0, 32]"]);
      await film.take(window, "all-of-a-kind", "The fixes for all findings of a rule are one diff.");
      await window.page.getByRole("button", { name: "Discard" }).click();
    });
  });

  it("completes a field while one types, and saves what was typed", async () => {
    const name = "place.rubric.yaml";
    await show(name);
    const { keyboard } = window.page;
    const offered = window.page.locator(".suggest-widget .monaco-list-row");
    await keyboard.press("Control+End");
    await keyboard.type("    ");
    await keyboard.press("Control+Space");
    await offered.filter({ hasText: "required_min_score" }).waitFor();
    await keyboard.type("wei", { delay: 50 });
    await offered.filter({ hasText: "weight" }).first().waitFor();
    await keyboard.press("Control+Space");
    assert.match((await texts(window.page.locator(".suggest-details")))[0] ?? "", /weight/);
    await film.take(window, "completion", "The fields that can follow, explained.");
    await keyboard.press("Control+Space");
    await keyboard.press("Enter");
    await keyboard.type("2");
    await keyboard.press("Control+s");
    const saved = await until(() => (read(name) === PLACE ? undefined : read(name)));
    assert.equal(saved, `${PLACE}    weight: 2`);
  });

  describe("what a score is made of", () => {
    /** What is shown over a part of the rubric. */
    async function hover(part: string): Promise<string[]> {
      await show(RUBRIC, part);
      await window.page.keyboard.press("Control+k");
      await window.page.keyboard.press("Control+i");
      return texts(window.page.locator(".monaco-resizable-hover .hover-contents"));
    }

    it("is hinted at between the words", async () => {
      await show(RUBRIC);
      await window.page.locator(".codelens-decoration").first().waitFor();
      await window.page.locator(".view-line", { hasText: "57.1% of the score" }).waitFor();
      const hinted = (await lines()).filter((line) => / of the score|missed|band \d/.test(line));
      assert.deepEqual(hinted, [
        "weight: 2.057.1% of the score",
        "- score_range: [0, 4]fail (gate missed)",
        "- score_range: [5, 6]fail (gate missed)",
        "- id: next-step28.6% of the score",
        "0: Leaves the customer without anything to doband 0 to 4; scores 0 to 2 cannot pass",
        "5: Names a next step, but not where to take itband 5 to 7",
        "8: Names a next step and where to take itband 8 to 10",
        "weight: 0.514.3% of the score",
        "0: Blames the customerband 0 to 3",
        "4: Neither blames the customer nor shows understandingband 4 to 7",
        "8: Shows understanding for the customerband 8 to 10",
      ]);
      await film.take(window, "hints", "Hints say the share of each criterion, the verdicts that are certain, and where a short-form band ends.");
    });

    it("is explained at a band", async () => {
      const [text] = await hover("[9, 10]"); // what the YAML server says of the field follows
      assert.equal(
        text,
        "Scores 9 to 10 of accuracy score adds leaves at most verdict " +
          "9 0.5143 0.9429 depends on the other criteria 10 0.5714 1 depends on the other criteria Pass from 0.8, borderline from 0.6.",
      );
      await film.take(window, "hover-band", "A band: what each of its scores adds, and the highest total that it leaves.");
    });

    it("is explained at a gate", async () => {
      assert.match((await hover("7\n"))[0] ?? "", /accuracy.* 0 to 6 /);
      await film.take(window, "hover-gate", "A gate: the scores that miss it.");
    });

    it("is explained at a weight", async () => {
      const [text] = await hover("weight");
      assert.match(text ?? "", /accuracy: 57\.1% of the score\. Its worst answer \(0\) leaves at most 0\.4286/);
      await film.take(window, "hover-weight", "A weight: its share of the score, and what the worst answer leaves.");
    });
  });

  describe("a lens", () => {
    /** Holds that a lens opens what a command prints. */
    async function press(title: string, program: string, ...words: string[]): Promise<void> {
      const line = [program, ...words].map((word) => (/[ ()]/.test(word) ? `'${word}'` : word)).join(" ");
      const printed = spawnSync(path.join(PROJECT_VENV, "bin", program), words, { cwd: folder, encoding: "utf8" }).stdout;
      await show(RUBRIC);
      await window.page.locator(".codelens-decoration a", { hasText: title }).click();
      await window.page.locator(".tab.active", { hasText: /\.txt/ }).waitFor();
      await window.page.locator(".view-line", { hasText: `$ ${line}` }).waitFor();
      const shown = onOneLine((await lines()).join(" "));
      assert.ok(shown.length > line.length + 10);
      assert.equal(onOneLine(`$ ${line} ${printed}`).slice(0, shown.length), shown);
    }

    it("runs the tests of a rubric", async () => {
      await press("Run 6 tests", "rubric-test", TESTS);
      await film.take(window, "lens-tests", "Run 6 tests");
    });

    it("scores recorded outputs", async () => {
      await press("Score recorded outputs", "rubric-score", "--format", "table", RUBRIC, OUTPUTS);
      await film.take(window, "lens-scores", "Score recorded outputs");
    });

    it("shows the prompt", async () => {
      await press("Show prompt", "rubric-score", "prompt", RUBRIC, "--answer", "(the answer)");
      await film.take(window, "lens-prompt", "Show prompt");
    });
  });

  describe("the id of a criterion", () => {
    it("is found in rubrics, tests and judge outputs", async () => {
      await show(RUBRIC, "next-step");
      await window.page.keyboard.press("Shift+F12");
      const rows = window.page.locator(".reference-zone-widget .ref-tree .monaco-list-row");
      assert.deepEqual(await texts(rows), [`${OUTPUTS} 6`, `${TESTS} 4`, `${RUBRIC} 1`, "- id: next-step"]);
      await film.take(window, "references", "Where the id of a criterion is: in the rubric, in its tests and in judge outputs.");
    });

    it("is renamed in the rubric and its tests, and recorded outputs are to be judged again", async () => {
      const recorded = read(OUTPUTS);
      await show(RUBRIC, "next-step");
      const { keyboard } = window.page;
      await keyboard.press("F2");
      await window.page.locator(".rename-box input:focus").waitFor();
      await keyboard.type("way-out");
      await film.take(window, "rename", "A new name for the criterion.");
      await keyboard.press("Control+Enter");
      const rows = window.page.locator(".part.panel .monaco-list-row");
      await rows.filter({ hasText: TESTS }).waitFor();
      await rows.filter({ hasText: RUBRIC }).waitFor();
      await window.notification(`the judge outputs in ${OUTPUTS} still have the old id`).waitFor();
      await film.take(window, "rename-preview", "The preview of a rename: the tests and the rubric change at once.");
      await window.page.getByRole("button", { name: "Apply" }).click();
      for (const name of [RUBRIC, TESTS]) {
        await until(() => (read(name).includes("way-out") ? true : undefined));
        assert.doesNotMatch(read(name), /next-step/);
      }
      assert.equal(read(OUTPUTS), recorded);
    });
  });

  it("finds cases and criteria by name in all files", async () => {
    await show(RUBRIC);
    await window.page.keyboard.press("Control+t");
    await window.page.keyboard.type("accu");
    const rows = window.page.locator(".quick-input-list .monaco-list-row");
    await rows.nth(2).waitFor();
    assert.deepEqual(await texts(rows), [
      `accuracy${RUBRIC}`,
      "accuracylate-parcel • shipping.yaml",
      "accuracyrefund-window • support-bot.yaml",
    ]);
    await film.take(window, "symbols", "Cases and criteria of all files are found by name.");
  });

  it("links to the files that a document names", async () => {
    await show(TESTS, RUBRIC);
    const link = window.page.locator(".detected-link", { hasText: "rubric" }).first();
    await link.waitFor();
    await window.page.keyboard.press("Control+k");
    await window.page.keyboard.press("Control+i");
    const hover = window.page.locator(".monaco-resizable-hover .hover-contents", { hasText: "Open the rubric" });
    assert.deepEqual(await texts(hover), ["Open the rubric (ctrl + click)"]);
    await film.take(window, "links", "Links lead to the schema, the recorded outputs and the rubric.");
    await hover.locator("a").click();
    await window.page.locator(".tab.active", { hasText: RUBRIC }).waitFor();
  });

  it("formats as the command line does", async () => {
    const name = "draft.rubric.yaml";
    const copy = workspace({ [name]: DRAFT });
    execFileSync(path.join(PROJECT_VENV, "bin/rubric-lint"), ["format", name], { cwd: copy, stdio: "pipe" });
    await show(name);
    await squiggle();
    await window.page.locator(".codelens-decoration").first().waitFor();
    await film.take(window, "format-before", "Before: bands and fields in any order.");
    await window.command("Format Document");
    await window.page.locator(".tab.active.dirty").waitFor();
    await window.page.keyboard.press("Control+s");
    await until(() => (read(name) === DRAFT ? undefined : true));
    assert.equal(read(name), readFileSync(path.join(copy, name), "utf8"));
    await window.page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
    await film.take(window, "format-after", "Formatted: bands and fields in order, with their comments.");
  });

  it("walks through the first rubric, with a picture that loads", async () => {
    const size = window.page.viewportSize();
    assert.ok(size);
    await window.page.setViewportSize({ width: 1280, height: 800 });
    await window.command("Welcome: Open Walkthrough", "Check a rubric");
    const walkthrough = window.page.locator(".gettingStartedContainer");
    const picture = window.page.waitForResponse((response) => response.url().includes("problems-light.png"));
    const steps = { write: "Write a rubric", problems: "See what is wrong", fix: "Fix it", project: "Set it up for the project" };
    for (const [name, title] of Object.entries(steps)) {
      await walkthrough.locator(".step-title", { hasText: title }).click();
      await walkthrough.locator(".getting-started-step.expanded", { hasText: title }).waitFor();
      if (name === "problems") {
        assert.equal((await picture).status(), 200);
      }
      await window.page.mouse.move(1, 1);
      await film.take(window, `walkthrough-${name}`, `The walkthrough: ${title.toLowerCase()}.`, 500);
    }
    await window.page.setViewportSize(size);
  });

  it("checks the folder whenever files change", async () => {
    await show("billing.yaml");
    await window.command("Tasks: Run Task", "rubric-lint");
    const tasks = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "rubric-lint: " });
    assert.deepEqual(await texts(tasks), [
      "rubric-lint: check Check the rubrics in all files of the folder",
      "rubric-lint: watch Check the rubrics in the folder again whenever files change",
    ]);
    await film.take(window, "tasks", "The tasks of the extension.");
    await tasks.nth(1).click();
    const terminal = window.page.locator(".terminal-wrapper.active .xterm-rows");
    const said = (text: string): Promise<void> => terminal.filter({ hasText: text }).waitFor();
    await said("Watching");
    await window.command("View: Toggle Maximized Panel");
    writeFileSync(path.join(folder, "billing.yaml"), BILLING.replace("wieght", "weight"));
    await said("Changed: billing.yaml");
    await said("Found 7 errors");
    await window.page.locator(".terminal-resize-overlay.visible").waitFor({ state: "detached" });
    await film.take(window, "watch", "The task that watches checks again when a file changes.");
  });
});

function onOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
