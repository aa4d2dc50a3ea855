// Reads a report of scores as its script does, without a browser: {"page", "views", "texts"} in, what it shows out.
const { readFileSync } = require("node:fs");

const { page, script, views, texts, searches } = JSON.parse(readFileSync(0, "utf-8"));
globalThis.onbeforeunload = null;
const { visible, Answers, Labels, readRecord, readView, writeCsv, chosenBy } = require(script);
const html = readFileSync(page, "utf-8");
const answers = new Answers(JSON.parse(html.match(/<script type="application\/json" id="data">([^<]*)<\/script>/)[1]));
const rows = answers.rows.map((row) => ({
  name: answers.name(row), verdict: row.verdict, score: row.shown ?? "", line: row.line, sampled: Boolean(row.sampled),
  missed: answers.values(row).flatMap(([name, , met]) => (met ? [] : [name])), error: row.error ?? null, record: row.record ?? null,
  before: row.was?.shown ?? "", changed: answers.values(row).flatMap(([name, now, , was]) => (was === undefined ? [] : [[name, was, now]])),
  random: chosenBy(readView("sort=random"), row, answers.isWhole) ?? null,
}));
const choose = (view) => answers.choose(readView(view)).map((row) => answers.name(row));
const counted = Array.from(html.matchAll(/ data-view="([^"]*)" data-count="(\d+)"/g), ([, view, count]) => {
  return [view.replaceAll("&amp;", "&"), Number(count), choose(view.replaceAll("&amp;", "&")).length];
});
function agreeWithAll() {
  const labels = new Labels(answers, "labels");
  for (const row of answers.rows.filter((each) => labels.keyOf(each) !== undefined)) {
    const values = Object.fromEntries(answers.values(row).map(([, value, , , place]) => [place, value]));
    labels.set(row, { verdict: row.verdict, values });
  }
  return labels.lines().join("");
}
const records = answers.rows.filter((row) => row.record !== undefined).map((row) => readRecord(row.record));
console.log(JSON.stringify({
  rows, counted, csv: writeCsv(answers.rows, answers)[0], labels: agreeWithAll(),
  views: (views ?? []).map(choose),
  texts: (texts ?? []).map(visible),
  records: records.map((record) => ({ ...record, reasons: [...record.reasons] })),
  found: (searches ?? []).map((wanted) => answers.rows.flatMap((row, place) => (answers.holds(row, wanted) ? [place] : []))),
}));
