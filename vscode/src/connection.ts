/** One process of the server and the client that talks to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type * as vscode from "vscode";
import { CloseAction, type DocumentSelector, ErrorAction, LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

import { schemasAreChecked } from "./schemas";
import { safeEnvironment, type Tool } from "./tool";

/** The documents that the server is shown; which of them hold rubrics is for it to say. */
export const DOCUMENTS: DocumentSelector & vscode.DocumentSelector = ["file", "untitled"].flatMap((scheme) => [
  ...["yaml", "json", "jsonl", "jsonlines", "toml", "python"].map((language) => ({ scheme, language })),
  { scheme, pattern: "**/*.{yaml,yml,json,jsonl,py,pyi,pyw,ipynb,toml}" },
]);

const PATIENCE_MS = 30_000;

/** How a server ended by itself. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last line it wrote to standard error. */
  readonly lastWords: string;
}

/** A running server. */
export class Connection {
  readonly #client: Client;
  readonly #process: ChildProcess;
  #isOpen = true;

  private constructor(client: Client, child: ChildProcess) {
    this.#client = client;
    this.#process = child;
  }

  /** Starts the server; `ended` is called once if it ends without being asked to, also while it starts. */
  static async open(
    tool: Tool,
    folder: string | undefined,
    output: vscode.LogOutputChannel,
    ended: (end: End) => void,
  ): Promise<Connection> {
    const child = spawn(tool.command, [...tool.arguments, "lsp"], {
      cwd: folder,
      env: safeEnvironment(process.env),
      shell: false,
      windowsHide: true,
    });
    let lastWords = "";
    createInterface({ input: child.stderr }).on("line", (line) => {
      output.error(line);
      lastWords = line.trim() || lastWords;
    });
    // `close` comes after the last of standard error was read; `exit` may come before it.
    const closed = new Promise<void>((resolve) => child.once("close", () => { resolve(); }));
    await once(child, "spawn");
    const connection = new Connection(new Client(child, output), child);
    child.once("close", (code, signal) => {
      if (connection.#isOpen) {
        connection.#isOpen = false;
        ended({ code, signal, lastWords });
      }
    });
    const patience = setTimeout(() => {
      output.error(`The server did not answer within ${String(PATIENCE_MS / 1000)} s and was stopped.`);
      child.kill();
    }, PATIENCE_MS);
    try {
      await connection.#client.start();
    } catch (error) {
      output.error(`The server did not start: ${String(error)}`);
      child.kill();
      await closed;
    } finally {
      clearTimeout(patience);
    }
    return connection;
  }

  /** Whether the server runs and was not asked to end. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Tells the server whether another one checks the schemas in this editor. */
  async tellSchemasAreChecked(active: boolean): Promise<void> {
    if (this.#client.isRunning()) {
      await this.#client.sendNotification("rubric-lint/schemaServer", { active });
    }
  }

  /** Asks the server to end, and ends it if it does not. */
  async close(): Promise<void> {
    this.#isOpen = false;
    try {
      await this.#client.stop();
    } catch {
      this.#process.kill();
    }
  }
}

class Client extends LanguageClient {
  constructor(child: ChildProcess, output: vscode.LogOutputChannel) {
    const options: LanguageClientOptions = {
      documentSelector: DOCUMENTS,
      outputChannel: output,
      initializationOptions: { schemaServer: schemasAreChecked() },
      initializationFailedHandler: () => false,
      // The end of the process says more than a broken pipe, so that alone decides what happens next.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      // Standard error is read already.
      stdioOptions: { stdout: () => undefined, stderr: () => undefined },
    };
    super("rubric-lint", "rubric-lint", () => Promise.resolve(child), options);
  }

  /** Writes to the output only: what the user is told, and what to do, is worded elsewhere. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
