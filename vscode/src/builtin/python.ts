/** Starts the language server in Pyodide; knows neither Node.js nor the browser, nor VS Code. */
import { FOLDER, openImage, writeFiles } from "../../../playground/src/image.mjs";

/** What is used of Emscripten's file system. */
export interface FileSystem {
  readonly filesystems: { readonly NODEFS?: NodeFileSystem };
  readonly ErrnoError: new (code: number) => Error;
  mkdirTree(path: string): void;
  mount(type: unknown, options: { readonly root: string }, path: string): void;
  writeFile(path: string, content: Uint8Array): void;
  analyzePath(path: string): { readonly exists: boolean };
  unlink(path: string): void;
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
  loadPyodide(options: { readonly indexURL: string; readonly createPyodideModule?: unknown }): Promise<Pyodide>;
}

/** A file that the server cannot read by itself, at the path that it has there; without a content it is gone. */
export interface GivenFile {
  readonly path: string;
  readonly content: Uint8Array | undefined;
}

/** Takes a message of the protocol, or files; returns false once the server has been told to exit. */
export type Take = (message: object) => boolean;

/** In a folder that is Python's own: no folder of the user's hides it, see `disk.ts`. */
const PACKAGES = "/lib/rubric-lint";

const START = `
import marshal, os, sys
sys.path.insert(0, "${PACKAGES}")
sys.dont_write_bytecode = True
os.chdir("/")
import attr._make
with open("${PACKAGES}/classes", "rb") as file:
    compiled = marshal.load(file)
# What attrs would compile for each class of the protocol, in up to half a second, was compiled with the extension.
attr._make.compile = lambda source, *rest: compiled.get(source) or compile(source, *rest)
from rubric_lint.editor.features import Server
del attr._make.compile, compiled
Server().attach
`;

/** Starts the server, which passes each of its messages to `send`. The image has its packages. */
export function startServer(pyodide: Pyodide, image: Uint8Array, send: (message: unknown) => void): Take {
  const { files } = openImage(image);
  writeFiles(pyodide.FS, files.map(([path, content]) => [PACKAGES + path.slice(FOLDER.length), content] as const));
  const attach = pyodide.runPython(START) as (send: (message: string) => void) => (message: string) => boolean;
  const receive = attach((message) => {
    send(JSON.parse(message));
  });
  return (message) => {
    if (!("files" in message)) {
      return receive(JSON.stringify(message));
    }
    for (const file of message.files as readonly GivenFile[]) {
      write(pyodide.FS, file);
    }
    return true;
  };
}

/** Writes a file anew, so that it differs from what was there even if its size and time are the same. */
function write(fs: FileSystem, { path, content }: GivenFile): void {
  if (fs.analyzePath(path).exists) {
    fs.unlink(path);
  }
  if (content) {
    fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    fs.writeFile(path, content);
  }
}
