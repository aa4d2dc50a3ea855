/** Lets Python read the disk of this computer, and never write to it. */
import { readdirSync } from "node:fs";

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
  for (const [root, path] of process.platform === "win32" ? findDrives(drives) : findFolders()) {
    fs.mkdirTree(path);
    fs.mount(disk, { root }, path);
  }
}

function findFolders(): [root: string, path: string][] {
  const folders = readdirSync("/", { withFileTypes: true }).filter((entry) => entry.isDirectory() && !RESERVED.has(entry.name));
  return folders.map(({ name }) => [`/${name}`, `/${name}`]);
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
