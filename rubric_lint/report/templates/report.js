"use strict";
// Shows the answers of a report: filter, sort, search, one answer in full, labels of the reader, files to save. It reads
// the JSON that page_answers.py writes, asks for nothing from anywhere, and puts what others wrote into the page as text.
(() => {
  const VALID = ["fail", "borderline", "pass"]; // verdicts, the worst first
  const VERDICTS = [...VALID, "invalid", "unscored", "absent"]; // "unscored": nothing applies; the last one is of an answer that only the other run has
  const GROUP = 100; // rows that are added to the list together
  const LONGEST = 100_000; // characters of a text that are shown at once
  const MOST_VALUES = 12; // values in a row of the list
  const MOST_PRINTED = 1000; // rows

  /** Shows characters that nobody would see, as Python's `messages.visible` does; keeps line ends. */
  const visible = (text) =>
    text.replace(/\r\n/g, "\n").replace(/\t/g, "    ").replace(/[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
      if (char === "\n" || char === "\u200c" || char === "\u200d") return char;
      if (char === "\r") return "\\r";
      const code = char.codePointAt(0), digits = code.toString(16);
      if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
      return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
    });
  const count = (number) => number.toLocaleString("en-US");
  const answersOf = (number) => (number === 1 ? "1 answer" : `${count(number)} answers`);

  // What is in the page

  const EMPTY = { q: "", verdict: "", grade: "", rubric: "", criterion: "", value: "", flip: "", was: "", label: "", sort: "", desc: "" };

  /** The view that an address asks for. */
  function readView(query) {
    const given = new URLSearchParams(query);
    return Object.fromEntries(Object.keys(EMPTY).map((name) => [name, given.get(name) ?? ""]));
  }

  /** Tells views apart by the answers that they have, in whatever order. */
  const filterOf = (view) => JSON.stringify({ ...EMPTY, ...view, sort: "", desc: "" });

  const isValid = (verdict) => VALID.includes(verdict);
  const change = (row) => (isValid(row.verdict) && isValid(row.was?.verdict) ? VALID.indexOf(row.verdict) - VALID.indexOf(row.was.verdict) : 0);
  const isOnly = (row, one, other) => isValid(one) && isValid(other) && one === "pass" && other !== "pass";
  const FLIPS = {
    any: ["changed", (row) => change(row) !== 0],
    worse: ["worse now", (row) => change(row) < 0],
    better: ["better now", (row) => change(row) > 0],
    "only-before": ["passes only before", (row) => isOnly(row, row.was?.verdict, row.verdict)],
    "only-now": ["passes only now", (row) => isOnly(row, row.verdict, row.was?.verdict)],
    here: ["only in this run", (row) => row.was === undefined && row.verdict !== "absent"],
    there: ["only in the other run", (row) => row.verdict === "absent"],
  };

  const numberOf = (shown) => (shown === "yes" ? 1 : shown === "no" ? 0 : Number(shown));

  /** Questions about the answers of a page, each a row of the list. */
  class Answers {
    constructor(data) {
      this.data = data;
      this.rows = data.answers;
      this.rows.forEach((row, place) => Object.assign(row, { place }));
      this.listed = this.rows.filter((row) => row.verdict !== "absent").length;
      this.isWhole = this.listed === data.rows;
    }
    name(row) {
      return (row.id ?? "").trim() ? row.id : `${row.file ? `${row.file}, ` : ""}line ${row.line}`;
    }
    rubric(row) {
      return this.data.rubrics[row.rubric];
    }
    /** What the judge gave for a criterion: [the answer, whether it meets the gate, its outcome], or nothing. */
    grade(row, place) {
      return row.grades && this.rubric(row).criteria[place]?.grades[row.grades[place]];
    }
    /** The value of each criterion: [name, value, whether it meets the gate, the value before if it differs, place]. */
    values(row) {
      return (row.grades ?? []).map((_, place) => {
        const [value, met] = this.grade(row, place), was = row.was?.values?.[place]?.[0];
        return [this.rubric(row).criteria[place].label, value, met, was === value ? undefined : was, place];
      });
    }
    /** Whether the texts of a record have a string, in lower case. */
    holds(row, wanted) {
      row.words ??= listTexts(parse(row.record ?? "null") ?? row.record).join("\n").toLowerCase();
      return row.words.includes(wanted) || this.name(row).toLowerCase().includes(wanted);
    }

    /** The rows that a view asks for, in its order. */
    choose(view, labels) {
      const tests = [...this.tests(view, labels)];
      return this.sort(this.rows.filter((row) => tests.every((test) => test(row))), view);
    }
    *tests(view, labels) {
      if (VERDICTS.includes(view.verdict)) yield (row) => row.verdict === view.verdict;
      else if (view.verdict === "no-score") yield (row) => row.verdict === "invalid" || row.verdict === "unscored";
      else if (!view.flip && !view.was) yield (row) => row.verdict !== "absent";
      if (view.grade) yield (row) => row.grade === view.grade;
      if (view.rubric !== "") yield (row) => row.rubric === Number(view.rubric);
      if (VERDICTS.includes(view.was)) yield (row) => row.was?.verdict === view.was;
      if (Object.hasOwn(FLIPS, view.flip)) yield FLIPS[view.flip][1];
      if (view.criterion) yield* this.criterionTests(view);
      if (view.label) yield (row) => labels.keyOf(row) !== undefined && (labels.standing(row) || "none") === view.label;
      const wanted = view.q.toLowerCase();
      if (wanted) yield (row) => this.holds(row, wanted);
    }
    *criterionTests({ criterion, value }) {
      const [rubric, place] = criterion.split(".").map(Number);
      if (!this.data.rubrics[rubric]?.criteria[place]) return;
      yield (row) => row.grades !== undefined && row.rubric === rubric;
      if (value === "missed") yield (row) => !this.grade(row, place)[1];
      else if (value === "lower" || value === "higher") {
        const sign = value === "lower" ? -1 : 1;
        yield (row) => {
          const was = row.was?.values?.[place];
          return Boolean(was) && sign * (numberOf(this.grade(row, place)[0]) - numberOf(was[0])) > 0;
        };
      } else if (value) yield (row) => this.grade(row, place)[0] === value;
    }
    sort(rows, { sort, desc, criterion }) {
      if (!sort) return desc ? rows.reverse() : rows;
      const sign = desc ? -1 : 1, place = Number(criterion.split(".")[1]);
      const keys = {
        id: (row) => this.name(row),
        score: (row) => row.score,
        change: (row) => row.score - row.was?.score,
        verdict: (row) => (isValid(row.verdict) ? VALID.indexOf(row.verdict) : undefined),
        value: (row) => numberOf((criterion && this.grade(row, place)?.[0]) || NaN),
        random: (row) => (this.isWhole || row.sampled ? shuffled(row.place) : undefined),
      };
      const key = Object.hasOwn(keys, sort) ? keys[sort] : keys.score;
      const isMissing = (value) => value === undefined || Number.isNaN(value);
      const given = new Map(rows.map((row) => [row, key(row)]));
      return rows.sort((a, b) => {
        const one = given.get(a), other = given.get(b);
        if (isMissing(one) || isMissing(other)) return isMissing(one) - isMissing(other) || a.place - b.place;
        return (one < other ? -sign : one > other ? sign : 0) || a.place - b.place;
      });
    }
  }

  /** A number for a row that orders rows at random, always alike. */
  function shuffled(place) {
    let mixed = Math.imul(place + 1, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  /** All strings in a value. */
  function listTexts(value) {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(listTexts) : [];
  }

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  // What the reader says of the answers

  /** The labels that the reader gives, each by its rubric and id, as several records may have one id. */
  class Labels {
    constructor(answers, key) {
      Object.assign(this, { answers, key, given: new Map(), rater: "", isKept: true });
      try {
        const { rater, labels } = JSON.parse(localStorage.getItem(key)) ?? { rater: "", labels: [] };
        Object.assign(this, { rater, given: new Map(labels) });
      } catch {
        this.isKept = false; // the browser allows no storage, or another program wrote there
      }
    }
    keep() {
      try {
        localStorage.setItem(this.key, JSON.stringify({ rater: this.rater, labels: [...this.given] }));
        this.isKept = true;
      } catch {
        this.isKept = false;
      }
      onbeforeunload = this.isKept || !this.given.size ? null : (event) => event.preventDefault(); // they would be lost
    }
    /** The key of a row that can have a label: only a valid result with an id has something to agree with. */
    keyOf(row) {
      if (!isValid(row.verdict) || row.id === null) return undefined;
      return `${row.rubric} ${row.json ? "json" : "text"} ${row.id}`;
    }
    of(row) {
      return this.given.get(this.keyOf(row)) ?? { values: {} };
    }
    /** Takes a verdict, or a value by the place of its criterion; undefined takes it back. */
    set(row, { verdict, values = {}, chosen }) {
      const label = this.of(row);
      const next = { place: row.place, verdict, values: { ...label.values, ...values }, chosen };
      for (const [place, value] of Object.entries(next.values)) if (value === undefined) delete next.values[place];
      if (next.verdict === undefined && !Object.keys(next.values).length) this.given.delete(this.keyOf(row));
      else this.given.set(this.keyOf(row), next);
      this.keep();
    }
    /** Whether the reader agrees with all that was labelled of an answer; empty without a label. */
    standing(row) {
      const { verdict, values } = this.of(row), places = Object.keys(values);
      if (verdict === undefined && !places.length) return "";
      const isSame = places.every((place) => this.answers.grade(row, Number(place))?.[0] === values[place]);
      return isSame && (verdict ?? row.verdict) === row.verdict ? "agree" : "disagree";
    }
    /** The labels as JSON Lines, a field for each criterion; `rubric-score agree --labels` reads them. */
    lines() {
      const { data, rows } = this.answers;
      return [...this.given.values()].sort((a, b) => a.place - b.place).map(({ place, verdict, values, chosen }) => {
        const row = rows[place], rubric = this.answers.rubric(row);
        const given = Object.entries(values).map(([number, value]) => [
          rubric.criteria[number].column, ["yes", "no", "n/a"].includes(value) ? value : Number(value),
        ]);
        const fields = {
          ...(data.rubrics.length > 1 && { rubric: rubric.name }), rater: this.rater.trim(), ...(chosen && { chosen }),
          rubric_hash: rubric.hash, ...Object.fromEntries(given), ...(verdict && { verdict }),
        };
        return `{"id":${row.json ? row.id : JSON.stringify(row.id)},${JSON.stringify(fields).slice(1)}\n`;
      });
    }
  }

  /**
   * How an answer of a view was chosen, as its label says it: the first ones in random order are a random sample. If the
   * page does not have all answers, those outside its sample are in it because of their verdict.
   */
  function chosenBy({ q, verdict, was, flip, value, sort }, row, isWhole) {
    if (verdict || was || flip || value || !["", "id", "random"].includes(sort)) return "by-verdict";
    if (sort === "random" && !q && (isWhole || row.sampled)) return "random";
    return isWhole ? undefined : "by-verdict";
  }

  // The records

  /** The texts of a record: what was judged, the reasons for each criterion, and what else the judge wrote, also raw. */
  function readRecord(line) {
    const record = parse(line);
    if (typeof record !== "object" || record === null) return { texts: [["Record", line]], reasons: new Map(), raw: [] };
    const texts = [], reasons = new Map(), raw = [];
    for (const name of ["question", "answer", "reference"])
      if (typeof record[name] === "string") texts.push([name[0].toUpperCase() + name.slice(1), record[name]]);
    const given = record.outputs ?? [record.output ?? record];
    const outputs = Array.isArray(given) ? given : [given];
    for (const [number, output] of outputs.entries()) {
      const sample = outputs.length > 1 ? `Sample ${number + 1}` : "";
      const parsed = typeof output === "string" ? parse(output) : output;
      if (output !== record) raw.push([sample || "Output", typeof output === "string" ? output : JSON.stringify(output, null, 2)]);
      if (typeof parsed !== "object" || parsed === null) {
        texts.push([[sample, "Output of the judge"].filter(Boolean).join(": "), String(output)]);
        continue;
      }
      for (const check of Array.isArray(parsed.checks) ? parsed.checks : [])
        if (typeof check?.reasoning === "string") {
          const value = sample && (check.applicable === false ? "n/a" : [check.score, check.level, check.satisfied].find((answer) => answer !== undefined));
          const reason = sample ? `${sample} (${value}): ${check.reasoning}` : check.reasoning;
          reasons.set(check.id, [...(reasons.get(check.id) ?? []), reason]);
        }
      for (const name of ["overall_reasoning", "reasoning"])
        if (typeof parsed[name] === "string") texts.push([[sample, "Overall"].filter(Boolean).join(": "), parsed[name]]);
    }
    raw.push(["Record, as it was read", line]);
    return { texts, reasons, raw };
  }

  /** Whether a spreadsheet could take a text for a formula. */
  const isFormula = (text) => /^'*[\s\u200e\u200f\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/u.test(text);

  /** A text as a cell that no spreadsheet takes for a formula; ids stay as they are, because rows are joined by them. */
  function cell(value, isId = false) {
    let text = value === undefined || value === null ? "" : String(value);
    if (typeof value === "string" && !isId && isFormula(value)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  /** Rows as CSV, with the columns of the tables that `rubric-score -o` writes, and the question and the answer. */
  function writeCsv(rows, answers) {
    const { data } = answers;
    const ids = [...new Set(data.rubrics.flatMap((rubric) => rubric.criteria.map((criterion) => criterion.id)))];
    const before = data.other === undefined ? [] : ["verdict_before", "score_before"];
    const worded = data.rubrics.some((rubric) => rubric.units) ? ["rubric_score"] : [];
    if (data.rubrics.some((rubric) => rubric.grades.length)) worded.push("rubric_grade");
    const head = ["id", "rubric", "rubric_hash", "score", "verdict", ...worded, "gates_missed", ...ids.map((id) => `criteria.${id}`)];
    const lines = [[...head, "error", "error_path", "file", "line", ...before, "question", "answer"].map((title) => cell(title, true)).join(",")];
    for (const row of rows) {
      const { error, was } = row, isScored = isValid(row.verdict), rubric = answers.rubric(row), record = parse(row.record ?? "null");
      const values = new Map(answers.values(row).map(([, value, , , at]) => [rubric.criteria[at].id, value]));
      const missed = answers.values(row).filter(([, , met]) => !met).map(([, , , , at]) => rubric.criteria[at].id);
      missed.push(...(row.groups ?? []).filter(([, , met]) => !met).map(([name]) => name));
      const words = { rubric_score: row.units ?? "", rubric_grade: row.grade === rubric?.grades.at(-1) ? "" : cell(row.grade) };
      lines.push([
        cell(row.id, true), cell(rubric?.name, true), isScored ? rubric.hash : "", isScored ? row.score : "",
        isScored ? row.verdict : "", ...worded.map((name) => words[name]), cell(missed.some((id) => id.includes(" ")) ? JSON.stringify(missed) : missed.join(" ")),
        ...ids.map((id) => { const value = values.get(id); return value === "yes" ? "true" : value === "no" ? "false" : value ?? ""; }),
        cell(error?.[1]), cell(error?.[0]), cell(error && row.file), error ? row.line : "",
        ...(before.length ? [was?.verdict ?? "", was?.score ?? ""] : []), cell(record?.question), cell(record?.answer),
      ].join(","));
    }
    return [`${lines.join("\n")}\n`];
  }

  // The page

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && name !== "list") element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== undefined && child !== null));
    return element;
  }
  const verdictMark = (verdict) => make("span", { className: `verdict ${verdict}` }, verdict);

  class Tool {
    constructor(place, answers, labels, totals) {
      Object.assign(this, { place, answers, labels, totals, view: { ...EMPTY } });
      this.data = answers.data;
      this.isCompared = this.data.other !== undefined;
      this.status = make("b", { role: "status" });
      this.box = make("section", { className: "card rows", tabIndex: 0, role: "region", "aria-label": "Answers" });
      this.controls = this.makeControls();
      const keys = make("p", { className: "soft keys" }, "Keys: ↓ and ↑ go through the answers, Enter opens one, a agrees with it, d disagrees.");
      place.replaceChildren(this.controls, this.makeFiles(), this.box, keys);
      this.box.addEventListener("keydown", (event) => this.press(event));
      this.box.addEventListener("scroll", () => {
        if (this.box.scrollHeight - this.box.scrollTop < 3 * this.box.clientHeight) this.addRows();
      });
      addEventListener("beforeprint", () => this.print());
      addEventListener("afterprint", () => this.tell());
      this.read();
    }

    /** The files that can be saved: the answers that are listed, and the reader's labels. */
    makeFiles() {
      const { labels } = this;
      const button = (text, onclick) => make("button", { type: "button", onclick }, text);
      this.rows = [button("CSV", () => this.saveRows("csv")), button("JSON Lines", () => this.saveRows("jsonl"))];
      this.rater = make("input", { value: labels.rater, placeholder: "Your name", autocomplete: "off", spellcheck: false, "aria-label": "Your name, the rater of the labels" });
      this.rater.addEventListener("input", () => {
        labels.rater = this.rater.value;
        labels.keep();
      });
      this.counted = make("span", { role: "status" });
      this.forget = button("Discard", () => {
        if (!confirm(`Discard ${labels.given.size} labels?`)) return;
        labels.given.clear();
        labels.keep();
        this.draw();
      });
      this.write = button("Save labels", () => this.saveLabels());
      this.saved = make("span", { className: "soft", role: "status" });
      return make("div", { className: "files" },
        make("span", {}, this.status, make("span", { className: "soft" }, "Save as"), ...this.rows),
        make("span", {}, make("span", { className: "soft" }, "Your labels"), this.counted, this.rater, this.write, this.forget), this.saved);
    }

    saveRows(form) {
      const { chosen, answers } = this, name = `answers.${form}`;
      const page = answers.isWhole ? "" : ` The page has ${count(answers.listed)} of ${count(this.data.rows)} answers.`;
      if (form === "csv") {
        save(name, writeCsv(chosen, answers), "text/csv");
        const formulas = chosen.filter((row) => isFormula(row.id ?? "")).length;
        const warning = formulas ? ` Import the column id as text: ${count(formulas)} could be taken for formulas.` : "";
        this.saved.textContent = `${answersOf(chosen.length)} saved as ${name}.${warning}${page}`;
        return;
      }
      const lines = chosen.filter(({ record }) => record !== undefined).map(({ record }) => `${record}\n`);
      save(name, lines, "application/jsonl");
      const left = chosen.length - lines.length;
      this.saved.textContent = `${count(lines.length)} records saved as ${name}, as they were read${left ? `; ${count(left)} are not in the page, and left out` : ""}.${page}`;
    }

    saveLabels() {
      if (this.rater.value.trim() === "") {
        this.saved.textContent = "Enter your name first: each label says who gave it.";
        this.rater.focus();
        return;
      }
      save("labels.jsonl", this.labels.lines(), "application/jsonl");
      this.saved.textContent = `${count(this.labels.given.size)} labels saved as labels.jsonl. Compare them: rubric-score agree RUBRIC RESULTS --labels labels.jsonl`;
    }

    /** Shows how many labels there are, and what each row and each open answer says of its own. */
    showLabels() {
      const { size } = this.labels.given;
      this.counted.textContent = `${count(size)}${this.labels.isKept ? "" : ", which this browser does not keep: save them"}`;
      this.write.disabled = this.forget.disabled = !size;
      for (const box of this.box.querySelectorAll(".labels")) box.paint();
    }

    label(row, change) {
      const { verdict } = this.labels.of(row);
      this.labels.set(row, { verdict, chosen: chosenBy(this.view, row, this.answers.isWhole), ...change });
      this.showLabels();
    }

    agree(row) {
      const values = Object.fromEntries(this.answers.values(row).map(([, value, , , place]) => [place, value]));
      const chosen = chosenBy(this.view, row, this.answers.isWhole);
      // Who agrees with everything has seen the verdict first: such a label does not say that it stands for all answers.
      this.label(row, { verdict: row.verdict, values, chosen: chosen === "random" ? undefined : chosen });
    }

    makeControls() {
      const form = make("form", { className: "controls", role: "search", onsubmit: () => false });
      const field = (name, label, element) => {
        element.name = name;
        element.addEventListener(name === "q" ? "input" : "change", () => this.take(name, element.value));
        form.append(make("label", {}, make("span", {}, label), element));
        return element;
      };
      const options = (pairs) => pairs.map(([value, text]) => make("option", { value }, text));
      const choice = (pairs) => make("select", {}, ...options(pairs));
      field("q", "Search ids and texts", make("input", { type: "search", autocomplete: "off", spellcheck: false }));
      const verdicts = VERDICTS.slice(0, 4).reverse().map((verdict) => [verdict, verdict]), unscored = [["unscored", "no score"]];
      const hasUnscored = this.answers.rows.some((row) => row.verdict === "unscored");
      field("verdict", "Verdict", choice([["", "all"], ...verdicts, ...(hasUnscored ? unscored : [])]));
      const grades = [...new Set(this.data.rubrics.flatMap((rubric) => rubric.grades))];
      if (grades.length) field("grade", "Grade", choice([["", "all"], ...grades.map((grade) => [grade, visible(grade)])]));
      if (this.isCompared) {
        field("was", "Verdict before", choice([["", "all"], ...verdicts]));
        const flips = Object.entries(FLIPS).map(([value, [text]]) => [value, text]);
        field("flip", "Compared with before", choice([["", "all"], ...flips]));
      }
      const { rubrics } = this.data;
      if (rubrics.length > 1)
        field("rubric", "Rubric", choice([["", "all"], ...rubrics.map((rubric, place) => [String(place), visible(rubric.name)])]));
      this.criteria = field("criterion", "Criterion", make("select"));
      this.values = field("value", "Value", make("select"));
      this.order = field("order", "Sort", make("select"));
      const standings = [["", "all"], ["none", "not labelled"], ["agree", "you agree"], ["disagree", "you disagree"]];
      field("label", "Your labels", choice(standings));
      this.clear = make("button", { type: "button", onclick: () => this.set({ ...EMPTY }) }, "Clear all");
      form.append(this.clear);
      return form;
    }

    /** Fills the choices that depend on the others. */
    fill() {
      const { view, data } = this;
      const put = (select, pairs, value) => {
        const options = JSON.stringify(pairs);
        if (select.writtenOptions !== options) select.replaceChildren(...pairs.map(([option, text]) => make("option", { value: option }, text)));
        select.writtenOptions = options;
        select.value = value;
      };
      const criteria = [["", "any"]];
      data.rubrics.forEach((rubric, number) => {
        if (view.rubric !== "" ? Number(view.rubric) === number : data.rubrics.length <= 200)
          rubric.criteria.forEach((criterion, place) => {
            const before = data.rubrics.length > 1 ? `${rubric.name}: ` : "";
            criteria.push([`${number}.${place}`, shorten(visible(before + criterion.label))]);
          });
      });
      if (view.criterion && !criteria.some(([value]) => value === view.criterion)) {
        const criterion = this.criterion();
        if (criterion) criteria.push([view.criterion, shorten(visible(criterion.label))]);
      }
      put(this.criteria, criteria, view.criterion);
      const values = [["", "any"]], criterion = this.criterion();
      if (criterion) {
        if (criterion.grades.some(([, met]) => !met)) values.push(["missed", "misses its gate"]);
        if (this.isCompared) values.push(["lower", "lower now"], ["higher", "higher now"]);
        values.push(...criterion.grades.map(([shown, met]) => [shown, met ? shown : `${shown} (misses the gate)`]));
      }
      put(this.values, values, view.value);
      this.values.disabled = !criterion;
      const orders = [
        ["", "as in the file"], ["score", "score, lowest first"], ["score-", "score, highest first"],
        ["verdict", "verdict, worst first"], ["verdict-", "verdict, best first"], ["id", "id"], ["id-", "id, backwards"],
        ["random", "at random, to label a sample"],
      ];
      if (criterion) orders.push(["value", "value, lowest first"], ["value-", "value, highest first"]);
      if (this.isCompared) orders.push(["change", "change of score, worst first"], ["change-", "change of score, best first"]);
      put(this.order, orders, view.sort + (view.desc ? "-" : ""));
      for (const name of ["q", "verdict", "grade", "was", "flip", "rubric", "label"])
        if (this.controls.elements[name] && this.controls.elements[name].value !== view[name])
          this.controls.elements[name].value = view[name];
      this.clear.disabled = Object.entries(EMPTY).every(([name, value]) => view[name] === value);
    }

    criterion() {
      const [rubric, place] = this.view.criterion.split(".").map(Number);
      return this.view.criterion ? this.data.rubrics[rubric]?.criteria[place] : undefined;
    }

    take(name, value) {
      const changed = { [name]: value };
      if (name === "order") {
        delete changed.order;
        Object.assign(changed, { sort: value.replace("-", ""), desc: value.endsWith("-") ? "1" : "" });
      }
      if (name === "rubric") Object.assign(changed, { criterion: "", value: "" });
      if (name === "criterion") changed.value = "";
      if (changed.criterion === "" && this.view.sort === "value") Object.assign(changed, { sort: "", desc: "" });
      this.set({ ...this.view, ...changed });
    }

    /** Reads the view from the address, which can be linked. */
    read() {
      const [, query] = location.hash.match(/^#answers\?(.*)$/) ?? [];
      this.set(readView(query ?? ""), query === undefined);
      return query !== undefined;
    }

    set(view, isSilent = false) {
      this.view = view;
      const given = new URLSearchParams(Object.entries(view).filter(([, value]) => value));
      if (!isSilent) history.replaceState(null, "", `#answers${given.size || String(given) ? `?${given}` : ""}`);
      this.fill();
      this.draw();
    }

    draw() {
      this.chosen = this.answers.choose(this.view, this.labels);
      this.tell();
      const criterion = this.criterion();
      const heads = [
        ["Answer", "id"], ...(this.isCompared ? [["Before", "change"]] : []), ["Verdict", "verdict"], ["Score", "score"],
        ["Values", ""],
      ];
      if (criterion) heads[heads.length - 1] = [`Values, ${shorten(visible(criterion.label), 40)} first`, "value"];
      this.heads = heads.map(([text]) => text);
      const table = make("table", { className: this.isCompared ? "every compared" : "every", "aria-rowcount": this.chosen.length + 1 });
      this.body = make("tbody");
      this.shown = 0;
      table.append(make("thead", {}, make("tr", { "aria-rowindex": 1 }, ...heads.map((head) => this.makeHead(...head)))), this.body);
      this.box.replaceChildren(table);
      this.box.scrollTop = 0;
      this.addRows();
      for (const button of this.rows) button.disabled = !this.chosen.length;
      this.showLabels();
    }

    /** Adds the next rows to the list. */
    addRows() {
      const rows = this.chosen.slice(this.shown, this.shown + GROUP);
      this.body.append(...rows.map((row, place) => this.makeRow(row, this.shown + place)));
      this.shown += rows.length;
    }

    makeHead(text, sort) {
      const { view } = this;
      if (!sort) return make("th", { scope: "col" }, text);
      const isSorted = view.sort === sort;
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => this.set({ ...view, sort, desc: isSorted && !view.desc ? "1" : "" }));
      const head = make("th", { scope: "col" }, button);
      if (isSorted) head.ariaSort = view.desc ? "descending" : "ascending";
      return head;
    }

    /** Says how many answers are listed, and of how many if the page does not have all that the view asks for. */
    tell(note = "") {
      this.status.textContent = `${this.describeCount()}${note}.`;
    }

    describeCount() {
      const { view, chosen, data, answers } = this, size = chosen.length, total = this.totals.get(filterOf(view));
      if (size < total) return `${count(size)} of ${answersOf(total)} are in this page`;
      if (total === undefined && !answers.isWhole) return `${answersOf(size)} of the ${count(answers.listed)} in this page, which does not have all ${count(data.rows)}`;
      const absent = data.onlyThere - chosen.filter((row) => row.verdict === "absent").length;
      const rest = view.q || size !== data.rows ? ` of ${count(data.rows)}` : "";
      return `${answersOf(size)}${rest}${absent ? `; ${count(absent)} more only in the other run` : ""}`;
    }

    /** Adds rows for paper, on which nothing scrolls, and says how many there are. */
    print() {
      while (this.shown < Math.min(this.chosen.length, MOST_PRINTED)) this.addRows();
      if (this.shown < this.chosen.length) this.tell(`; the first ${count(this.shown)} are printed`);
    }

    makeRow(row, place) {
      const { answers } = this, { verdict, error, was } = row;
      const open = make("button", { type: "button", className: "open", dir: "auto", ariaExpanded: "false" }, visible(answers.name(row)));
      const cell = (label, ...children) => make("td", { "data-label": label }, make("div", {}, ...children));
      const line = make("tr", { "aria-rowindex": place + 2 }, make("th", { scope: "row" }, open, this.makeGist(row)));
      if (this.isCompared) {
        const before = was ? [verdictMark(was.verdict), " ", make("span", { className: "number" }, was.shown ?? "")] : ["not in the other run"];
        line.append(cell("Before", ...before));
      }
      line.append(
        cell("Verdict", verdict === "absent" ? "only in the other run" : verdictMark(verdict), this.makeStanding(row)),
        cell("Score", make("span", { className: "number" }, row.shown ?? "", row.more ? make("small", {}, visible(row.more)) : undefined)),
        cell(error ? "Error" : "Values", ...(error ? [visible(error[1])] : this.makeValues(row))),
      );
      open.addEventListener("click", () => this.toggle(row, line, open));
      Object.assign(open, { row });
      return line;
    }

    /** The values of a row, that of the chosen criterion first; of many those that miss a gate or changed come first. */
    makeValues(row) {
      const values = this.answers.values(row), chosen = this.view.criterion ? Number(this.view.criterion.split(".")[1]) : -1;
      const rank = ([, , met, was, place]) => (place === chosen ? 0 : values.length <= MOST_VALUES ? 3 : !met ? 1 : was !== undefined ? 2 : 3);
      const sorted = values.map((value) => [rank(value), value]).sort(([a], [b]) => a - b).map(([, value]) => value);
      const marks = sorted.slice(0, MOST_VALUES).map(([name, value, met, was]) =>
        make("span", { className: met ? "value" : "value missed" }, make("bdi", {}, shorten(visible(name), 40)),
          make("b", {}, was === undefined ? ` ${value}` : ` ${was} → ${value}`), met ? "" : " misses gate"));
      const more = values.length - marks.length;
      if (more > 0) marks.push(make("span", { className: "value" }, `${more} more, open the answer`));
      for (const [name, value, met] of row.groups ?? [])
        if (!met) marks.unshift(make("span", { className: "value missed" }, make("bdi", {}, shorten(visible(name), 40)), make("b", {}, ` ${value}`), " misses gate"));
      return marks.flatMap((mark) => [mark, " "]);
    }

    makeStanding(row) {
      const mark = make("span", { className: "labels" });
      mark.paint = () => {
        const standing = this.labels.standing(row);
        mark.className = `labels ${standing}`;
        mark.textContent = { agree: "✓ agree", disagree: "✗ disagree", "": "" }[standing];
      };
      mark.paint();
      return mark;
    }

    /** The first words of the question and the answer. */
    makeGist(row) {
      const place = make("div", { className: "gist" }), record = parse(row.record ?? row.otherRecord ?? "null");
      for (const name of ["question", "answer"])
        if (typeof record?.[name] === "string" && record[name].trim())
          place.append(make("div", { className: name, dir: "auto" }, shorten(visible(record[name].slice(0, 400).replace(/\s+/g, " ").trim()), 90)));
      return place;
    }

    toggle(row, line, open) {
      if (open.ariaExpanded === "true") {
        open.ariaExpanded = "false";
        line.nextSibling.remove();
        return;
      }
      open.ariaExpanded = "true";
      const records = [row.record, row.otherRecord].map((text) => (text === undefined ? undefined : readRecord(text)));
      const cell = make("td", { colSpan: this.heads.length }, ...this.describe(row, ...records));
      line.after(make("tr", { className: "details" }, cell));
    }

    /** One answer in full, next to what the other run has of it. */
    *describe(row, record, other) {
      const { answers } = this, { verdict, error } = row, isScored = isValid(verdict);
      const where = [row.file, verdict === "absent" ? "" : `line ${row.line}`, isScored ? answers.rubric(row).name : ""];
      yield make("p", { className: "soft", dir: "auto" }, visible(where.filter(Boolean).join(", ")));
      if (error) yield make("p", { className: "missed", dir: "auto" }, visible(`${error[0] ? `${error[0]}: ` : ""}${error[1]}`));
      if (!record) yield make("p", { className: "soft" }, verdict === "absent" ? "This run has no such answer." : "The page does not have the texts of this answer.");
      const isOverall = (name) => name.endsWith("Overall");
      yield* this.describeTexts(record, other, (name) => !isOverall(name));
      if (isScored) {
        const hasBefore = row.was !== undefined;
        const heads = ["Criterion", ...(hasBefore ? [`Before: ${this.data.other}`, "Now"] : ["The judge"]), "Your label"];
        const { criteria, outline } = answers.rubric(row);
        const rows = outline.map((part) => typeof part === "string" ? this.describeGroup(row, part, hasBefore)
          : this.describeCriterion(row, criteria[part], part, record, other, hasBefore));
        const whole = this.labels.keyOf(row) === undefined
          ? make("p", { className: "soft" }, "A record without an id cannot be labelled, because labels are joined by it.")
          : this.makeChoice(row, "Whole answer", verdict, answers.rubric(row).verdicts, (label) => label.verdict, (given) => ({ verdict: given }), true);
        yield make("div", { className: "whole" }, whole);
        yield make("table", { className: hasBefore ? "reasons both" : "reasons" },
          make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, visible(head))))), make("tbody", {}, ...rows));
      }
      yield* this.describeTexts(record, other, isOverall);
      const raw = [other?.raw, record?.raw].map((pairs) => (pairs?.length ? pairs : undefined));
      if (raw[0] || raw[1])
        yield make("details", { className: "raw" }, make("summary", {}, "The judge's raw reply"),
          this.placeSideBySide(...raw.map((pairs) => pairs && make("dl", { className: "said" }, ...pairs.flatMap(([name, text]) => [make("dt", {}, name), quote(text, "dd")])))));
    }

    /** Some texts of a record; those that differ in the other run stand next to it. */
    *describeTexts(record, other, isWanted) {
      const now = new Map(record?.texts), before = new Map(other?.texts);
      for (const name of new Set([...now.keys(), ...before.keys()])) {
        if (!isWanted(name)) continue;
        const [one, two] = [before.get(name), now.get(name)].map((text) => (text === undefined ? undefined : quote(text, "div")));
        const isOfOne = record && other && !(one && two) && !["Question", "Answer", "Reference"].includes(name);
        const title = isOfOne ? `${name}, only ${one ? "before" : "now"}` : name;
        const isBoth = one && two && before.get(name) !== now.get(name);
        yield make("section", { className: "text" }, make("h4", {}, title), isBoth ? this.placeSideBySide(one, two) : two ?? one);
      }
    }

    /** Two versions side by side; only this run's without another run. */
    placeSideBySide(before, now) {
      if (!this.isCompared) return now;
      const side = (name, content) => make("div", {}, make("p", { className: "soft" }, visible(name)), content ?? make("p", { className: "soft" }, "none"));
      return make("div", { className: "side-by-side" }, side(`Before: ${this.data.other}`, before), side("Now", now));
    }

    describeGroup(row, id, hasBefore) {
      const find = (groups) => groups?.find(([name]) => name === id);
      const cells = (hasBefore ? [["Before", find(row.was?.groups)], ["Now", find(row.groups)]] : [["The judge", find(row.groups)]])
        .map(([label, found]) => make("td", { "data-label": label }, make("div", {}, make("b", {}, found?.[1] ?? ""),
          found?.[2] === false ? make("span", { className: "missed" }, " misses its gate") : "")));
      const head = make("th", { scope: "row" }, make("span", { dir: "auto" }, visible(id)), make("small", {}, "group"));
      return make("tr", { className: "group" }, head, ...cells, make("td"));
    }

    describeCriterion(row, criterion, number, record, other, hasBefore) {
      const [shown, met, outcome] = this.answers.grade(row, number);
      const isAsked = shown === "yes" || shown === "no"; // the outcome does not describe a "no"
      const was = row.was?.values?.[number];
      const head = make("th", { scope: "row" }, make("span", { dir: "auto" }, visible(criterion.label)));
      if (isAsked && outcome) head.append(make("small", { dir: "auto" }, visible(outcome)));
      const given = (label, [value, isMet], text, source) => {
        const reasons = (source?.reasons.get(criterion.id) ?? []).map((reason) => quote(reason, "div"));
        const mark = isMet ? "" : make("span", { className: "missed" }, criterion.failure ? " critical failure" : " misses its gate");
        const described = text && !isAsked ? make("div", { className: "soft", dir: "auto" }, visible(text)) : "";
        return make("td", { "data-label": label }, make("div", {}, make("b", {}, value), mark, ...reasons, described));
      };
      const cells = [];
      if (hasBefore) cells.push(was ? given("Before", was, "", other) : make("td", { "data-label": "Before" }, make("div", { className: "soft" }, "no value")));
      cells.push(given(hasBefore ? "Now" : "The judge", [shown, met], outcome, record));
      const values = [...new Set(criterion.grades.map(([value]) => value))];
      const label = this.labels.keyOf(row) === undefined ? ""
        : this.makeChoice(row, criterion.label, shown, values, ({ values }) => values[number], (value) => ({ values: { [number]: value } }));
      const line = make("tr", {}, head, ...cells, make("td", { "data-label": "Your label" }, make("div", {}, label)));
      if (was && was[0] !== shown) line.className = "differs";
      return line;
    }

    /** Buttons to agree with what the judge gave, or to say what it should be; pressed again, one takes it back. */
    makeChoice(row, name, judged, values, read, change, isWhole = false) {
      const place = make("span", { className: "labels choice", role: "group", "aria-label": `${visible(name)}: your label` });
      const current = () => read(this.labels.of(row));
      const pick = (value) => this.label(row, change(value === current() ? undefined : value));
      const button = (text, value, kind) => Object.assign(make("button", { type: "button", className: kind, onclick: () => pick(value) }, text), { given: value });
      const others = values.filter((value) => value !== judged);
      const buttons = [button(isWhole ? `Agree: ${judged}` : "Agree", judged, "agree")];
      if (others.length <= 2) buttons.push(...others.map((value) => button(`Disagree: ${value}`, value, "disagree")));
      const select = others.length > 2 && make("select", { className: "disagree", "aria-label": `${visible(name)}: disagree, and say the right value` },
        make("option", { value: "" }, "Disagree: …"), ...others.map((value) => make("option", { value }, `Disagree: ${value}`)));
      if (select) select.addEventListener("change", () => this.label(row, change(select.value || undefined)));
      place.paint = () => {
        for (const button of buttons) button.ariaPressed = String(button.given === current());
        if (select) select.value = others.includes(current()) ? current() : "";
        if (select) select.dataset.set = String(select.value !== "");
      };
      place.append(...(isWhole ? [make("span", { className: "soft" }, "Your verdict")] : []), ...buttons, ...(select ? [select] : []));
      if (isWhole) place.append(make("button", { type: "button", onclick: () => this.agree(row) }, "Agree with every value"));
      place.paint();
      return place;
    }

    /** Up and down go from answer to answer; a agrees with all that the judge gave, d opens the answer to disagree. */
    press(event) {
      if (!event.target.matches(".open") || event.ctrlKey || event.metaKey || event.altKey) return;
      const open = event.target, { row } = open;
      if (event.key === "a" && this.labels.keyOf(row) !== undefined) this.agree(row);
      if (event.key === "d" && this.labels.keyOf(row) !== undefined) {
        const line = open.closest("tr");
        if (open.ariaExpanded !== "true") this.toggle(row, line, open);
        line.nextSibling.querySelector(".disagree")?.focus();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      const all = Array.from(this.box.querySelectorAll(".open"));
      const next = all[all.indexOf(open) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }
  }

  function save(name, parts, type) {
    const href = URL.createObjectURL(new Blob(parts, { type }));
    make("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  function shorten(text, most = 80) {
    const chars = Array.from(text);
    return chars.length > most ? `${chars.slice(0, most - 1).join("")}…` : text;
  }

  function quote(text, tag) {
    const isLong = text.length > 600 || text.split("\n").length > 9;
    const element = make(tag, { dir: "auto", className: isLong ? "quote long" : "quote", ...(isLong ? { tabIndex: 0 } : {}) }, visible(text.slice(0, LONGEST)));
    if (text.length > LONGEST) {
      const more = make("button", { type: "button" }, `Show ${count(text.length - LONGEST)} more characters`);
      more.addEventListener("click", () => element.replaceChildren(visible(text)));
      element.append("… ", more);
    }
    return element;
  }

  /** A short digest of what the page lists, by which the browser keeps its labels. */
  function digest(text) {
    let found = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) found = Math.imul(found ^ text.charCodeAt(at), 0x01000193);
    return (found >>> 0).toString(16);
  }

  /** Makes links of the figures that say which answers they count; returns the figure of each view. */
  function link(answers) {
    const totals = new Map([[filterOf({}), answers.data.rows]]);
    for (const figure of document.querySelectorAll("[data-view]")) {
      const view = readView(figure.dataset.view), total = Number(figure.dataset.count), size = answers.choose(view).length;
      const address = make("a", { href: `#answers?${figure.dataset.view}`, className: figure.className });
      if (size < total) address.title = `${count(size)} of ${count(total)} are in this page`;
      address.append(...figure.childNodes);
      figure.replaceChildren(address);
      totals.set(filterOf(view), total);
    }
    return totals;
  }

  function start() {
    const place = document.getElementById("tool"), note = document.getElementById("needs-script");
    try {
      const data = JSON.parse(document.getElementById("data").textContent);
      if (!data.answers.length) return;
      const known = data.answers.map(({ record, otherRecord, ...row }) => row);
      const key = `rubric-lint labels ${digest(JSON.stringify([data.rubrics, known]))}`;
      const answers = new Answers(data);
      const tool = new Tool(place, answers, new Labels(answers, key), link(answers));
      note.remove();
      const go = () => {
        if (tool.read()) document.getElementById("answers").scrollIntoView();
      };
      addEventListener("hashchange", () => {
        if (location.hash.startsWith("#answers?")) go();
        else if (location.hash === "" || location.hash === "#answers") tool.read(); // such an address has no filter
      });
      if (location.hash.startsWith("#answers?")) document.getElementById("answers").scrollIntoView();
      place.dataset.ready = String(Math.round(performance.now()));
    } catch (fault) {
      note.textContent = `This browser cannot show all answers (${fault.message}); the first ones are listed. Use a newer one.`;
    }
  }

  if (typeof document !== "undefined") start();
  else module.exports = { visible, Answers, Labels, readRecord, readView, writeCsv, chosenBy };
})();
