/** The page: what is typed goes to rubric-lint, and what it answers is shown. */
import { find, make } from "./dom";
import { Editor } from "./editor";
import { EXAMPLES, NAMES } from "./examples";
import { LinkError, readFragment, writeFragment } from "./link";
import type { File, Fixed, Linted } from "./messages";
import { drawFindings, drawProposal, drawScore, type Proposal, ruleLink } from "./panels";
import { drawShown } from "./rubrics";
import { Runner, StaleError } from "./runner";
import { connectTabs } from "./tabs";

const DELAY_MS = 120;

const example = find("example", HTMLSelectElement);
const name = find("name", HTMLSelectElement);
const fixAll = find("fix-all", HTMLButtonElement);
const notice = find("notice", HTMLElement);
const status = find("status", HTMLElement);
const fixing = find("fixing", HTMLElement);
const findings = find("findings", HTMLElement);
const output = find("output", HTMLTextAreaElement);
const rubric = find("rubric", HTMLSelectElement);
const rubrics = find("panel-rubrics", HTMLElement);
const result = find("result", HTMLElement);

let shown = ""; // the answer that the findings show
let checked: File | null = null; // the file that it is about
let timer = 0;

const editor = new Editor(find("editor", HTMLElement), changed);
const runner = new Runner({
  ready: (version) => {
    find("version", HTMLElement).textContent = `rubric-lint ${version}`;
    if (document.body.dataset["state"] !== "restarting") {
      void check();
    }
    document.body.dataset["state"] = "running";
  },
  restarting: () => {
    document.body.dataset["state"] = "restarting";
  },
  failed: (reason) => {
    document.body.dataset["state"] = "failed";
    say(`rubric-lint could not start in this browser: ${reason}. Reload the page to try again.`);
  },
});
const selected = connectTabs(() => void refresh());

/** Shows a sentence in the status line, which screen readers announce. */
function say(text: string): void {
  status.textContent = text;
}

function warn(message: string): void {
  notice.textContent = message;
  notice.hidden = !message;
}

function later(): void {
  window.clearTimeout(timer);
  timer = window.setTimeout(() => void check(), DELAY_MS);
}

/** What a fix or a message was about is gone, so it closes. */
function changed(): void {
  warn("");
  fixing.replaceChildren();
  for (const box of findings.querySelectorAll<HTMLDetailsElement>("details[open]")) {
    box.open = false;
  }
  later();
}

function file(): File {
  return { name: name.value, text: editor.text };
}

function isCurrent(asked: File | null): asked is File {
  return asked?.text === editor.text && asked.name === name.value;
}

async function check(): Promise<void> {
  window.clearTimeout(timer);
  const asked = file();
  const began = performance.now();
  try {
    const linted = await runner.ask("lint", asked);
    if (isCurrent(asked)) {
      checked = asked;
      draw(linted);
      const taken = Math.round(performance.now() - began);
      say(`${linted.summary.split("\n")[0] ?? ""} (${taken.toString()} ms)`);
      document.body.dataset["lintMs"] = taken.toString();
      document.body.dataset["lints"] = (Number(document.body.dataset["lints"] ?? 0) + 1).toString();
    }
  } catch (fault) {
    if (!(fault instanceof StaleError)) {
      const reason = fault instanceof Error ? fault.message : String(fault);
      for (const panel of [findings, rubrics, result]) {
        panel.replaceChildren();
      }
      [shown, checked] = ["", null];
      say(reason);
      return; // the other tabs would fail on this text too, and as slowly
    }
  }
  await refresh();
}

function draw(linted: Linted): void {
  editor.show(linted.report.findings, ruleLink);
  const answer = JSON.stringify(linted);
  if (answer !== shown) {
    shown = answer;
    findings.replaceChildren(
      ...drawFindings(linted, {
        goTo,
        preview: (finding, choice) => propose((asked) => runner.ask("fix-one", { ...asked, finding, choice })),
        use: (text) => {
          open(text, "check.rubric.yaml");
        },
      }),
    );
  }
  fixAll.disabled = !linted.report.findings.some((finding) => finding.fix?.safe);
}

function goTo(place: { readonly line: number; readonly column: number }): void {
  editor.goTo(place);
}

