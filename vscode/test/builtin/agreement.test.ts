/** What the built-in server finds and mends is what the native one does, in Node.js and in a browser: on every realistic suite and example. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";

import { launch, serve, type Site } from "../serve";
import { BIN, LAST, ROOT, Server } from "./servers";

async function timed<T>(act: () => Promise<T>): Promise<[result: T, ms: number]> {
  const began = performance.now();
  return [await act(), Math.round(performance.now() - began)];
}

/** The files that are checked. */
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "built in é ")));
const RENAMED = path.join(folder, "summary.rubric.yaml");
let native: Server;
let nativeStart: number;

before(async () => {
  execFileSync(path.join(BIN, "python"), [path.join(ROOT, "playground/test/files.py"), folder]);
  writeFileSync(path.join(folder, "rubric-lint.toml"), 'ignore = ["vague-outcome"]\n');
  copyFileSync(path.join(ROOT, "examples/summary.rubric.yaml"), RENAMED);
  const largest = Math.max(...readdirSync(folder, { recursive: true }).map((name) => statSync(path.join(folder, String(name))).size));
  writeFileSync(path.join(folder, LAST), `rubrics:\n  - expected_outcome: ''\n#${" ".repeat(largest)}\n`);
  [native, nativeStart] = await begin(() => Promise.resolve(Server.native()));
});

after(() => {
  native.end();
  rmSync(folder, { recursive: true });
});

function begin(make: () => Promise<Server>): Promise<[server: Server, ms: number]> {
  return timed(async () => {
    const server = await make();
    await server.start(folder);
    return server;
  });
}

it("the package is small", (context) => {
  const size = (folder: string): number => readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
  const packed = statSync("rubric-lint.vsix").size;
  assert.ok(packed < 13_000_000, `the package has ${String(packed)} bytes`);
  context.diagnostic(`${(packed / 1e6).toFixed(1)} MB; what is built in has ${(size("dist/builtin") / 1e6).toFixed(1)} MB unpacked`);
});

let browser: Browser | undefined;
let site: Site | undefined;

after(async () => {
  await browser?.close();
  site?.close();
});

/** All files of the folder are handed over, as the extension does with those of a workspace in a browser. */
async function startInBrowser(): Promise<Server> {
  browser ??= await launch();
  site ??= await serve((name) => (name.startsWith("/builtin/") ? { file: path.resolve("dist", name.slice(1)) } : { text: "" }));
  const page = await browser.newPage();
  await page.goto(site.url);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name));
  return Server.inBrowser(page, `${site.url}/builtin/`, files);
}

for (const [place, make] of [
  ["in Node.js", () => Promise.resolve(Server.builtIn())],
  ["in a browser", startInBrowser],
] as const) {
  describe(`the built-in server ${place}`, () => {
    let builtIn: Server;
    let start: number;

    before(async () => {
      [builtIn, start] = await begin(make);
    });

    after(() => {
      builtIn.end();
    });

    it("has the findings of the native one in every file, with their settings", async (context) => {
      context.diagnostic(`it answered after ${String(start)} ms, the native one after ${String(nativeStart)} ms`);
      const [theirs, ours] = [await native.lint(), await builtIn.lint()];
      assert.deepEqual(ours, theirs);
      const count = ours.reduce((sum, { items }) => sum + items.length, 0);
      assert.ok(ours.length > 100 && count > 100, `${String(ours.length)} files, ${String(count)} findings`);
      context.diagnostic(`${String(count)} findings in ${String(ours.length)} files, all equal`);
    });

    it("offers the fixes of the native one, with the same edits", async (context) => {
      let count = 0;
      const times = [0, 0];
      for (const { uri } of await native.lint()) {
        let text: string;
        try {
          text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(new URL(uri)));
        } catch {
          continue; // an editor cannot open it either
        }
        const [theirs, nativeTime] = await timed(() => native.fixes(uri, text));
        const [ours, time] = await timed(() => builtIn.fixes(uri, text));
        const edits = theirs.filter(({ command }) => !command); // commands run programs, which are not built in
        assert.deepEqual(ours, edits, uri);
        count += ours.length;
        times[0] = (times[0] ?? 0) + nativeTime;
        times[1] = (times[1] ?? 0) + time;
      }
      assert.ok(count > 100, `${String(count)} actions`);
      context.diagnostic(`${String(count)} fixes, all equal; ${String(times[1])} ms, native ${String(times[0])} ms`);
    });

    it("renames as the native one, and offers no commands that run programs", async () => {
      const text = readFileSync(RENAMED, "utf8");
      const uri = pathToFileURL(RENAMED).href;
      const edit = await builtIn.rename(uri, text, "another-name");
      assert.ok(edit);
      assert.deepEqual(edit, await native.rename(uri, text, "another-name"));
      assert.deepEqual(await builtIn.press(uri, text), {
        offered: null,
        told: { type: 3, message: "rubric-lint: this command runs a program, which needs an installed rubric-lint" },
      });
    });

    it("logged nothing", () => {
      assert.deepEqual([builtIn.log, native.log], [[], []]);
    });
  });
}
