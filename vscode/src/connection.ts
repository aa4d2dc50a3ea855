/** One server and the client that talks to it. */
import * as vscode from "vscode";
import {
  BaseLanguageClient,
  CloseAction,
  DidChangeWatchedFilesNotification,
  ErrorAction,
  FileChangeType,
  type FileEvent,
  type InitializeParams,
  type LanguageClientOptions,
  type MessageTransports,
} from "vscode-languageclient";

import { fromServer, isOnDisk, toServer } from "./builtin/uris";
import { documents, LOCAL, openSchemes } from "./documents";
import type { BuiltIn, End, Host } from "./host";
import { Mirror } from "./mirror";
import { type Schemas, schemasAreChecked } from "./schemas";

const PATIENCE_MS = 30_000;
const BUILT_IN_PATIENCE_MS = 120_000; // loading Python takes two seconds of one core, and nothing in it can hang
const FILES_PATIENCE_MS = 10_000;
const FAREWELL_MS = 2_000;

/** A running server. */
export class Connection {
  /** Resolves when the server has all files that it is to have, to what was left out, in words for the user. */
  readonly whole: Promise<string[]>;
  readonly #client: Client;
  readonly #host: Host;
  readonly #mirror: Mirror | undefined;
  #isOpen = true;

  private constructor(host: Host, output: vscode.LogOutputChannel, schemas: Schemas) {
    const mirror = host.builtIn && makeMirror(host.builtIn, output);
    this.#client = new Client(host, mirror, output);
    this.#client.onNotification("rubric-lint/schema", ({ uri, schema }: { uri: string; schema: string }) => {
      schemas.note(this.#client.protocol2CodeConverter.asUri(uri), schema);
    });
    this.#host = host;
    this.#mirror = mirror;
    this.whole = mirror?.filled ?? Promise.resolve([]);
  }

  /** Connects to a server; `ended` is called once if it ends without being asked to, also while it starts. */
  static async open(
    host: Host,
    output: vscode.LogOutputChannel,
    schemas: Schemas,
    ended: (end: End) => void,
  ): Promise<Connection> {
    const connection = new Connection(host, output, schemas);
    void host.ended.then((end) => {
      if (connection.#isOpen) {
        connection.#isOpen = false;
        connection.#mirror?.dispose();
        ended(end);
      }
    });
    const limit = host.builtIn ? BUILT_IN_PATIENCE_MS : PATIENCE_MS;
    const patience = setTimeout(() => {
      output.error(`The server did not answer within ${String(limit / 1000)} s and was stopped.`);
      host.kill();
    }, limit);
    try {
      const isWhole = await connection.#waitForFiles();
      await connection.#client.start();
      if (!isWhole) {
        void connection.whole.then(() => connection.#tellFiles());
      }
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

  /** Whether it is the server that is a part of the extension. */
  get isBuiltIn(): boolean {
    return this.#host.builtIn !== undefined;
  }

  /** Tells the server whether another one checks the schemas in this editor. */
  async tellSchemasAreChecked(active: boolean): Promise<void> {
    if (this.#client.isRunning()) {
      await this.#client.sendNotification("rubric-lint/schemaServer", { active });
    }
  }

  /** Waits until the server has its files, so that it knows all settings at once, but not for ever. */
  #waitForFiles(): Promise<boolean> {
    const late = new Promise<false>((resolve) => setTimeout(resolve, FILES_PATIENCE_MS, false));
    return Promise.race([this.whole.then(() => true), late]);
  }

  /** Tells the server of the files that it did not have when it started. */
  async #tellFiles(): Promise<void> {
    const { code2ProtocolConverter } = this.#client;
    const files = this.#mirror?.files ?? [];
    const changes = files.map((uri): FileEvent => ({ uri: code2ProtocolConverter.asUri(uri), type: FileChangeType.Created }));
    if (this.#client.isRunning()) {
      await this.#client.sendNotification(DidChangeWatchedFilesNotification.type, { changes });
    }
  }

  /** Asks the server to end, and ends it if it does not. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#mirror?.dispose();
    const patience = setTimeout(() => {
      this.#host.kill();
    }, FAREWELL_MS);
    try {
      await this.#client.stop();
      await this.#host.ended;
    } catch {
      this.#host.kill();
    } finally {
      clearTimeout(patience);
    }
  }
}

/** What hands the server the folders that it cannot read by itself; nothing if there are none. */
function makeMirror(builtIn: BuiltIn, output: vscode.LogOutputChannel): Mirror | undefined {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri);
  const hidden = folders.filter((uri) => !(builtIn.readsDisk && isOnDisk(uri)));
  return hidden.length > 0 ? new Mirror(hidden, builtIn, output) : undefined;
}

class Client extends BaseLanguageClient {
  readonly #host: Host;

  constructor(host: Host, mirror: Mirror | undefined, output: vscode.LogOutputChannel) {
    const { builtIn } = host;
    const options: LanguageClientOptions = {
      documentSelector: documents(builtIn ? openSchemes() : LOCAL),
      outputChannel: output,
      initializationOptions: { schemaServer: schemasAreChecked(), nameSchemas: true },
      initializationFailedHandler: () => false,
      // The end of the process says more than a broken pipe, so that alone decides what happens next.
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      ...(builtIn ? { uriConverters: convertersFor(builtIn) } : {}),
      middleware: {
        workspace: {
          // What has changed is there before the server hears of it.
          didChangeWatchedFile: async (event, next) => {
            await mirror?.settled();
            await next(event);
          },
        },
      },
    };
    super("rubric-lint", "rubric-lint", options);
    this.#host = host;
  }

  /** Writes to the output only: what the user is told, and what to do, is worded elsewhere. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  protected override fillInitializeParams(params: InitializeParams): void {
    super.fillInitializeParams(params);
    params.processId = this.#host.processId;
  }

  protected override createMessageTransports(): Promise<MessageTransports> {
    return Promise.resolve(this.#host.transports);
  }
}

function convertersFor(builtIn: BuiltIn): Required<LanguageClientOptions>["uriConverters"] {
  return {
    code2Protocol: (uri) => uri.with(toServer(uri, builtIn.readsDisk)).toString(),
    protocol2Code: (value) => {
      const uri = vscode.Uri.parse(value);
      return uri.with(fromServer(uri));
    },
  };
}
