/** Keeps one server running: finds the tool, starts it, starts it again when it ends, and says so when that is no use. */
import * as path from "node:path";
import * as vscode from "vscode";

import { Backoff } from "./backoff";
import { Connection, type End } from "./connection";
import { complaint, type Complaint, complaintOfEnd, describe } from "./complaint";
import { selectedInterpreter } from "./interpreter";
import { schemasAreChecked } from "./schemas";
import type { Status } from "./status";
import { find, type Search, type Tool } from "./tool";

/** The server of this window. */
export class Server {
  readonly #backoff = new Backoff();
  readonly #output: vscode.LogOutputChannel;
  readonly #status: Status;
  readonly #tell: (complaint: Complaint | undefined) => void;
  #connection: Connection | undefined;
  #tool: Tool | undefined;
  #retry: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  /** `tell` is given what is wrong, and nothing once that may be mended. */
  constructor(output: vscode.LogOutputChannel, status: Status, tell: (complaint: Complaint | undefined) => void) {
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
    if (!vscode.workspace.isTrusted) {
      this.#status.schemasOnly("Trust this workspace to see findings");
      return;
    }
    if (folders.length === 0 && vscode.workspace.workspaceFolders?.length) {
      this.#status.schemasOnly("No program can run in a virtual workspace");
      return;
    }
    this.#status.starting();
    const outcome = await find(await this.#search(folders));
    if (outcome.kind !== "found") {
      this.#complain(complaint(outcome));
      return;
    }
    const { tool, version } = outcome;
    this.#tool = tool;
    const command = [tool.command, ...tool.arguments, "lsp"].join(" ");
    this.#output.info(`Starting rubric-lint ${version} from ${tool.origin}: ${command}`);
    const connection = await Connection.open(tool, folders[0]?.fsPath, this.#output, (end) => {
      this.#ended(tool, end);
    });
    if (connection.isOpen) {
      this.#connection = connection;
      this.#status.running(version, tool.origin);
    }
  }

  async #end(): Promise<void> {
    clearTimeout(this.#retry);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  #ended(tool: Tool, end: End): void {
    this.#connection = undefined;
    // Exit code 2 is wrong use, such as a part that is not installed: the next start would end in the same way.
    const delay = end.code === 2 ? undefined : this.#backoff.next(Date.now());
    if (delay === undefined) {
      this.#complain(complaintOfEnd(tool, end, this.#backoff.count));
      return;
    }
    this.#status.starting();
    this.#output.warn(`The server crashed (${describe(end)}). It restarts in ${String(delay / 1000)} s.`);
    this.#retry = setTimeout(() => void this.#inTurn(() => this.#start()), delay);
  }

  async #search(folders: readonly vscode.Uri[]): Promise<Search> {
    const settings = vscode.workspace.getConfiguration("rubric-lint", folders[0] ?? null);
    return {
      path: settings.get("path", "").trim(),
      interpreter: settings.get("interpreter", "").trim(),
      selected: await selectedInterpreter(folders[0], this.#output),
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
