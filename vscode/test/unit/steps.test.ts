/** An installation that is under way, with shell scripts as its steps. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, describe, it } from "node:test";

import type { Step } from "../../src/plan";
import { runSteps } from "../../src/steps";

const room = realpathSync(mkdtempSync(path.join(tmpdir(), "steps é ")));
after(() => {
  rmSync(room, { recursive: true });
});

const sh = (code: string): Step => ({ command: "/bin/sh", arguments: ["-c", code, room] });
const unused = new AbortController().signal;

describe("an installation", () => {
  it("runs its steps in order, and logs them and what they print", async () => {
    const log: string[] = [];
    const steps = [sh("echo one; echo warning >&2"), sh('echo "$PYTHONSAFEPATH"')];
    const fault = await runSteps(steps, path.join(room, "new/tool"), (line) => log.push(line), unused);
    assert.equal(fault, undefined);
    assert.ok(existsSync(path.join(room, "new")));
    assert.deepEqual(log, [
      `/bin/sh -c echo one; echo warning >&2 ${room}`,
      "one",
      "warning",
      `/bin/sh -c echo "$PYTHONSAFEPATH" ${room}`,
      "1",
    ]);
  });

  it("ends with the step that fails, and with its last words", async () => {
    const steps = [sh("echo 'error: no route' >&2; echo '  Caused by: dns error.' >&2; exit 2"), sh('touch "$0/second"')];
    assert.equal(await runSteps(steps, path.join(room, "tool"), () => undefined, unused), "Caused by: dns error");
    assert.ok(!existsSync(path.join(room, "second")));
  });

  it("says that its folder cannot be made", async () => {
    writeFileSync(path.join(room, "file"), "");
    const fault = await runSteps([sh("true")], path.join(room, "file/globalStorage/tool"), () => undefined, unused);
    assert.match(fault ?? "", /^ENOTDIR: .*file\/globalStorage/);
  });

  it("ends when it is cancelled, and runs no further step", async () => {
    const abort = new AbortController();
    const began = Date.now();
    const steps = [sh("exec sleep 60"), sh('touch "$0/third"')];
    const running = runSteps(steps, path.join(room, "tool"), () => {
      abort.abort();
    }, abort.signal);
    assert.ok(await running);
    assert.ok(Date.now() - began < 30_000);
    assert.ok(!existsSync(path.join(room, "third")));
  });
});
