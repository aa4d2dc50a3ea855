/** Keeps one server running: starts what is to run, starts it again when it ends, and says so when that is no use. */
import * as vscode from "vscode";

import { Backoff } from "./backoff";
import { type Complaint, complaintOfEnd, describe } from "./complaint";
import { Connection } from "./connection";
import type { End } from "./host";
import type { Choice, Launcher } from "./launcher";
import { type Schemas, schemasAreChecked } from "./schemas";
import type { Status } from "./status";
import type { Tool } from "./tool";

/** The server of this window. */
export class Server {
  readonly #backoff = new Backoff();
  readonly #launcher: Launcher;
  readonly #version: string;
  readonly #output: vscode.LogOutputChannel;
  readonly #schemas: Schemas;
  readonly #status: Status;
  readonly #tell: (complaint: Complaint | undefined) => void;
  #connection: Connection | undefined;
  #tool: Tool | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #turn: Promise<void> = Promise.resolve();

  /** `version` is that of the built-in server; `tell` is given what is wrong, and nothing once that may be mended. */
  constructor(
    launcher: Launcher,
    version: string,
    output: vscode.LogOutputChannel,
    schemas: Schemas,
    status: Status,
    tell: (complaint: Complaint | undefined) => void,
  ) {
    this.#launcher = launcher;
    this.#version = version;
    this.#output = output;
    this.#schemas = schemas;
    this.#status = status;
    this.#tell = tell;
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

  /** Starts the server anew if the one that runs, if any, cannot go on with other folders. */
  async foldersChanged(): Promise<void> {
    if (!this.#connection || this.#connection.isBuiltIn) {
      await this.restart();
    }
  }

  /** Ends the server. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#end());
  }

  /** Passes on whether another server checks the schemas, and the schemas to that. */
  async schemasMayBeChecked(): Promise<void> {
    void this.#schemas.offer();
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

  /** `unusable` is why the installed one that was started just now is of no use. */
  async #start(unusable?: Complaint): Promise<void> {
    await this.#end();
    this.#tool = undefined;
    this.#tell(undefined);
    this.#status.starting();
    const choice = await this.#launcher(unusable);
    if (choice.kind === "none") {
      this.#complain(choice.complaint);
      return;
    }
    this.#tool = choice.kind === "installed" ? choice.tool : undefined;
    this.#output.info(this.#announce(choice));
    if (choice.kind === "built-in" && choice.complaint) {
      this.#report(choice.complaint);
    }
    const began = Date.now();
    const connection = await Connection.open(await choice.start(), this.#output, this.#schemas, (end) => {
      this.#ended(end);
    });
    if (!connection.isOpen) {
      return;
    }
    this.#connection = connection;
    if (choice.kind === "installed") {
      this.#status.running(choice.version, choice.tool.origin + choice.limits);
    } else {
      this.#output.info(`The built-in rubric-lint started in ${String(Date.now() - began)} ms.`);
      this.#status.builtIn(this.#version, choice, []);
      void connection.whole.then((left) => {
        if (left.length > 0 && this.#connection === connection) {
          this.#status.builtIn(this.#version, choice, left);
        }
      });
    }
  }

  #announce(choice: Exclude<Choice, { kind: "none" }>): string {
    if (choice.kind === "built-in") {
      return `Starting the built-in rubric-lint ${this.#version}. ${choice.reason}.`;
    }
    const command = [choice.tool.command, ...choice.tool.arguments, "lsp"].join(" ");
    return `Starting rubric-lint ${choice.version} from ${choice.tool.origin}: ${command}`;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#retry);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  #ended(end: End): void {
    this.#connection = undefined;
    // Exit code 2 is wrong use, such as a part that is not installed: the next start would end in the same way.
    if (this.#tool && end.code === 2) {
      const complaint = complaintOfEnd(this.#tool, end, 0);
      void this.#inTurn(() => this.#start(complaint));
      return;
    }
    const delay = this.#backoff.next(Date.now());
    if (delay === undefined) {
      this.#complain(complaintOfEnd(this.#tool, end, this.#backoff.count));
      return;
    }
    this.#status.starting();
    this.#output.warn(`The server crashed (${describe(end)}). It restarts in ${String(delay / 1000)} s.`);
    this.#retry = setTimeout(() => void this.#inTurn(() => this.#start()), delay);
  }

  #complain(complaint: Complaint): void {
    this.#status.failed(complaint.brief);
    this.#report(complaint);
  }

  #report(complaint: Complaint): void {
    this.#output.error([complaint.message, ...complaint.details].join("\n"));
    this.#tell(complaint);
  }
}
