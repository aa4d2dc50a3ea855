/** Lets Python read the disk of this computer, and never write to it. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import * as path from "node:path";

import type { FileSystem, NodeFileSystem } from "./python";
import { DRIVES } from "./uris";

/** Folders that are Python's own. */
const RESERVED = new Set(["dev", "lib", "proc", "sys"]);
const READ_ONLY = 69; // EROFS, as WASI numbers it
const WRITING = 3; // the bits of the flags of `open` that ask to write

/** Mounts every folder below the root where Python looks for it; on Windows the drives with these letters. */
export function mountDisk(fs: FileSystem, drives: readonly string[]): void {
  const disk = fs.filesystems.NODEFS;
  if (!disk) {
    throw new Error("this Pyodide cannot read the disk");
  }
  forbidWriting(fs, disk);
  for (const [root, place] of process.platform === "win32" ? findDrives(drives) : findFolders()) {
    fs.mkdirTree(place);
    fs.mount(disk, { root }, place);
  }
}

/** The folders of a folder, and what it links to: on some systems `/tmp` and `/home` are links. */
export function findFolders(top = "/"): [root: string, path: string][] {
  const folders = readdirSync(top).filter((name) => !RESERVED.has(name) && isFolder(path.join(top, name)));
  return folders.map((name) => [realpathSync(path.join(top, name)), `/${name}`]);
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false; // a link that leads nowhere
  }
}

function findDrives(letters: readonly string[]): [root: string, path: string][] {
  return [...new Set(letters)].map((letter) => [`${letter}:\\`, `${DRIVES}/${letter}`]);
}

function forbidWriting(fs: FileSystem, disk: NodeFileSystem): void {
  const refuse = (): never => {
    throw new fs.ErrnoError(READ_ONLY);
  };
  for (const name of ["setattr", "mknod", "rename", "unlink", "rmdir", "symlink"]) {
    disk.node_ops[name] = refuse;
  }
  const open = disk.stream_ops["open"] as (stream: { readonly flags: number }) => void;
  disk.stream_ops["open"] = (stream: { readonly flags: number }) => {
    (stream.flags & WRITING ? refuse : open)(stream);
  };
  disk.stream_ops["write"] = refuse;
}
