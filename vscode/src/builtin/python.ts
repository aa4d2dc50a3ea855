/** Starts the language server in Pyodide; knows neither Node.js nor the browser, nor VS Code. */

/** What is used of Emscripten's file system. */
export interface FileSystem {
  readonly filesystems: { readonly NODEFS?: NodeFileSystem };
  readonly ErrnoError: new (code: number) => Error;
  mkdirTree(path: string): void;
  mount(type: unknown, options: { readonly root: string }, path: string): void;
  writeFile(path: string, content: Uint8Array): void;
}

/** The functions with which Emscripten reads and writes the disk of this computer. */
export interface NodeFileSystem {
  readonly node_ops: Record<string, unknown>;
  readonly stream_ops: Record<string, unknown>;
}

/** What is used of Pyodide. */
export interface Pyodide {
  readonly FS: FileSystem;
  runPython(code: string): unknown;
}

/** The module `pyodide.mjs`. */
export interface PyodideModule {
  loadPyodide(options: { readonly indexURL: string }): Promise<Pyodide>;
}

/** Hands the server a message, which is JSON; returns false once it has been told to exit. */
export type Give = (message: string) => boolean;

/** In a folder that is Python's own: no folder of the user's hides it, see `disk.ts`. */
const PACKAGES = "/lib/rubric-lint";
const ARCHIVE = `${PACKAGES}.zip`;

const START = `
import os, sys, zipfile
with zipfile.ZipFile("${ARCHIVE}") as archive:
    archive.extractall("${PACKAGES}")
os.unlink("${ARCHIVE}")
sys.path.insert(0, "${PACKAGES}")
sys.dont_write_bytecode = True
os.chdir("/")
from rubric_lint.lsp.server import Server
Server().attach
`;

/** Starts the server, which passes each of its messages to `send`, as JSON. */
export function startServer(pyodide: Pyodide, packages: Uint8Array, send: (message: string) => void): Give {
  pyodide.FS.writeFile(ARCHIVE, packages);
  const attach = pyodide.runPython(START) as (send: (message: string) => void) => Give;
  return attach(send);
}
