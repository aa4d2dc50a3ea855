/** Draws what rubric-lint answered. */
import { button, make, prose } from "./dom";
import type { CriterionResult, Finding, Fix, Fixed, Linted, Scored, Unread } from "./messages";

interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Actions {
  goTo: (place: Place) => void;
  /** Asks for the text after a fix of one finding, counted as in the report; `choice` is empty for the plain one. */
  preview: (finding: number, choice: string) => Promise<Proposal>;
  /** Puts a rubric file in place of the text. */
  use: (text: string) => void;
}

/** A fix that can be applied. */
export interface Proposal {
  readonly fixed: Fixed;
  readonly apply: () => void;
}

/** A link to the page of a rule. */
export function ruleLink(finding: Finding): HTMLAnchorElement {
  return make("a", { href: `../rules/${finding.rule}/`, target: "_blank", rel: "noopener" }, finding.rule);
}

export function drawFindings(linted: Linted, actions: Actions): Node[] {
  const { findings, unread = [] } = linted.report;
  const items = findings.map((finding, index) => drawFinding(finding, index, actions));
  const skipped = unread.map((each) => drawUnread(each, actions.goTo));
  const list = items.length + skipped.length ? [make("ol", { class: "findings" }, ...items, ...skipped)] : [];
  return [...(linted.imported === null ? [] : drawImported(linted.imported, actions.use)), ...list];
}

/** What to do with a text that holds no rubric in YAML: take what its words say, or start from something that works. */
function drawImported(imported: string, use: Actions["use"]): Node[] {
  const guide = make("a", { href: "../guides/writing/", target: "_blank", rel: "noopener" }, "Write a good rubric");
  if (!imported) {
    return [make("p", {}, "There is no rubric in this text, and its words do not name criteria with scores. Choose an example above, or read ", guide, ".")];
  }
  const take = button("Use this rubric", () => { use(imported); }, { class: "apply" });
  return [
    make("p", {}, "There is no rubric in YAML in this text. Its words read as this one; judge what it says before you use it, and see ", guide, "."),
    make("pre", { class: "diff", tabindex: "0", "aria-label": "Rubric" }, imported),
    take,
  ];
}

/** What is nearly a rubric, and why it was not checked. */
export function drawUnread({ reason, line, column }: Unread, goTo: Actions["goTo"]): HTMLLIElement {
  const head = make("div", { class: "head" }, make("span", { class: "severity" }, "not checked"), placeButton({ line, column }, goTo));
  return make("li", { class: "finding skipped" }, head, make("p", {}, ...prose(reason)));
}

/** A button that puts the cursor at a place. */
export function placeButton(place: Place, goTo: Actions["goTo"]): HTMLButtonElement {
  const [line, column] = [place.line.toString(), place.column.toString()];
  const label = `Go to line ${line}, column ${column}`;
  return button(`${line}:${column}`, () => { goTo(place); }, { class: "place", "aria-label": label });
}

function drawFinding(finding: Finding, index: number, actions: Actions): HTMLLIElement {
  const place = placeButton(finding.start, actions.goTo);
  const item = make(
    "li",
    { class: `finding ${finding.severity}` },
    make("div", { class: "head" }, make("span", { class: "severity" }, finding.severity), ruleLink(finding), place),
    make("p", {}, ...prose(finding.message)),
  );
  if (finding.fix) {
    item.append(drawFix("Fix: ", finding.fix, () => actions.preview(index, "")));
  }
  for (const each of finding.choices ?? []) {
    item.append(drawFix("Choose: ", each, () => actions.preview(index, each.name)));
  }
  return item;
}

function drawFix(label: string, fix: Fix, preview: () => Promise<Proposal>): HTMLElement {
  const box = make("details", { class: "fix" });
  const body = make("div");
  box.append(make("summary", {}, label, ...prose(fix.title), ...(fix.safe ? [] : [make("em", { title: "It may change what the rubric means." }, "unsafe")])), body);
  box.addEventListener("toggle", () => {
    if (box.open) {
      body.replaceChildren("Preparing the fix ...");
      preview().then(
        (proposal) => {
          body.replaceChildren(...drawProposal(proposal, "Apply this fix"));
        },
        (fault: unknown) => {
          body.replaceChildren(fault instanceof Error ? fault.message : String(fault));
        },
      );
    }
  });
  return box;
}

/** A diff with a button that applies it, or why there is nothing to apply. */
export function drawProposal({ fixed, apply }: Proposal, label: string): Node[] {
  const troubles = fixed.troubles.map((trouble) => make("p", { class: "trouble" }, ...prose(trouble)));
  if (fixed.text === null) {
    return [make("p", {}, "Nothing was changed."), ...troubles];
  }
  return [drawDiff(fixed.diff), ...troubles, button(label, apply, { class: "apply" })];
}

function drawDiff(diff: string): HTMLPreElement {
  const kinds: Readonly<Record<string, string>> = { "+": "added", "-": "removed", "@": "hunk" };
  const lines = diff.trimEnd().split("\n").filter((line) => !/^(?:---|\+\+\+) /.test(line));
  const spans = lines.map((line) => make("span", { class: kinds[line.slice(0, 1)] ?? "same" }, `${line}\n`));
  return make("pre", { class: "diff", tabindex: "0", "aria-label": "Diff" }, ...spans);
}

export function drawScore(scored: Scored): Node[] {
  const faults = scored.faults.map((fault) => make("p", { class: "trouble" }, ...prose(fault)));
  if (!scored.rubric) {
    return [make("p", {}, "This text cannot be scored yet:"), ...faults];
  }
  if (faults.length) {
    return [make("p", { class: "verdict invalid" }, "invalid"), ...faults];
  }
  const { result } = scored;
  if (!result) {
    return [make("p", {}, "Paste what a judge returned: JSON, or the whole reply that contains it.")];
  }
  const missed = result.criteria.filter((criterion) => !criterion.gate_met);
  const gates = missed.length
    ? [make("p", { class: "trouble" }, `Missed ${missed.length === 1 ? "gate" : "gates"}: `, ...missed.flatMap(({ id, raw, gate }, index) => [
        ...(index ? [", "] : []), make("code", {}, id), ` (got ${word(raw)}, needs ${gate?.toString() ?? "yes"})`]))]
    : [];
  const head = ["criterion", "answer", "score", "weight", "outcome"].map((title) => make("th", { scope: "col" }, title));
  return [
    make("p", {}, make("span", { class: `verdict ${result.verdict}` }, result.verdict), ` score ${result.score.toFixed(3)}`),
    ...gates,
    make(
      "div",
      { class: "wide", tabindex: "0", role: "group", "aria-label": "Scores of the criteria" },
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...result.criteria.map(drawCriterion))),
    ),
  ];
}

function drawCriterion({ id, raw, score, weight, gate_met, outcome }: CriterionResult): HTMLTableRowElement {
  return make(
    "tr",
    gate_met ? {} : { class: "missed" },
    make("th", { scope: "row" }, id),
    make("td", {}, word(raw)),
    make("td", {}, score.toFixed(3)),
    make("td", {}, weight.toString()),
    make("td", {}, outcome ?? ""),
  );
}

function word(answer: boolean | number): string {
  return typeof answer === "boolean" ? (answer ? "yes" : "no") : answer.toString();
}
