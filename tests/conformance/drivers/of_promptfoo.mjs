// Answer the conformance suite with promptfoo: each criterion is an `llm-rubric` with a weight, the test has the threshold.
// Usage: node of_promptfoo.mjs FOLDER, with `promptfoo` in FOLDER/node_modules.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr); // what the package prints is no answer
for (const name of ["DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION", "SELF_HOSTED"]) {
  process.env[`PROMPTFOO_${name}`] = "1";
}

const home = resolve(process.argv[2], "node_modules/promptfoo");
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const requests = readFileSync(0, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line)); // before the package is loaded, which changes stdin
const { default: promptfoo } = await import(pathToFileURL(join(home, "dist/src/index.js")).href);

/** Why promptfoo has no form for a rubric or an output, or undefined. */
function whyNot({ rubric, output }) {
  if (rubric.some((entry) => "levels" in entry)) return "there are no levels";
  if (rubric.some((entry) => "required_min_score" in entry)) return "a test with a threshold has no gates";
  const holistic = rubric.some((entry) => "score_range" in entry);
  if (holistic) return typeof output === "string" || "score" in output ? undefined : "the judge gives one score";
  if (typeof output === "string") return "the judge answers in another form of JSON";
  const wanted = rubric.some((entry) => "score_ranges" in entry) ? "score" : "satisfied";
  const strange = (check) => !(wanted in check) || Object.keys(check).some((key) => !["id", "reasoning", "quote", wanted].includes(key));
  if (Array.isArray(output.checks) && output.checks.some(strange)) return "the judge has no other field for its decision";
  return undefined;
}

/** What the judge of one assertion returns: promptfoo asks for `pass`, and for a score from 0 to 1. */
function reply(value) {
  if ("satisfied" in value) return JSON.stringify({ pass: value.satisfied, reason: "" });
  const score = typeof value.score === "number" ? value.score / 10 : value.score;
  return JSON.stringify({ pass: true, score, reason: "" });
}

/** The assertions for a rubric, each with a judge of its own. */
function assertions({ rubric, output }) {
  const judge = (text) => ({ id: () => "fixed", callApi: async () => ({ output: text }) });
  if (rubric.some((entry) => "score_range" in entry)) {
    const text = typeof output === "string" ? output.replace(/"score": (\d+)/g, (_, score) => `"score": ${score / 10}`) : reply(output);
    return [{ type: "llm-rubric", value: "The answer is good.", provider: judge(text) }];
  }
  return rubric.map((entry) => {
    const check = (output.checks ?? []).find((each) => each.id === entry.id);
    const text = check ? reply(check) : "";
    return { type: "llm-rubric", value: entry.id, weight: entry.weight ?? 1, provider: judge(text) };
  });
}

async function score(request) {
  const unsupported = whyNot(request);
  if (unsupported) return { unsupported };
  const tests = [{ assert: assertions(request), threshold: 0.8 }];
  const provider = { id: () => "answers", callApi: async () => ({ output: "The answer." }) };
  const done = await promptfoo.evaluate(
    { prompts: ["Answer."], providers: [provider], tests, writeLatestResults: false },
    { cache: false, maxConcurrency: 1, showProgressBar: false },
  );
  const [result] = done.results;
  if (result.error && !result.gradingResult) return { valid: false, reason: result.error };
  return { valid: true, score: result.score, passes: result.success };
}

for (const request of requests) {
  const { id, kind } = request;
  let body = { name: "promptfoo", version };
  if (kind === "lint") body = { unsupported: "rubrics are texts, which are not checked" };
  if (kind === "score") body = await score(request);
  write(`${JSON.stringify({ id, ...body })}\n`);
}
process.exit(0);
