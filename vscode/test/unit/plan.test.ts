/** How an installation is planned, with real programs on a real PATH; the fakes are shell scripts. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, describe, it } from "node:test";

import { planInstallation } from "../../src/plan";
import type { Search } from "../../src/search";

const room = realpathSync(mkdtempSync(path.join(tmpdir(), "plan é ")));
after(() => {
  rmSync(room, { recursive: true });
});

let count = 0;

/** A folder with programs that end with these codes. */
function programs(codes: Readonly<Record<string, number>>): string {
  const folder = path.join(room, String(++count));
  mkdirSync(folder);
  for (const [name, code] of Object.entries(codes)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\nexit ${String(code)}\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  return folder;
}

function search(PATH: string, selected?: string): Search {
  return { path: "", interpreter: "", selected, own: "", version: "1.2.3", folders: [], environment: { PATH }, platform: "linux" };
}

const pip = { command: "/own/bin/python", arguments: ["-m", "pip", "install", "--disable-pip-version-check", "rubric-lint[lsp]==1.2.3"] };

describe("an installation", () => {
  it("uses uv, which brings a Python along where there is none", async () => {
    const folder = programs({ uv: 0, python3: 0 });
    const uv = path.join(folder, "uv");
    assert.deepEqual(await planInstallation("/own", "1.2.3", search(folder)), [
      { command: uv, arguments: ["venv", "--clear", "--no-project", "--python", ">=3.11", "/own"] },
      { command: uv, arguments: ["pip", "install", "--python", "/own/bin/python", "rubric-lint[lsp]==1.2.3"] },
    ]);
  });

  it("uses the selected Python, then the first on PATH that is new enough", async () => {
    const folder = programs({ python3: 1, python: 0 });
    const command = path.join(folder, "python");
    const expected = (command: string) => [{ command, arguments: ["-m", "venv", "--clear", "/own"] }, pip];
    assert.deepEqual(await planInstallation("/own", "1.2.3", search(folder)), expected(command));
    const selected = path.join(programs({ mine: 0 }), "mine");
    assert.deepEqual(await planInstallation("/own", "1.2.3", search(folder, selected)), expected(selected));
  });

  it("is not possible without either", async () => {
    assert.equal(await planInstallation("/own", "1.2.3", search(programs({ python3: 1 }), "/nowhere/python")), undefined);
  });
});
