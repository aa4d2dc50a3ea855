// Answer the conformance suite with AgentV 4; its judge is its mock provider, which returns the output of the case.
// Usage: node of_agentv.mjs FOLDER, with `agentv` in FOLDER/node_modules.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const home = resolve(process.argv[2], "node_modules/agentv");
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const folder = mkdtempSync(join(tmpdir(), "agentv-"));
const requests = readFileSync(0, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));

/** Run AgentV in the folder, which is a Git repository as it wants it. */
function run(...args) {
  const environment = { ...process.env, AGENTV_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
  return spawnSync("node", [join(home, "dist/cli.js"), ...args], { cwd: folder, encoding: "utf8", env: environment });
}

/** A criterion in the words of AgentV 4; without `required` a checklist item would be a gate. */
function criterion(entry) {
  const { id, expected_outcome: outcome, weight, required_min_score: gate, score_ranges: bands } = entry;
  const written = { id, outcome, weight };
  if (!bands) return { ...written, required: gate !== undefined };
  const ranges = Array.isArray(bands)
    ? bands.map((band) => ({ score_range: band.score_range, outcome: band.expected_outcome }))
    : bands;
  return { ...written, required_min_score: gate, score_ranges: ranges };
}

/** Why AgentV has no form for a rubric, or undefined. */
function whyNot({ rubric, output }) {
  if (rubric.some((entry) => "score_range" in entry)) return "there are no holistic scales";
  if (rubric.some((entry) => "levels" in entry)) return "there are no levels";
  if (typeof output === "string") return "the text is not JSON, and its provider returns it as it is";
  return undefined;
}

/** Add the reasons that AgentV asks of its judge. */
function withReasons(output) {
  if (!Array.isArray(output.checks)) return output;
  const checks = output.checks.map((check) => ({ reasoning: "", ...check }));
  return { overall_reasoning: "", ...output, checks };
}

function score(cases) {
  const targets = [{ name: "default", provider: "mock", response: "The answer." }];
  const tests = [];
  for (const { id, rubric, output } of cases) {
    targets.push({ name: `judge-${id}`, provider: "mock", response: JSON.stringify(withReasons(output)) });
    const grader = { name: "case", type: "rubrics", target: `judge-${id}`, criteria: rubric.map(criterion) };
    tests.push({ id: `case-${id}`, input: "Answer.", assertions: [grader] });
  }
  mkdirSync(join(folder, ".agentv"));
  execFileSync("git", ["init", "--quiet", folder]);
  writeFileSync(join(folder, ".agentv/targets.yaml"), JSON.stringify({ targets }));
  writeFileSync(join(folder, "score.eval.yaml"), JSON.stringify({ tests }));
  const done = run("eval", "score.eval.yaml", "--target", "default", "--output", "out");
  const lines = readFileSync(join(folder, "out/index.jsonl"), "utf8").split("\n").filter(Boolean);
  if (lines.length !== cases.length) throw new Error(done.stdout + done.stderr);
  return new Map(lines.map((line) => JSON.parse(line)).map((result) => [result.test_id, result]));
}

/** What became of one case. The test's own result counts, which a missed gate of a criterion does not change. */
function answer(result) {
  const [graded] = result.scores ?? [];
  if (!graded || graded.verdict === "skip" || result.execution_status === "execution_error") {
    return { valid: false, reason: String(result.error ?? graded?.assertions?.[0]?.text ?? "not scored") };
  }
  return { valid: true, score: graded.score, passes: result.execution_status === "ok" };
}

function lint({ file, text }) {
  if (!file.endsWith(".eval.yaml")) return { unsupported: "only its own suites are validated" };
  writeFileSync(join(folder, file), text);
  const done = run("validate", file);
  return { accepts: done.status === 0, reason: done.stdout.trim() };
}

const scored = requests.filter((request) => request.kind === "score" && !whyNot(request));
const results = scored.length ? score(scored) : new Map();
for (const request of requests) {
  const { id, kind } = request;
  let body = { name: "AgentV", version };
  if (kind === "lint") body = lint(request);
  if (kind === "score") {
    const unsupported = whyNot(request);
    body = unsupported ? { unsupported } : answer(results.get(`case-${id}`));
  }
  process.stdout.write(`${JSON.stringify({ id, ...body })}\n`);
}
rmSync(folder, { recursive: true });
