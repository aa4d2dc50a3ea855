"use strict";
// Shows every answer of a report: filter, sort, search, one answer in full, labels of the reader, files to save. It reads
// the blocks that answer_rows.py writes, asks for nothing from anywhere, and puts what others wrote into the page as text.
(() => {
  const INVALID = 3, ABSENT = 4, NONE = 0xffffffff, OTHER_INVALID = 0xfffffffe;
  const VERDICTS = ["fail", "borderline", "pass", "invalid", "absent"];
  const GROUP = 40; // rows that are shown or put away together
  const TALLEST = 12e6; // pixels; browsers stop at 17 million
  const LONGEST = 100_000; // characters of a text that are shown at once
  const MOST_VALUES = 12; // values in a row of the list
  const MOST_PRINTED = 1000; // rows
  const KEPT_BLOCKS = 64; // blocks of records that stay unpacked, of 256 kB each

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

  async function unpack(element) {
    const text = atob(element.textContent);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  }

  /** The columns of one block, in the order in which answer_rows.py writes them. */
  function readBlock(buffer) {
    const [rows, kinds, answers, told] = new Uint32Array(buffer, 0, 4);
    let at = 16;
    const take = (Type, length) => {
      const column = new Type(buffer, at, length);
      at += column.byteLength;
      return column;
    };
    const block = {
      scores: take(Float64Array, kinds), kind: take(Uint32Array, rows), line: take(Int32Array, rows),
      other: take(Uint32Array, rows), otherRecord: take(Uint32Array, rows), rubric: take(Uint32Array, kinds), shown: take(Uint16Array, kinds),
      verdict: take(Uint16Array, kinds), answers: take(Uint16Array, answers),
    };
    return { ...block, ...JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, told))) };
  }

  function join(Type, parts) {
    const whole = new Type(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  /** All rows and all different results (kinds) of the page. */
  function joinBlocks(blocks, about) {
    const all = (name, Type) => join(Type, blocks.map((block) => block[name]));
    const data = {
      ...about, ids: blocks.flatMap((block) => block.ids), errors: new Map(), json: new Set(),
      kind: all("kind", Uint32Array), line: all("line", Int32Array), other: all("other", Uint32Array),
      otherRecord: all("otherRecord", Uint32Array), score: all("scores", Float64Array), rubric: all("rubric", Uint32Array), shown: all("shown", Uint16Array),
      verdict: all("verdict", Uint16Array), answers: all("answers", Uint16Array),
    };
    let first = 0;
    for (const block of blocks) {
      for (const [place, error] of Object.entries(block.errors)) data.errors.set(first + Number(place), error);
      for (const place of block.json) data.json.add(first + place); // the rows whose id is JSON, not a string
      for (let row = first + 1; row < first + block.ids.length; row += 1) data.line[row] += data.line[row - 1];
      first += block.ids.length;
    }
    data.start = new Uint32Array(data.score.length); // where the answers of a kind begin
    for (let kind = 0, at = 0; kind < data.start.length; kind += 1) {
      data.start[kind] = at;
      at += data.verdict[kind] < INVALID ? data.rubrics[data.rubric[kind]].criteria.length : 0;
    }
    return data;
  }

  const numberOf = (shown) => (shown === "yes" ? 1 : shown === "no" ? 0 : Number(shown));

  /** Questions about the rows of a page. */
  class Answers {
    constructor(data, others) {
      this.data = data;
      this.others = others;
      this.length = data.kind.length;
      this.places = new Map(); // the place of each criterion in the rubrics of the other run
      for (const [number, criteria] of (data.compared?.rubrics ?? []).entries())
        criteria.forEach((criterion, place) => this.places.set(`${number} ${criterion.id}`, place));
    }
    verdict(row) {
      return this.data.verdict[this.data.kind[row]];
    }
    score(row) {
      const kind = this.data.kind[row];
      return this.data.verdict[kind] < INVALID ? this.data.score[kind] : NaN;
    }
    shownScore(row) {
      const kind = this.data.kind[row];
      return this.data.verdict[kind] < INVALID ? (this.data.shown[kind] / 1000).toFixed(3) : "";
    }
    name(row) {
      const { ids, line, files } = this.data;
      if (ids[row] !== null && ids[row].trim() !== "") return ids[row];
      const file = files.findLast(([, first]) => first <= row)?.[0];
      return `${file ? `${file}, ` : ""}line ${line[row]}`;
    }
    rubric(row) {
      return this.data.rubrics[this.data.rubric[this.data.kind[row]]];
    }
    /** What the judge gave for a criterion: [the answer, whether it meets the gate, its outcome], or nothing. */
    grade(row, place) {
      const kind = this.data.kind[row];
      if (this.data.verdict[kind] >= INVALID) return undefined;
      return this.rubric(row).criteria[place].grades[this.data.answers[this.data.start[kind] + place]];
    }
    /** The verdict of the other run: a number, or undefined where it has no such answer. */
    was(row) {
      const other = this.data.other[row];
      return other === NONE ? undefined : other === OTHER_INVALID ? INVALID : this.others.verdicts[other];
    }
    shownWas(row) {
      const other = this.data.other[row];
      return other >= OTHER_INVALID ? "" : (this.others.shown[other] / 1000).toFixed(3);
    }
    change(row) {
      const other = this.data.other[row];
      return other >= OTHER_INVALID ? NaN : this.score(row) - this.others.scores[other];
    }
    otherGrade(row, id) {
      const other = this.data.other[row];
      if (other >= OTHER_INVALID) return undefined;
      const rubric = this.others.rubrics[other], place = this.places.get(`${rubric} ${id}`);
      if (place === undefined) return undefined;
      return this.data.compared.rubrics[rubric][place].grades[this.others.answers[other][place]];
    }
    /** The value of each criterion: [name, value, whether it meets the gate, the value before if it differs, place]. */
    values(row) {
      if (this.verdict(row) >= INVALID) return [];
      return this.rubric(row).criteria.map((each, place) => {
        const [value, met] = this.grade(row, place), was = this.otherGrade(row, each.id)?.[0];
        return [each.label, value, met, was === value ? undefined : was, place];
      });
    }

    /** The rows that a view asks for, in its order; `found` marks those whose texts hold what is searched for. */
    choose(view, found, labels) {
      const tests = [...this.tests(view)];
      if (view.label) tests.push((row) => labels.keyOf(row) !== undefined && (labels.standing(row) || "none") === view.label);
      if (view.q) {
        const wanted = view.q.toLowerCase();
        tests.push((row) => found?.[row] === 1 || this.name(row).toLowerCase().includes(wanted));
      }
      const rows = new Uint32Array(this.length);
      let size = 0;
      for (let row = 0; row < this.length; row += 1)
        if (tests.every((test) => test(row))) rows[size++] = row;
      return this.sort(rows.subarray(0, size), view);
    }
    *tests(view) {
      const wanted = VERDICTS.indexOf(view.verdict);
      if (wanted >= 0) yield (row) => this.verdict(row) === wanted;
      else if (!view.flip && !view.was) yield (row) => this.verdict(row) !== ABSENT;
      if (view.rubric !== "") yield (row) => this.data.rubric[this.data.kind[row]] === Number(view.rubric);
      const before = VERDICTS.indexOf(view.was);
      if (before >= 0) yield (row) => this.was(row) === before;
      const flip = FLIPS[view.flip]?.[1];
      if (flip) yield (row) => flip(this.was(row), this.verdict(row));
      if (view.criterion) yield* this.criterionTests(view);
    }
    *criterionTests({ criterion, value }) {
      const [rubric, place] = criterion.split(".").map(Number);
      const id = this.data.rubrics[rubric]?.criteria[place]?.id;
      if (id === undefined) return;
      yield (row) => this.verdict(row) < INVALID && this.data.rubric[this.data.kind[row]] === rubric;
      if (value === "missed") yield (row) => !this.grade(row, place)[1];
      else if (value === "lower" || value === "higher") {
        const sign = value === "lower" ? -1 : 1;
        yield (row) => {
          const was = this.otherGrade(row, id);
          return was !== undefined && sign * (numberOf(this.grade(row, place)[0]) - numberOf(was[0])) > 0;
        };
      } else if (value) yield (row) => this.grade(row, place)[0] === value;
    }
    sort(rows, { sort, desc, criterion }) {
      if (!sort) return desc ? rows.reverse() : rows;
      const sign = desc ? -1 : 1;
      if (sort === "id") {
        const names = new Map(Array.from(rows, (row) => [row, this.name(row)]));
        return rows.sort((a, b) => {
          const [one, other] = [names.get(a), names.get(b)];
          return (one < other ? -sign : one > other ? sign : 0) || a - b;
        });
      }
      const place = Number(criterion.split(".")[1]);
      const keys = {
        score: (row) => this.score(row), change: (row) => this.change(row),
        verdict: (row) => (this.verdict(row) < INVALID ? this.verdict(row) : NaN),
        value: (row) => numberOf((criterion && this.grade(row, place)?.[0]) || NaN),
        random: shuffled,
      };
      const key = Object.hasOwn(keys, sort) ? keys[sort] : keys.score, values = new Float64Array(this.length);
      for (const row of rows) values[row] = key(row);
      return rows.sort((a, b) => {
        const [one, other] = [values[a], values[b]];
        if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other) || a - b;
        return sign * (one - other) || a - b;
      });
    }
  }

  /** A number for a row that orders rows at random, always alike. */
  function shuffled(row) {
    let mixed = Math.imul(row + 1, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  const both = (was, now) => was < INVALID && now < INVALID;
  const FLIPS = {
    any: ["changed", (was, now) => both(was, now) && was !== now],
    worse: ["worse now", (was, now) => both(was, now) && now < was],
    better: ["better now", (was, now) => both(was, now) && now > was],
    "only-before": ["passes only before", (was, now) => both(was, now) && was === 2 && now !== 2],
    "only-now": ["passes only now", (was, now) => both(was, now) && was !== 2 && now === 2],
    here: ["only in this run", (was, now) => was === undefined && now !== ABSENT],
    there: ["only in the other run", (_, now) => now === ABSENT],
  };

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
      const { data } = this.answers, id = data.ids[row];
      if (this.answers.verdict(row) >= INVALID || id === null || id === undefined) return undefined;
      return `${data.rubric[data.kind[row]]} ${data.json.has(row) ? "json" : "text"} ${id}`;
    }
    of(row) {
      return this.given.get(this.keyOf(row)) ?? { values: {} };
    }
    /** Takes a verdict, or a value by the place of its criterion; undefined takes it back. */
    set(row, { verdict, values = {}, chosen }) {
      const label = this.of(row);
      const next = { row, verdict, values: { ...label.values, ...values }, chosen };
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
      return isSame && (verdict ?? VERDICTS[this.answers.verdict(row)]) === VERDICTS[this.answers.verdict(row)] ? "agree" : "disagree";
    }
    /** The labels as JSON Lines, a field for each criterion; `rubric-score agree --labels` reads them. */
    lines() {
      const { data } = this.answers;
      return [...this.given.values()].sort((a, b) => a.row - b.row).map(({ row, verdict, values, chosen }) => {
        const rubric = this.answers.rubric(row), id = data.ids[row];
        const given = Object.entries(values).map(([place, value]) => [
          rubric.criteria[place].column, value === "yes" || value === "no" ? value : Number(value),
        ]);
        const fields = {
          ...(data.rubrics.length > 1 && { rubric: rubric.name }), rater: this.rater.trim(), ...(chosen && { chosen }),
          rubric_hash: rubric.hash, ...Object.fromEntries(given), ...(verdict && { verdict }),
        };
        return `{"id":${data.json.has(row) ? id : JSON.stringify(id)},${JSON.stringify(fields).slice(1)}\n`;
      });
    }
  }

  /** How the answers of a view were chosen, as labels say it: the first ones in random order are a random sample. */
  function chosenBy({ q, verdict, was, flip, value, sort }) {
    if (verdict || was || flip || value || !["", "id", "random"].includes(sort)) return "by-verdict";
    return sort === "random" && !q ? "random" : undefined;
  }

  // The records behind the rows

  class Records {
    constructor(elements) {
      this.blocks = Array.from(elements, (element) => ({
        element, first: Number(element.dataset.from), rows: Number(element.dataset.rows),
      }));
      this.kept = new Map();
    }
    async lines(block) {
      const lines = this.kept.get(block) ?? unpack(block.element).then((buffer) => new TextDecoder().decode(buffer).split("\n"));
      this.kept.delete(block);
      this.kept.set(block, lines); // the last one, so that the first is the one that was not used for longest
      if (this.kept.size > KEPT_BLOCKS) this.kept.delete(this.kept.keys().next().value);
      return lines;
    }
    async line(row) {
      const block = this.blocks.find((each) => each.first <= row && row < each.first + each.rows);
      return block && (await this.lines(block))[row - block.first];
    }
    /** The lines of some rows, in their order; undefined for those that the page does not have. */
    async collect(rows) {
      const found = new Map(), wanted = new Set(rows);
      for (const block of this.blocks) {
        const own = Array.from({ length: block.rows }, (_, place) => block.first + place).filter((row) => wanted.has(row));
        const lines = own.length ? await this.lines(block) : [];
        for (const row of own) found.set(row, lines[row - block.first]);
      }
      return Array.from(rows, (row) => found.get(row));
    }
    /** Marks the rows whose texts hold a string; calls `tell` with the share that is done, and stops when it says so. */
    async search(wanted, length, tell) {
      const found = new Uint8Array(length), needle = wanted.toLowerCase();
      for (const [number, block] of this.blocks.entries()) {
        const lines = await this.lines(block);
        lines.forEach((line, place) => {
          if ((line.includes("\\") || line.toLowerCase().includes(needle)) && holds(line, needle))
            found[block.first + place] = 1;
        });
        if (!(await tell((number + 1) / this.blocks.length, found))) return undefined;
      }
      return found;
    }
  }

  function holds(line, needle) {
    const search = (value) =>
      typeof value === "string" ? value.toLowerCase().includes(needle)
      : typeof value === "object" && value !== null ? Object.values(value).some(search) : false;
    return search(parse(line) ?? line);
  }

  function parse(text) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

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
      const told = typeof output === "string" ? parse(output) : output;
      if (output !== record) raw.push([sample || "Output", typeof output === "string" ? output : JSON.stringify(output, null, 2)]);
      if (typeof told !== "object" || told === null) {
        texts.push([[sample, "Output of the judge"].filter(Boolean).join(": "), String(output)]);
        continue;
      }
      for (const check of Array.isArray(told.checks) ? told.checks : [])
        if (typeof check?.reasoning === "string") {
          const value = sample && [check.score, check.level, check.satisfied].find((each) => each !== undefined);
          const reason = sample ? `${sample} (${value}): ${check.reasoning}` : check.reasoning;
          reasons.set(check.id, [...(reasons.get(check.id) ?? []), reason]);
        }
      for (const name of ["overall_reasoning", "reasoning"])
        if (typeof told[name] === "string") texts.push([[sample, "Overall"].filter(Boolean).join(": "), told[name]]);
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
  async function writeCsv(rows, answers, records) {
    const { data } = answers;
    const ids = [...new Set(data.rubrics.flatMap((rubric) => rubric.criteria.map((each) => each.id)))];
    const before = data.compared ? ["verdict_before", "score_before"] : [];
    const head = ["id", "rubric", "rubric_hash", "score", "verdict", "gates_missed", ...ids.map((id) => `criteria.${id}`)];
    const lines = [[...head, "error", "error_path", "file", "line", ...before, "question", "answer"].map((each) => cell(each, true)).join(",")];
    const texts = await records.collect(rows);
    for (const [place, row] of rows.entries()) {
      const isValid = answers.verdict(row) < INVALID, rubric = answers.rubric(row), record = parse(texts[place] ?? "null");
      const values = new Map(answers.values(row).map(([, value, , , at]) => [rubric.criteria[at].id, value]));
      const missed = answers.values(row).filter(([, , met]) => !met).map(([, , , , at]) => rubric.criteria[at].id);
      const was = answers.was(row), error = data.errors.get(row);
      const other = was !== undefined && was < INVALID ? answers.others.scores[data.other[row]] : undefined;
      lines.push([
        cell(data.ids[row], true), cell(rubric?.name, true), isValid ? rubric.hash : "", isValid ? answers.score(row) : "",
        isValid ? VERDICTS[answers.verdict(row)] : "", cell(missed.some((id) => id.includes(" ")) ? JSON.stringify(missed) : missed.join(" ")),
        ...ids.map((id) => { const value = values.get(id); return value === "yes" ? "true" : value === "no" ? "false" : value ?? ""; }),
        cell(error?.[1]), cell(error?.[0]), cell(error && data.files.findLast(([, first]) => first <= row)?.[0]), error ? data.line[row] : "",
        ...(data.compared ? [was === undefined ? "" : VERDICTS[was], other ?? ""] : []), cell(record?.question), cell(record?.answer),
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
  const verdictMark = (number) => make("span", { className: `verdict ${VERDICTS[number]}` }, VERDICTS[number]);
  const EMPTY = { q: "", verdict: "", rubric: "", criterion: "", value: "", flip: "", was: "", label: "", sort: "", desc: "" };

  class Tool {
    constructor(place, answers, records, others, labels) {
      Object.assign(this, { place, answers, records, others, labels, view: { ...EMPTY }, search: 0 });
      this.data = answers.data;
      this.status = make("b", { role: "status" });
      this.box = make("section", { className: "card rows", tabIndex: 0, role: "region", "aria-label": "Every answer" });
      this.seen = new IntersectionObserver((entries) => entries.forEach((each) => this.show(each)), {
        root: this.box, rootMargin: "800px 0px",
      });
      this.controls = this.makeControls();
      const keys = make("p", { className: "soft keys" }, "Keys: ↓ and ↑ go through the answers, Enter opens one, a agrees with it, d disagrees.");
      place.replaceChildren(this.controls, this.makeFiles(), this.box, keys);
      this.box.addEventListener("keydown", (event) => this.press(event));
      addEventListener("beforeprint", () => this.print());
      addEventListener("afterprint", () => this.tell(""));
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

    async saveRows(form) {
      const rows = this.chosen.slice(), name = `answers.${form}`;
      if (form === "csv") {
        save(name, await writeCsv(rows, this.answers, this.records), "text/csv");
        const formulas = rows.filter((row) => isFormula(this.data.ids[row] ?? "")).length;
        const warning = formulas ? ` Import the column id as text: ${count(formulas)} could be taken for formulas.` : "";
        this.saved.textContent = `${answersOf(rows.length)} saved as ${name}.${warning}`;
        return;
      }
      const lines = (await this.records.collect(rows)).filter((line) => line !== undefined);
      save(name, lines.map((line) => `${line}\n`), "application/jsonl");
      const left = rows.length - lines.length;
      this.saved.textContent = `${count(lines.length)} records saved as ${name}, as they were read${left ? `; ${count(left)} are not in the page, and left out` : ""}.`;
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
      for (const each of this.box.querySelectorAll(".labels")) each.paint();
    }

    label(row, change) {
      const { verdict } = this.labels.of(row);
      this.labels.set(row, { verdict, chosen: chosenBy(this.view), ...change });
      this.showLabels();
    }

    agree(row) {
      const values = Object.fromEntries(this.answers.values(row).map(([, value, , , place]) => [place, value]));
      // Who agrees with everything has seen the verdict first: such a label does not say that it stands for all answers.
      this.label(row, { verdict: VERDICTS[this.answers.verdict(row)], values, chosen: undefined });
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
      const verdicts = VERDICTS.slice(0, 4).reverse().map((each) => [each, each]);
      field("verdict", "Verdict", choice([["", "all"], ...verdicts]));
      if (this.data.compared) {
        field("was", "Verdict before", choice([["", "all"], ...verdicts]));
        const flips = Object.entries(FLIPS).map(([value, [text]]) => [value, text]);
        field("flip", "Compared with before", choice([["", "all"], ...flips]));
      }
      const { rubrics } = this.data;
      if (rubrics.length > 1)
        field("rubric", "Rubric", choice([["", "all"], ...rubrics.map((each, place) => [String(place), visible(each.name)])]));
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
        const told = JSON.stringify(pairs);
        if (select.told !== told) select.replaceChildren(...pairs.map(([each, text]) => make("option", { value: each }, text)));
        select.told = told;
        select.value = value;
      };
      const criteria = [["", "any"]];
      data.rubrics.forEach((rubric, number) => {
        if (view.rubric !== "" ? Number(view.rubric) === number : data.rubrics.length <= 200)
          rubric.criteria.forEach((each, place) => {
            const before = data.rubrics.length > 1 ? `${rubric.name}: ` : "";
            criteria.push([`${number}.${place}`, shorten(visible(before + each.label))]);
          });
      });
      if (view.criterion && !criteria.some(([value]) => value === view.criterion)) {
        const each = this.criterion();
        if (each) criteria.push([view.criterion, shorten(visible(each.label))]);
      }
      put(this.criteria, criteria, view.criterion);
      const values = [["", "any"]], each = this.criterion();
      if (each) {
        if (each.grades.some(([, met]) => !met)) values.push(["missed", "misses its gate"]);
        if (data.compared) values.push(["lower", "lower now"], ["higher", "higher now"]);
        values.push(...each.grades.map(([shown, met]) => [shown, met ? shown : `${shown} (misses the gate)`]));
      }
      put(this.values, values, view.value);
      this.values.disabled = !each;
      const orders = [
        ["", "as in the file"], ["score", "score, lowest first"], ["score-", "score, highest first"],
        ["verdict", "verdict, worst first"], ["verdict-", "verdict, best first"], ["id", "id"], ["id-", "id, backwards"],
        ["random", "at random, to label a sample"],
      ];
      if (each) orders.push(["value", "value, lowest first"], ["value-", "value, highest first"]);
      if (data.compared) orders.push(["change", "change of score, worst first"], ["change-", "change of score, best first"]);
      put(this.order, orders, view.sort + (view.desc ? "-" : ""));
      for (const name of ["q", "verdict", "was", "flip", "rubric", "label"])
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
      const given = new URLSearchParams(query ?? "");
      this.set(Object.fromEntries(Object.keys(EMPTY).map((name) => [name, given.get(name) ?? ""])), query === undefined);
      return query !== undefined;
    }

    set(view, isSilent = false) {
      this.view = view;
      const given = new URLSearchParams(Object.entries(view).filter(([, value]) => value));
      if (!isSilent) history.replaceState(null, "", `#answers${given.size || String(given) ? `?${given}` : ""}`);
      this.fill();
      this.found = undefined;
      const number = (this.search += 1);
      this.draw(view.q && this.records.blocks.length ? "; searching the texts" : "");
      if (!view.q) return;
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.look(number, view), 200);
    }

    async look(number, view) {
      let told = performance.now();
      const found = await this.records.search(view.q, this.answers.length, async (share) => {
        if (performance.now() - told > 100) {
          told = performance.now();
          this.tell(`; searching the texts, ${Math.floor(share * 100)}%`);
          await new Promise((resolve) => setTimeout(resolve));
        }
        return number === this.search;
      });
      if (number !== this.search || !found) return;
      this.found = found;
      this.draw();
    }

    draw(note = "") {
      const { answers, view } = this;
      this.chosen = answers.choose(view, this.found, this.labels);
      this.tell(note);
      this.seen.disconnect();
      const each = this.criterion();
      const heads = [
        ["Answer", "id"], ...(this.data.compared ? [["Before", "change"]] : []), ["Verdict", "verdict"], ["Score", "score"],
        ["Values", ""],
      ];
      if (each) heads[heads.length - 1] = [`Values, ${shorten(visible(each.label), 40)} first`, "value"];
      this.heads = heads.map(([text]) => text);
      const table = make("table", { className: this.data.compared ? "every compared" : "every", "aria-rowcount": this.chosen.length + 1 });
      table.append(make("thead", {}, make("tr", { "aria-rowindex": 1 }, ...heads.map((head) => this.makeHead(...head)))));
      const groups = Math.ceil(this.chosen.length / GROUP);
      const height = Math.min((this.height ?? 64) * GROUP, TALLEST / Math.max(groups, 1));
      for (let group = 0; group < groups; group += 1) {
        const body = Object.assign(make("tbody"), { group });
        const rows = Math.min(GROUP, this.chosen.length - group * GROUP);
        this.putAway(body, (height * rows) / GROUP);
        table.append(body);
      }
      this.box.replaceChildren(table);
      this.box.scrollTop = 0;
      for (const body of table.tBodies) this.seen.observe(body);
      if (groups) this.fillGroup(table.tBodies[0]);
      for (const button of this.rows) button.disabled = !groups;
      this.showLabels();
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

    tell(note) {
      const { view, chosen, data, answers } = this;
      const rest = view.q || chosen.length !== data.rows ? ` of ${count(data.rows)}` : "";
      const absent = answers.length - data.rows - chosen.filter((row) => answers.verdict(row) === ABSENT).length;
      const unlisted = absent ? `; ${count(absent)} more only in the other run` : "";
      this.status.textContent = `${answersOf(chosen.length)}${rest}${unlisted}${note}.`;
    }

    /** Fills the first rows, as those that are put away would not be on paper, and says how many there are. */
    print() {
      for (const body of this.box.querySelectorAll("tbody"))
        if (body.group * GROUP < MOST_PRINTED) this.fillGroup(body);
      const shown = [...this.box.querySelectorAll("tbody:not(.idle)")].reduce((sum, body) => sum + body.rows.length, 0);
      if (shown < this.chosen.length) this.tell(`; the first ${count(shown)} are printed`);
    }

    putAway(body, height) {
      const space = make("td", { colSpan: this.heads.length });
      space.style.height = `${height}px`;
      body.className = "idle";
      body.replaceChildren(make("tr", { ariaHidden: "true" }, space));
    }

    /** Fills a group of rows that comes near the window, and empties one that has left it. */
    show({ target: body, isIntersecting }) {
      if (isIntersecting) this.fillGroup(body);
      else if (body.className === "" && !body.contains(document.activeElement) && !body.querySelector(".details"))
        this.putAway(body, Math.min(body.offsetHeight, TALLEST / Math.max(this.chosen.length / GROUP, 1)));
    }

    fillGroup(body) {
      if (body.className === "") return;
      const first = body.group * GROUP;
      const rows = Array.from(this.chosen.subarray(first, first + GROUP), (row, place) => this.makeRow(row, first + place));
      body.className = "";
      body.replaceChildren(...rows);
      if (this.height === undefined && body.offsetHeight) this.height = body.offsetHeight / rows.length;
    }

    makeRow(row, place) {
      const { answers, data } = this;
      const verdict = answers.verdict(row), error = data.errors.get(row);
      const open = make("button", { type: "button", className: "open", dir: "auto", ariaExpanded: "false" }, visible(answers.name(row)));
      const gist = make("div", { className: "gist" });
      const cell = (label, ...children) => make("td", { "data-label": label }, make("div", {}, ...children));
      const line = make("tr", { "aria-rowindex": place + 2 }, make("th", { scope: "row" }, open, gist));
      if (data.compared) {
        const was = answers.was(row);
        const before = was === undefined ? ["not in the other run"] : [verdictMark(was), " ", make("span", { className: "number" }, answers.shownWas(row))];
        line.append(cell("Before", ...before));
      }
      line.append(
        cell("Verdict", verdict === ABSENT ? "only in the other run" : verdictMark(verdict), this.makeStanding(row)),
        cell("Score", make("span", { className: "number" }, answers.shownScore(row))),
        cell(error ? "Error" : "Values", ...(error ? [visible(error[1])] : this.makeValues(row))),
      );
      open.addEventListener("click", () => this.toggle(row, line, open));
      Object.assign(open, { row });
      this.describeGist(row, gist);
      return line;
    }

    /** The values of a row, that of the chosen criterion first; of many those that miss a gate or changed come first. */
    makeValues(row) {
      const values = this.answers.values(row), chosen = this.view.criterion ? Number(this.view.criterion.split(".")[1]) : -1;
      const rank = ([, , met, was, place]) => (place === chosen ? 0 : values.length <= MOST_VALUES ? 3 : !met ? 1 : was !== undefined ? 2 : 3);
      const sorted = values.map((each) => [rank(each), each]).sort(([a], [b]) => a - b).map(([, each]) => each);
      const marks = sorted.slice(0, MOST_VALUES).map(([name, value, met, was]) =>
        make("span", { className: met ? "value" : "value missed" }, make("bdi", {}, shorten(visible(name), 40)),
          make("b", {}, was === undefined ? ` ${value}` : ` ${was} → ${value}`), met ? "" : " misses gate"));
      const more = values.length - marks.length;
      if (more > 0) marks.push(make("span", { className: "value" }, `${more} more, open the answer`));
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

    /** Adds the first words of the question and the answer, which have to be unpacked. */
    async describeGist(row, place) {
      const line = (await this.records.line(row)) ?? (await this.others.line(this.data.otherRecord[row]));
      const record = line && parse(line);
      for (const name of ["question", "answer"])
        if (typeof record?.[name] === "string" && record[name].trim())
          place.append(make("div", { className: name, dir: "auto" }, shorten(visible(record[name].slice(0, 400).replace(/\s+/g, " ").trim()), 90)));
    }

    async toggle(row, line, open) {
      if (open.ariaExpanded === "true") {
        open.ariaExpanded = "false";
        line.nextSibling.remove();
        return;
      }
      open.ariaExpanded = "true";
      const cell = make("td", { colSpan: this.heads.length }, "Unpacking");
      line.after(make("tr", { className: "details" }, cell));
      const lines = await Promise.all([this.records.line(row), this.others.line(this.data.otherRecord[row])]);
      cell.replaceChildren(...this.describe(row, ...lines.map((text) => (text === undefined ? undefined : readRecord(text)))));
    }

    /** One answer in full, beside what the other run has of it. */
    *describe(row, record, other) {
      const { answers, data } = this;
      const verdict = answers.verdict(row), error = data.errors.get(row);
      const place = data.files.findLast(([, first]) => first <= row);
      const where = [place?.[0], verdict === ABSENT ? "" : `line ${data.line[row]}`, verdict < INVALID ? answers.rubric(row).name : ""];
      yield make("p", { className: "soft", dir: "auto" }, visible(where.filter(Boolean).join(", ")));
      if (error) yield make("p", { className: "missed", dir: "auto" }, visible(`${error[0] ? `${error[0]}: ` : ""}${error[1]}`));
      if (!record) yield make("p", { className: "soft" }, verdict === ABSENT ? "This run has no such answer." : "The page does not have the texts of this answer.");
      const isOverall = (name) => name.endsWith("Overall");
      yield* this.describeTexts(record, other, (name) => !isOverall(name));
      if (verdict < INVALID) {
        const hasBefore = data.other[row] !== NONE;
        const heads = ["Criterion", ...(hasBefore ? [`Before: ${data.compared.name}`, "Now"] : ["The judge"]), "Your label"];
        const rows = answers.rubric(row).criteria.map((each, number) => this.describeCriterion(row, each, number, record, other, hasBefore));
        const whole = this.labels.keyOf(row) === undefined
          ? make("p", { className: "soft" }, "A record without an id cannot be labelled, because labels are joined by it.")
          : this.makeChoice(row, "Whole answer", VERDICTS[verdict], answers.rubric(row).verdicts, (label) => label.verdict, (given) => ({ verdict: given }), true);
        yield make("div", { className: "whole" }, whole);
        yield make("table", { className: hasBefore ? "reasons both" : "reasons" },
          make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, visible(head))))), make("tbody", {}, ...rows));
      }
      yield* this.describeTexts(record, other, isOverall);
      const raw = [other?.raw, record?.raw].map((each) => (each?.length ? each : undefined));
      if (raw[0] || raw[1])
        yield make("details", { className: "raw" }, make("summary", {}, "The judge's raw reply"),
          this.beside(...raw.map((each) => each && make("dl", { className: "said" }, ...each.flatMap(([name, text]) => [make("dt", {}, name), quote(text, "dd")])))));
    }

    /** Some texts of a record; those that differ in the other run stand beside it. */
    *describeTexts(record, other, isWanted) {
      const now = new Map(record?.texts), before = new Map(other?.texts);
      for (const name of new Set([...now.keys(), ...before.keys()])) {
        if (!isWanted(name)) continue;
        const [one, two] = [before.get(name), now.get(name)].map((text) => (text === undefined ? undefined : quote(text, "div")));
        const isOfOne = record && other && !(one && two) && !["Question", "Answer", "Reference"].includes(name);
        const title = isOfOne ? `${name}, only ${one ? "before" : "now"}` : name;
        const isBoth = one && two && before.get(name) !== now.get(name);
        yield make("section", { className: "text" }, make("h4", {}, title), isBoth ? this.beside(one, two) : two ?? one);
      }
    }

    /** Two versions side by side; only this run's without another run. */
    beside(before, now) {
      if (!this.data.compared) return now;
      const side = (name, content) => make("div", {}, make("p", { className: "soft" }, visible(name)), content ?? make("p", { className: "soft" }, "none"));
      return make("div", { className: "beside" }, side(`Before: ${this.data.compared.name}`, before), side("Now", now));
    }

    describeCriterion(row, criterion, number, record, other, hasBefore) {
      const [shown, met, outcome] = this.answers.grade(row, number);
      const isAsked = shown === "yes" || shown === "no"; // the outcome does not describe a "no"
      const was = this.answers.otherGrade(row, criterion.id);
      const head = make("th", { scope: "row" }, make("span", { dir: "auto" }, visible(criterion.label)));
      if (isAsked && outcome) head.append(make("small", { dir: "auto" }, visible(outcome)));
      const given = (label, [value, isMet], text, source) => {
        const reasons = (source?.reasons.get(criterion.id) ?? []).map((reason) => quote(reason, "div"));
        const mark = isMet ? "" : make("span", { className: "missed" }, " misses its gate");
        const told = text && !isAsked ? make("div", { className: "soft", dir: "auto" }, visible(text)) : "";
        return make("td", { "data-label": label }, make("div", {}, make("b", {}, value), mark, ...reasons, told));
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
        for (const each of buttons) each.ariaPressed = String(each.given === current());
        if (select) select.value = others.includes(current()) ? current() : "";
        if (select) select.dataset.set = String(select.value !== "");
      };
      place.append(...(isWhole ? [make("span", { className: "soft" }, "Your verdict")] : []), ...buttons, ...(select ? [select] : []));
      if (isWhole) place.append(make("button", { type: "button", onclick: () => this.agree(row) }, "Agree with every value"));
      place.paint();
      return place;
    }

    /** Up and down go from answer to answer; a agrees with all that the judge gave, d opens the answer to disagree. */
    async press(event) {
      if (!event.target.matches(".open") || event.ctrlKey || event.metaKey || event.altKey) return;
      const open = event.target, { row } = open;
      if (event.key === "a" && this.labels.keyOf(row) !== undefined) this.agree(row);
      if (event.key === "d" && this.labels.keyOf(row) !== undefined) {
        const line = open.closest("tr");
        if (open.ariaExpanded !== "true") await this.toggle(row, line, open);
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
  function digest(texts) {
    let found = 0x811c9dc5;
    for (const text of texts) for (let at = 0; at < text.length; at += 1) found = Math.imul(found ^ text.charCodeAt(at), 0x01000193);
    return (found >>> 0).toString(16);
  }

  /** Makes links of the figures that say which answers they count. */
  function link() {
    for (const figure of document.querySelectorAll("[data-view]")) {
      const address = make("a", { href: `#answers?${figure.dataset.view}`, className: figure.className });
      address.append(...figure.childNodes);
      figure.replaceChildren(address);
    }
  }

  async function start() {
    const place = document.getElementById("tool"), note = document.getElementById("needs-script");
    try {
      const { other: compared, ...about } = JSON.parse(document.getElementById("about").textContent);
      const blocks = await Promise.all(Array.from(document.querySelectorAll('script[type="text/x-answers"]'), unpack));
      const element = document.querySelector('script[type="text/x-others"]');
      const others = element && JSON.parse(new TextDecoder().decode(await unpack(element)));
      const data = joinBlocks(blocks.map(readBlock), { ...about, compared });
      if (!data.kind.length) return;
      const records = new Records(document.querySelectorAll('script[type="text/x-records"]'));
      const otherRecords = new Records(document.querySelectorAll('script[type="text/x-other-records"]'));
      const answers = new Answers(data, others);
      const texts = Array.from(document.querySelectorAll('script[type^="text/x-answers"], #about'), (each) => each.textContent);
      const tool = new Tool(place, answers, records, otherRecords, new Labels(answers, `rubric-lint labels ${digest(texts)}`));
      note.remove();
      link();
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
      note.textContent = `This browser cannot unpack all answers (${fault.message}); the first ones are listed. Use a newer one.`;
    }
  }

  if (typeof document !== "undefined") start();
  else module.exports = { visible, readBlock, joinBlocks, Answers, Labels, Records, readRecord, holds, writeCsv, chosenBy };
})();
