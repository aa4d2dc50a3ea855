/** What a server runs in: a process of an installed tool, or a thread of the editor's own for the built-in one. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import type * as vscode from "vscode";
import { type MessageTransports, PortMessageReader, PortMessageWriter } from "vscode-languageclient/node";

import { driveOf } from "./builtin/uris";
import type { Given } from "./builtin/worker";
import { safeEnvironment, type Tool } from "./tool";

/** How a server ended by itself. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last line it wrote to standard error. */
  readonly lastWords: string;
}

/** A server that has been started. */
export interface Host {
  readonly server: ChildProcess | MessageTransports;
  /** Whether it sees files under other names, see `builtin/uris.ts`. */
  readonly isBuiltIn: boolean;
  /** Resolves when it has ended and the last of standard error has been read. */
  readonly ended: Promise<End>;
  kill(): void;
}

/** Starts the server of a tool; rejects if the program cannot be run. */
export async function startTool(tool: Tool, folder: string | undefined, output: vscode.LogOutputChannel): Promise<Host> {
  const child = spawn(tool.command, [...tool.arguments, "lsp"], {
    cwd: folder,
    env: safeEnvironment(process.env),
    shell: false,
    windowsHide: true,
  });
  const lastWords = listen(child.stderr, output);
  // `close` comes after the last of standard error was read; `exit` may come before it.
  const ended = new Promise<End>((resolve) =>
    child.once("close", (code, signal) => {
      resolve({ code, signal, lastWords: lastWords() });
    }),
  );
  await once(child, "spawn");
  return { server: child, isBuiltIn: false, ended, kill: () => child.kill() };
}

/** Starts the server that is a part of the extension, which is installed in this folder. */
export function startBuiltIn(extension: string, folders: readonly vscode.Uri[], output: vscode.LogOutputChannel): Host {
  const given: Given = { drives: folders.flatMap((folder) => driveOf(folder) ?? []) };
  const worker = new Worker(path.join(extension, "dist/builtin/worker.mjs"), { workerData: given, stdout: true, stderr: true });
  listen(worker.stdout, output);
  const lastWords = listen(worker.stderr, output);
  let fault = "";
  worker.on("error", (error) => {
    fault = error.message;
    output.error(error.stack ?? error.message);
  });
  const ended = new Promise<End>((resolve) =>
    worker.once("exit", (code) => {
      resolve({ code, signal: null, lastWords: fault || lastWords() });
    }),
  );
  const server = { reader: new PortMessageReader(worker), writer: new PortMessageWriter(worker) };
  return { server, isBuiltIn: true, ended, kill: () => void worker.terminate() };
}

/** Writes the lines of a stream to the output; returns what gives the last one. */
function listen(stream: Readable, output: vscode.LogOutputChannel): () => string {
  let last = "";
  createInterface({ input: stream }).on("line", (line) => {
    output.error(line);
    last = line.trim() || last;
  });
  return () => last;
}