/** Prepares a fix of the text as it is now. It is applied to that text only, not to what was typed since. */
async function propose(ask: (asked: File) => Promise<Fixed>): Promise<Proposal> {
  const asked = file();
  const fixed = isCurrent(checked) ? await ask(asked) : null;
  if (!fixed || !isCurrent(asked)) {
    throw new Error("The text has changed since it was checked. Open the fix again.");
  }
  const apply = (): void => {
    if (fixed.text !== null && isCurrent(asked)) {
      editor.setText(fixed.text);
      void check();
    }
  };
  return { fixed, apply };
}

async function proposeAll(): Promise<void> {
  find("tab-findings", HTMLElement).click();
  await fill(
    fixing,
    propose((asked) => runner.ask("fix-all", asked)).then((proposal) => [
      make("h2", {}, "All safe fixes"),
      ...drawProposal(proposal, "Apply these fixes"),
    ]),
  );
  fixing.querySelector<HTMLElement>("button")?.focus();
}

/** Brings the tab up to date that is on top, besides the findings. */
async function refresh(): Promise<void> {
  if (selected() === "tab-rubrics") {
    await describe();
  } else if (selected() === "tab-score") {
    await score();
  }
}

/** Shows what an answer is made of, or what went wrong; an answer that a newer one replaces is left out. */
async function fill(panel: HTMLElement, drawn: Promise<readonly Node[]>): Promise<void> {
  try {
    panel.replaceChildren(...(await drawn));
  } catch (fault) {
    if (!(fault instanceof StaleError)) {
      panel.replaceChildren(make("p", { class: "trouble" }, fault instanceof Error ? fault.message : String(fault)));
    }
  }
}

async function describe(): Promise<void> {
  const drawn = runner.ask("show", file()).then((shown) => drawShown(shown, { goTo, use: useOutput }));
  await fill(rubrics, drawn);
}

/** Takes an example to the tab with the scores. */
function useOutput(name: string, given: unknown): void {
  output.value = JSON.stringify(given, null, 2);
  rubric.replaceChildren(make("option", { value: name }, name));
  find("tab-score", HTMLElement).click();
}

async function score(): Promise<void> {
  const asked = { ...file(), output: output.value, rubric: rubric.value || null };
  const drawn = runner.ask("score", asked).then((scored) => {
    rubric.replaceChildren(...scored.rubrics.map((each) => make("option", { value: each }, each)));
    rubric.value = scored.rubric ?? "";
    find("rubric-choice", HTMLElement).hidden = scored.rubrics.length < 2;
    return drawScore(scored);
  });
  await fill(result, drawn);
}

function open(text: string, called: string): void {
  name.value = called;
  editor.setFile(called);
  editor.setText(text, { isNew: true });
}

function openExample(): void {
  const chosen = EXAMPLES[example.selectedIndex] ?? EXAMPLES[0];
  warn("");
  history.replaceState(null, "", location.pathname + location.search);
  output.value = chosen.output;
  open(chosen.text, chosen.name);
  if (chosen === EXAMPLES[0] && !document.body.dataset["state"]) {
    draw(FIRST_ANSWER);
    checked = file();
    say(`${FIRST_ANSWER.summary.split("\n")[0] ?? ""} Python is starting ...`);
  }
}

async function openLink(): Promise<boolean> {
  try {
    const shared = await readFragment(location.hash, NAMES);
    if (shared) {
      warn("");
      example.selectedIndex = -1;
      output.value = "";
      open(shared.text, shared.name);
    }
    return shared !== null;
  } catch (fault) {
    if (!(fault instanceof LinkError)) {
      throw fault;
    }
    warn(fault.message);
    return false;
  }
}

async function share(): Promise<void> {
  try {
    history.replaceState(null, "", `#${await writeFragment(file())}`);
    await navigator.clipboard.writeText(location.href);
    warn("The link is copied. It contains the whole text.");
  } catch (fault) {
    warn(fault instanceof LinkError ? fault.message : "Copy the link from the address bar. It contains the whole text.");
  }
}

example.append(...EXAMPLES.map(({ title }) => make("option", {}, title)));
name.append(...NAMES.map((each) => make("option", { value: each }, each)));
example.addEventListener("change", openExample);
name.addEventListener("change", () => {
  editor.setFile(name.value);
  changed();
});
fixAll.addEventListener("click", () => void proposeAll());
find("share", HTMLButtonElement).addEventListener("click", () => void share());
output.addEventListener("input", () => void score());
rubric.addEventListener("change", () => void score());
window.addEventListener("hashchange", () => void openLink());
void openLink().then((isOpen) => {
  if (!isOpen) {
    const kept = notice.textContent;
    openExample();
    warn(kept);
  }
});
