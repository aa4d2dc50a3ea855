/** Keeps one server running: finds the tool, starts it, starts it again when it ends, and says so when that is no use. */
import * as path from "node:path";
import * as vscode from "vscode";

import { Backoff } from "./backoff";
import { complaint, type Complaint, complaintOfEnd, describe, listTried } from "./complaint";
import { Connection } from "./connection";
import { type End, type Host, startBuiltIn, startTool } from "./host";
import { selectedInterpreter } from "./interpreter";
import { schemasAreChecked } from "./schemas";
import type { Status } from "./status";
import { find, type Search, type Tool } from "./tool";

/** The parts of the extension's surroundings that a server needs. */
export interface Home {
  /** The folder that the extension is installed in. */
  readonly extension: string;
  /** The version of the extension, which is that of the built-in server. */
  readonly version: string;
  /** The environment that the extension installs rubric-lint into. */
  readonly own: string;
}

/** The server of this window. */
export class Server {
  readonly #backoff = new Backoff();
  readonly #home: Home;
  readonly #output: vscode.LogOutputChannel;
  readonly #status: Status;
  readonly #tell: (complaint: Complaint | undefined) => void;
  #connection: Connection | undefined;
  #tool: Tool | undefined;
  #retry: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  /** `tell` is given what is wrong, and nothing once that may be mended. */
  constructor(home: Home, output: vscode.LogOutputChannel, status: Status, tell: (complaint: Complaint | undefined) => void) {
    this.#home = home;
    this.#output = output;
    this.#status = status;
    this.#tell = tell;
  }

  /** Whether a server runs now. */
  get isRunning(): boolean {
    return this.#connection !== undefined;
  }

  /** The tool that the server was last started from. */
  get tool(): Tool | undefined {
    return this.#tool;
  }

  /** Starts the server anew because something was changed or the user wants it: all that went wrong before is forgotten. */
  restart(): Promise<void> {
    this.#backoff.reset();
    return this.#inTurn(() => this.#start());
  }

  /** Ends the server. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  /** Passes on whether another server checks the schemas. */
  async schemasMayBeChecked(): Promise<void> {
    await this.#connection?.tellSchemasAreChecked(schemasAreChecked());
  }

  /** One after the other: a restart while a start is under way waits for it. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(act).catch((error: unknown) => {
      this.#output.error(String(error));
      this.#status.failed(String(error));
    });
    return this.#turn;
  }

  async #start(): Promise<void> {
    await this.#end();
    this.#tool = undefined;
    this.#tell(undefined);
    const folders = localFolders();
    this.#status.starting();
    if (!vscode.workspace.isTrusted) {
      await this.#startBuiltIn("Trust this workspace to use an installed rubric-lint", false);
      return;
    }
    if (folders.length === 0 && vscode.workspace.workspaceFolders?.length) {
      await this.#startBuiltIn("No program can run in a virtual workspace", false);
      return;
    }
    const search = await this.search();
    const outcome = await find(search);
    if (outcome.kind === "missing") {
      for (const line of listTried(outcome.tried)) {
        this.#output.info(line);
      }
      await this.#startBuiltIn("No installed rubric-lint found", true);
      return;
    }
    if (outcome.kind !== "found") {
      this.#complain(complaint(outcome));
      return;
    }
    const { tool, version } = outcome;
    this.#tool = tool;
    const command = [tool.command, ...tool.arguments, "lsp"].join(" ");
    this.#output.info(`Starting rubric-lint ${version} from ${tool.origin}: ${command}`);
    if (await this.#connect(await startTool(tool, search.folders[0], this.#output), tool)) {
      this.#status.running(version, tool.origin);
    }
  }

  async #startBuiltIn(reason: string, canInstall: boolean): Promise<void> {
    const { extension, version } = this.#home;
    this.#output.info(`Starting the built-in rubric-lint ${version}. ${reason}.`);
    const began = Date.now();
    if (await this.#connect(startBuiltIn(extension, localFolders(), this.#output), undefined)) {
      this.#output.info(`The built-in rubric-lint started in ${String(Date.now() - began)} ms.`);
      this.#status.builtIn(version, reason, canInstall);
    }
  }

  /** Returns whether the server runs. */
  async #connect(host: Host, tool: Tool | undefined): Promise<boolean> {
    const connection = await Connection.open(host, this.#output, (end) => {
      this.#ended(tool, end);
    });
    if (connection.isOpen) {
      this.#connection = connection;
    }
    return connection.isOpen;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#retry);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  #ended(tool: Tool | undefined, end: End): void {
    this.#connection = undefined;
    // Exit code 2 is wrong use, such as a part that is not installed: the next start would end in the same way.
    const delay = tool && end.code === 2 ? undefined : this.#backoff.next(Date.now());
    if (delay === undefined) {
      this.#complain(complaintOfEnd(tool, end, this.#backoff.count));
      return;
    }
    this.#status.starting();
    this.#output.warn(`The server crashed (${describe(end)}). It restarts in ${String(delay / 1000)} s.`);
    this.#retry = setTimeout(() => void this.#inTurn(() => this.#start()), delay);
  }

  /** Where to look for an installed tool. */
  async search(): Promise<Search> {
    const folders = localFolders();
    const settings = vscode.workspace.getConfiguration("rubric-lint", folders[0] ?? null);
    return {
      path: settings.get("path", "").trim(),
      interpreter: settings.get("interpreter", "").trim(),
      selected: await selectedInterpreter(folders[0], this.#output),
      own: this.#home.own,
      folders: folders.map((folder) => path.normalize(folder.fsPath)),
      environment: process.env,
      platform: process.platform,
    };
  }

  #complain(complaint: Complaint): void {
    this.#status.failed(complaint.brief);
    this.#output.error([complaint.message, ...complaint.details].join("\n"));
    this.#tell(complaint);
  }
}

function localFolders(): vscode.Uri[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri).filter((uri) => uri.scheme === "file");
}
