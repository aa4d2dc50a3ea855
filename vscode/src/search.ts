/** Finds the rubric-lint program that the command line would run; knows nothing of VS Code. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import * as path from "node:path";

import { type Answer, isAtLeast, OLDEST, type Outcome, type Tool } from "./tool";

/** What is known about where to look; empty text means that a setting is not made. */
export interface Search {
  readonly path: string;
  readonly interpreter: string;
  /** The interpreter that is selected in the editor, if something can tell. */
  readonly selected: string | undefined;
  /** The environment that the extension installs rubric-lint into. */
  readonly own: string;
  /** The version that it installs there. */
  readonly version: string;
  /** The file system paths of the folders that are open. */
  readonly folders: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

const PATIENCE_MS = 30_000;
const OWN = "the folder of the extension";

/** A setting as text; whatever else a user wrote is a path that leads nowhere, which is then said. */
export function asText(written: unknown): string {
  if (written === undefined || written === null) {
    return "";
  }
  return typeof written === "string" ? written.trim() : JSON.stringify(written);
}

/** Whether a setting says what to run. */
export function isOrder(search: Search): boolean {
  return search.path !== "" || search.interpreter !== "";
}

/** Where to look, in order. A setting is an order: nothing else is tried. */
export async function candidates(search: Search): Promise<Tool[]> {
  if (search.path) {
    const isName = !/[/\\~$]/.test(search.path);
    const command = isName ? ((await which(search.path, search)) ?? search.path) : expand(search.path, search);
    return [program(command, "the setting rubric-lint.path")];
  }
  if (search.interpreter) {
    return [module(expand(search.interpreter, search), "the setting rubric-lint.interpreter")];
  }
  const found: Tool[] = [];
  if (search.selected) {
    found.push(module(search.selected, "the selected Python interpreter"));
  }
  for (const folder of search.folders) {
    for (const name of [".venv", "venv"]) {
      const python = pythonIn(path.join(folder, name), search.platform);
      if (python !== search.selected && (await isRunnable(python))) {
        found.push(module(python, `${name} in ${path.basename(folder)}`));
      }
    }
  }
  const onPath = await which("rubric-lint", search);
  if (onPath) {
    found.push(program(onPath, "PATH"));
  }
  const own = pythonIn(search.own, search.platform);
  if (await isRunnable(own)) {
    found.push(module(own, OWN));
  }
  return found;
}

/** The interpreter of a virtual environment. */
export function pythonIn(environment: string, platform: NodeJS.Platform): string {
  return path.join(environment, ...(platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
}

/**
 * Asks the candidates in order; the first that has a rubric-lint decides, even if it is of no use. What the extension has
 * installed itself counts only in the version of the extension, because it can be installed anew.
 */
export async function find(search: Search): Promise<Outcome> {
  const tried: Answer[] = [];
  for (const tool of await candidates(search)) {
    const answer = tool.origin === OWN ? await askOwn(tool, search) : await ask(tool, search);
    if (answer.kind !== "absent") {
      return answer;
    }
    tried.push(answer);
    if (isOrder(search)) {
      return { ...answer, kind: "broken" };
    }
  }
  return { kind: "missing", tried };
}

/** The environment of a Python that takes no module from the folder it is started in. */
export function safeEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...environment, PYTHONSAFEPATH: "1" };
}

async function askOwn(tool: Tool, search: Search): Promise<Answer> {
  const answer = await ask(tool, search);
  if (answer.kind === "found" && answer.version === search.version) {
    return answer;
  }
  const reason = "reason" in answer ? answer.reason : `it has version ${answer.version}, and this is ${search.version}`;
  return { kind: "absent", tool, reason };
}

async function ask(tool: Tool, search: Search): Promise<Answer> {
  const { failure, stdout, stderr } = await run(tool, [...tool.arguments, "--version"], search);
  const version = /^rubric-lint,? (?:version )?(\d+(?:\.\d+)*\S*)/m.exec(stdout)?.[1];
  if (!failure && version) {
    return { kind: isAtLeast(version, OLDEST) ? "found" : "old", tool, version };
  }
  if (failure?.code === "ENOENT") {
    return { kind: "absent", tool, reason: "there is no such file" };
  }
  if (/No module named '?rubric_lint'?$/m.test(stderr)) {
    return { kind: "absent", tool, reason: "rubric-lint is not installed there" };
  }
  const reason = failure?.killed
    ? `it gave no answer in ${String(PATIENCE_MS / 1000)} seconds`
    : failure?.code === "EACCES"
      ? "it is not a program that you may run"
      : (lastLine(stderr) ?? failure?.message ?? `it printed no version but: ${lastLine(stdout) ?? "nothing"}`);
  const isPython = tool.arguments.length > 0;
  if (isPython && failure && !failure.killed && (await run(tool, ["-c", ""], search)).failure) {
    return { kind: "absent", tool, reason: `this Python does not work: ${reason}` };
  }
  return { kind: "broken", tool, reason };
}

interface Run {
  readonly failure: { readonly code?: unknown; readonly killed?: boolean; readonly message: string } | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(tool: Tool, given: string[], search: Search): Promise<Run> {
  const options = {
    cwd: search.folders[0],
    env: safeEnvironment(search.environment),
    shell: false,
    timeout: PATIENCE_MS,
    windowsHide: true,
  };
  return new Promise((resolve) => {
    execFile(tool.command, given, options, (failure, stdout, stderr) => {
      resolve({ failure, stdout, stderr });
    }).stdin?.end();
  });
}

function program(command: string, origin: string): Tool {
  return { command, arguments: [], origin };
}

function module(python: string, origin: string): Tool {
  return { command: python, arguments: ["-m", "rubric_lint"], origin };
}

/** A path as the settings may write it: `~`, `${workspaceFolder}`, or relative to the first folder. */
function expand(written: string, search: Search): string {
  const folder = search.folders[0];
  const home = search.environment["HOME"] ?? search.environment["USERPROFILE"] ?? "~";
  const expanded = written
    .replace(/^~(?=[/\\]|$)/, () => home)
    .replace("${workspaceFolder}", () => folder ?? "${workspaceFolder}");
  return path.isAbsolute(expanded) || !folder ? expanded : path.join(folder, expanded);
}

/** The first program of that name on PATH. A relative entry is left out: it would let the open folder choose it. */
export async function which(name: string, search: Search): Promise<string | undefined> {
  const suffix = search.platform === "win32" && !name.toLowerCase().endsWith(".exe") ? ".exe" : "";
  for (const folder of (search.environment["PATH"] ?? "").split(path.delimiter)) {
    const file = path.join(folder, name + suffix);
    if (path.isAbsolute(folder) && (await isRunnable(file))) {
      return file;
    }
  }
  return undefined;
}

async function isRunnable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function lastLine(text: string): string | undefined {
  const line = text.trimEnd().split("\n").at(-1)?.trim();
  return line === "" ? undefined : line;
}
