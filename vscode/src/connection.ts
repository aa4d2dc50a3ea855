/** One server and the client that talks to it. */
import * as vscode from "vscode";
import { CloseAction, type DocumentSelector, ErrorAction, LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

import { fromServer, toServer } from "./builtin/uris";
import type { End, Host } from "./host";
import { schemasAreChecked } from "./schemas";

/** The documents that the server is shown; which of them hold rubrics is for it to say. */
export const DOCUMENTS = documents(["file", "untitled"]);

function documents(schemes: readonly string[]): DocumentSelector & vscode.DocumentSelector {
  return schemes.flatMap((scheme) => [
    ...["yaml", "json", "jsonl", "jsonlines", "toml", "python"].map((language) => ({ scheme, language })),
    { scheme, pattern: "**/*.{yaml,yml,json,jsonl,py,pyi,pyw,ipynb,toml}" },
  ]);
}

/** The built-in server reads no files of a virtual workspace, but is shown those that are open. */
function documentsFor(host: Host): DocumentSelector & vscode.DocumentSelector {
  const schemes = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme);
  return host.isBuiltIn ? documents([...new Set(["file", "untitled", ...schemes])]) : DOCUMENTS;
}

const PATIENCE_MS = 30_000;
const BUILT_IN_PATIENCE_MS = 120_000; // loading Python takes five seconds of one core, and nothing in it can hang

/** A running server. */
export class Connection {
  readonly #client: Client;
  readonly #host: Host;
  #isOpen = true;

  private constructor(client: Client, host: Host) {
    this.#client = client;
    this.#host = host;
  }

  /** Connects to a server; `ended` is called once if it ends without being asked to, also while it starts. */
  static async open(host: Host, output: vscode.LogOutputChannel, ended: (end: End) => void): Promise<Connection> {
    const connection = new Connection(new Client(host, output), host);
    void host.ended.then((end) => {
      if (connection.#isOpen) {
        connection.#isOpen = false;
        ended(end);
      }
    });
    const limit = host.isBuiltIn ? BUILT_IN_PATIENCE_MS : PATIENCE_MS;
    const patience = setTimeout(() => {
      output.error(`The server did not answer within ${String(limit / 1000)} s and was stopped.`);
      host.kill();
    }, limit);
    try {
      await connection.#client.start();
    } catch (error) {
      output.error(`The server did not start: ${String(error)}`);
      host.kill();
      await host.ended;
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
      this.#host.kill();
    }
  }
}

class Client extends LanguageClient {
  constructor(host: Host, output: vscode.LogOutputChannel) {
    const options: LanguageClientOptions = {
      documentSelector: documentsFor(host),
      outputChannel: output,
      initializationOptions: { schemaServer: schemasAreChecked() },
      initializationFailedHandler: () => false,
      // The end of the process says more than a broken pipe, so that alone decides what happens next.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      ...(host.isBuiltIn ? { uriConverters: { code2Protocol, protocol2Code } } : {}),
      // Standard error is read already.
      stdioOptions: { stdout: () => undefined, stderr: () => undefined },
    };
    super("rubric-lint", "rubric-lint", () => Promise.resolve(host.server), options);
  }

  /** Writes to the output only: what the user is told, and what to do, is worded elsewhere. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function code2Protocol(uri: vscode.Uri): string {
  return uri.with(toServer(uri)).toString();
}

function protocol2Code(value: string): vscode.Uri {
  const uri = vscode.Uri.parse(value);
  return uri.with(fromServer(uri));
}
