// What the playground finds is what rubric-lint finds: on every example, and on what is below PLAYGROUND_FILES.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { startImage } from "../src/image.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, ".venv/bin");
const LARGE = 1 << 28;

let folder;
let names;
let bridge;

function ask(request) {
  return JSON.parse(bridge.answer(JSON.stringify(request)));
}

/** The text of a file; null if it is not UTF-8, which the page cannot be given. */
function textOf(name) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(join(folder, name)));
  } catch {
    return null;
  }
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "playground-"));
  execFileSync(join(BIN, "python"), [fileURLToPath(new URL("files.py", import.meta.url)), folder]);
  names = readdirSync(folder).sort().map((number) => `${number}/${readdirSync(join(folder, number))[0]}`);
  const image = gunzipSync(readFileSync(join(ROOT, "build/playground/python.image")));
  bridge = await startImage(loadPyodide, undefined, Promise.resolve(image));
});

test("it starts from the packages where the memory does not fit", async () => {
  const image = new Uint8Array(gunzipSync(readFileSync(join(ROOT, "build/playground/python.image"))));
  const size = new DataView(image.buffer).getUint32(0, true);
  const { memory } = JSON.parse(new TextDecoder().decode(image.subarray(4, 4 + size)));
  image.fill(0, 4 + size, 4 + size + memory);
  const other = await startImage(loadPyodide, undefined, Promise.resolve(image));
  const request = { do: "lint", name: "a.rubric.yaml", text: "rubrics:\n  - id: a\n    expected_outcome: Good\n" };
  assert.deepEqual(JSON.parse(other.answer(JSON.stringify(request))), ask(request));
});

after(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("every file has the findings of the native tool: rule, severity, message, place and fix", (context) => {
  const native = spawnSync(join(BIN, "rubric-lint"), ["--isolated", "--no-cache", "--format", "json", "."], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: LARGE,
  });
  assert.ok(native.status === 0 || native.status === 1, native.stderr);
  const report = JSON.parse(native.stdout);
  let compared = 0;
  let findings = 0;
  for (const name of names) {
    const text = textOf(name);
    if (text === null) {
      context.diagnostic(`${name} is not UTF-8, so the page cannot be given it`);
      continue;
    }
    const found = ask({ do: "lint", name, text }).report;
    assert.deepEqual(found.findings, report.findings.filter((each) => each.file === name), name);
    assert.deepEqual(found.unread ?? [], (report.unread ?? []).filter((each) => each.file === name), name);
    compared += 1;
    findings += found.findings.length;
  }
  assert.ok(compared > 100 && findings > 100, `${compared} files, ${findings} findings`);
  context.diagnostic(`${compared} files compared, ${findings} findings, all equal`);
});

test("safe fixes give the text that rubric-fix gives", (context) => {
  const texts = new Map(names.map((name) => [name, textOf(name)]).filter(([, text]) => text !== null));
  const fixed = new Map([...texts].map(([name, text]) => [name, ask({ do: "fix-all", name, text }).text ?? text]));
  const native = spawnSync(join(BIN, "rubric-fix"), ["--isolated", "--quiet", "."], { cwd: folder, encoding: "utf8" });
  assert.doesNotMatch(native.stderr, /^(?!rubric-fix: (\S+: not fixed: \S+ syntax: |\S+: not checked: |`rubric-lint show` lists )).+/m);
  for (const [name, text] of fixed) {
    assert.equal(text, textOf(name), name);
  }
  const changed = [...texts].filter(([name, text]) => fixed.get(name) !== text).length;
  assert.ok(changed > 10, `${changed} changed`);
  context.diagnostic(`${texts.size} files, ${changed} of them changed`);
});

test("a text that is not Unicode and a request for a fix that is not there are answered in words", () => {
  const name = "a.rubric.yaml";
  const [finding] = ask({ do: "lint", name, text: "rubrics: \ud800" }).report.findings;
  assert.match(finding.message, /is not UTF-8/);
  const text = "rubrics:\n  - id: a\n    expected_outcome: Good\n";
  const none = ask({ do: "fix-one", name, text, finding: 0, choice: "" });
  assert.deepEqual(none, { text: null, diff: "", troubles: ["this finding has no fix"] });
});
