/** Names of files, there and back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { driveOf, fromServer, toServer } from "../../src/builtin/uris";

const file = (path: string) => ({ scheme: "file", authority: "", path });

describe("a file as the built-in server sees it", () => {
  for (const [name, uri, expected] of [
    ["of a POSIX system, is itself", file("/home/a b/x.yaml"), "/home/a b/x.yaml"],
    ["of a drive, is below a folder of drives", file("/C:/Users/x.yaml"), "/drives/c/Users/x.yaml"],
    ["that is a drive, is its folder", file("/d:"), "/drives/d"],
    [
      "of a virtual workspace, is below its scheme and authority",
      { scheme: "vscode-vfs", authority: "github+a/b", path: "/o/r/x.yaml" },
      "/virtual/vscode-vfs/github%2Ba%2Fb/o/r/x.yaml",
    ],
    ["of a share of another computer, is there too", { ...file("/share/x.yaml"), authority: "server" }, "/virtual/file/server/share/x.yaml"],
    ["without an authority, too", { scheme: "memfs", authority: "", path: "/x.yaml" }, "/virtual/memfs/-/x.yaml"],
  ] as const) {
    it(name, () => {
      assert.deepEqual(toServer(uri, true), file(expected));
      const back = fromServer(toServer(uri, true));
      assert.deepEqual({ ...back, path: back.path.toLowerCase() }, { ...uri, path: uri.path.toLowerCase() });
    });
  }

  it("of a disk that a browser shows, is below its scheme, so that it hides nothing of Python's own", () => {
    const uri = file("/lib/x.yaml");
    assert.deepEqual(toServer(uri, false), file("/virtual/file/-/lib/x.yaml"));
    assert.deepEqual(fromServer(toServer(uri, false)), uri);
  });

  it("that was never saved, has no file", () => {
    const uri = { scheme: "untitled", authority: "", path: "Untitled-1" };
    assert.deepEqual([toServer(uri, true), toServer(uri, false), fromServer(uri)], [uri, uri, uri]);
  });

  it("is on a drive, or on none", () => {
    assert.deepEqual([file("/C:/a"), file("/c/a"), { ...file("/c:/a"), scheme: "vscode-vfs" }].map(driveOf), ["c", undefined, undefined]);
  });
});
