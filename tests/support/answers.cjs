// Reads a report of scores as its script does, without a browser: {"page", "views", "texts"} in, what it shows out.
const { readFileSync } = require("node:fs");
const { inflateSync } = require("node:zlib");

const { page, script, views, texts, records } = JSON.parse(readFileSync(0, "utf-8"));
const { visible, readBlock, joinBlocks, Answers, Labels, Records, readRecord, holds, writeCsv } = require(script);
const html = readFileSync(page, "utf-8");
const elements = (type) =>
  Array.from(html.matchAll(new RegExp(`<script type="${type}"[^>]*>([^<]*)</script>`, "g")), ([, text]) => {
    const data = inflateSync(Buffer.from(text, "base64"));
    return data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  });
const { other: compared, ...about } = JSON.parse(html.match(/<script type="application\/json" id="about">(.*?)<\/script>/)[1]);
const others = elements("text/x-others").map((data) => JSON.parse(Buffer.from(data).toString()))[0];
const answers = new Answers(joinBlocks(elements("text/x-answers").map(readBlock), { ...about, compared }), others);
const rows = Array.from({ length: answers.length }, (_, row) => ({
  name: answers.name(row), verdict: answers.verdict(row), score: answers.shownScore(row), line: answers.data.line[row],
  missed: answers.values(row).flatMap(([name, , met]) => (met ? [] : [name])), error: answers.data.errors.get(row) ?? null,
  ...(compared && { was: answers.was(row) ?? null, before: answers.shownWas(row), changed: answers.values(row).flatMap(([name, now, , was]) => (was === undefined ? [] : [[name, was, now]])) }),
}));
const empty = { q: "", verdict: "", rubric: "", criterion: "", value: "", flip: "", was: "", sort: "", desc: "" };
const lines = elements("text/x-records").flatMap((data) => Buffer.from(data).toString().split("\n"));
console.log(JSON.stringify({
  rows,
  views: (views ?? []).map((view) => Array.from(answers.choose({ ...empty, ...view }), (row) => answers.name(row))),
  texts: (texts ?? []).map(visible),
  lines,
  records: lines.map((line) => ({ ...readRecord(line), reasons: [...readRecord(line).reasons] })),
  held: (records ?? []).map((needle) => lines.map((line) => holds(line, needle))),
}));
