/** Which folders of this computer the built-in server can read. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, it } from "node:test";

import { findFolders } from "../../src/builtin/disk";

const room = realpathSync(mkdtempSync(path.join(tmpdir(), "disk é ")));
after(() => {
  rmSync(room, { recursive: true });
});

it("are those at the top, also links, but for Python's own, files, and links that lead nowhere", () => {
  for (const folder of ["home", "private/tmp", "lib", "proc"]) {
    mkdirSync(path.join(room, folder), { recursive: true });
  }
  writeFileSync(path.join(room, "file"), "");
  symlinkSync("private/tmp", path.join(room, "tmp"));
  symlinkSync("file", path.join(room, "link"));
  symlinkSync("nowhere", path.join(room, "lost"));
  assert.deepEqual(findFolders(room), [
    [path.join(room, "home"), "/home"],
    [path.join(room, "private"), "/private"],
    [path.join(room, "private/tmp"), "/tmp"],
  ]);
});
