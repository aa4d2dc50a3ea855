/** What runs on a computer: an installed tool if there is one, in a process, else the built-in server, in a thread. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import * as vscode from "vscode";
import { PortMessageReader, PortMessageWriter, StreamMessageReader, StreamMessageWriter } from "vscode-languageclient/node";

import { driveOf } from "./builtin/uris";
import type { Given } from "./builtin/worker";
import { type Complaint, complaint, limitsOf, listTried, replaced } from "./complaint";
import type { End, Host } from "./host";
import { selectedInterpreter } from "./interpreter";
import type { Choice } from "./launcher";
import { asText, find, isOrder, safeEnvironment, type Search } from "./search";
import type { Tool } from "./tool";

/** The folders of the extension on this computer. */
export interface Home {
  /** The folder that the extension is installed in. */
  readonly extension: string;
  /** The environment that the extension installs rubric-lint into. */
  readonly own: string;
  /** The version of the extension, of its built-in server, and of what it installs. */
  readonly version: string;
}

/**
 * Chooses what to run; writes where it looked in vain to the output. A setting is an order: where it cannot be followed,
 * nothing runs. In place of an installed one that was only found, the built-in one runs.
 */
export async function choose(home: Home, output: vscode.LogOutputChannel, unusable?: Complaint): Promise<Choice> {
  const folders = localFolders();
  const builtIn = (reason: string, canInstall: boolean, complaint?: Complaint): Choice => {
    const start = (): Promise<Host> => Promise.resolve(startBuiltIn(home.extension, folders, output));
    return { kind: "built-in", reason, canInstall, complaint, start };
  };
  if (!vscode.workspace.isTrusted) {
    return builtIn("Trust this workspace to use an installed rubric-lint", false);
  }
  if (folders.length === 0 && vscode.workspace.workspaceFolders?.length) {
    return builtIn("No program can run in a virtual workspace, so there are no tasks and no code lenses", false);
  }
  const search = await makeSearch(home, output);
  const make = (complaint: Complaint): Choice =>
    isOrder(search) ? { kind: "none", complaint } : builtIn(complaint.brief, false, replaced(complaint));
  if (unusable) {
    return make(unusable);
  }
  const outcome = await find(search);
  if (outcome.kind === "missing") {
    for (const line of listTried(outcome.tried)) {
      output.info(line);
    }
    return builtIn("No installed rubric-lint found", true);
  }
  if (outcome.kind !== "found") {
    return make(complaint(outcome));
  }
  const { tool, version } = outcome;
  const limits = limitsOf((vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme));
  return { kind: "installed", tool, version, limits, start: () => startTool(tool, search.folders[0], output) };
}

/** Where to look for an installed tool. */
export async function makeSearch(home: Home, output: vscode.LogOutputChannel): Promise<Search> {
  const folders = localFolders();
  const settings = vscode.workspace.getConfiguration("rubric-lint", folders[0] ?? null);
  return {
    path: asText(settings.get("path")),
    interpreter: asText(settings.get("interpreter")),
    selected: await selectedInterpreter(folders[0], output),
    own: home.own,
    version: home.version,
    folders: folders.map((folder) => path.normalize(folder.fsPath)),
    environment: process.env,
    platform: process.platform,
  };
}

function localFolders(): vscode.Uri[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri).filter((uri) => uri.scheme === "file");
}

/** Starts the server of a tool; rejects if the program cannot be run. */
async function startTool(tool: Tool, folder: string | undefined, output: vscode.LogOutputChannel): Promise<Host> {
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
  const transports = { reader: new StreamMessageReader(child.stdout), writer: new StreamMessageWriter(child.stdin) };
  return { transports, processId: process.pid, builtIn: undefined, ended, kill: () => child.kill() };
}

/** Starts the server that is a part of the extension, which is installed in this folder. */
function startBuiltIn(extension: string, folders: readonly vscode.Uri[], output: vscode.LogOutputChannel): Host {
  const opened = vscode.workspace.textDocuments.map((document) => document.uri);
  const given: Given = { drives: [...folders, ...opened].flatMap((uri) => driveOf(uri) ?? []) };
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
  return {
    transports: { reader: new PortMessageReader(worker), writer: new PortMessageWriter(worker) },
    processId: null,
    builtIn: {
      readsDisk: true,
      give: (files) => {
        worker.postMessage({ files });
      },
    },
    ended,
    kill: () => void worker.terminate(),
  };
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
