/** The servers that are compared, each behind the same questions. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Page } from "playwright-core";
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
  PortMessageReader,
  PortMessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

export const ROOT = path.resolve("..");
export const BIN = path.join(ROOT, ".venv/bin");
const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    codeAction: { dataSupport: true, resolveSupport: { properties: ["edit"] }, codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } },
  },
  workspace: { workspaceEdit: { documentChanges: true, changeAnnotationSupport: {} } },
};

/** The largest file, which a server checks last. */
export const LAST = "zz last.rubric.yaml";

export interface Report {
  readonly uri: string;
  readonly items: readonly unknown[];
}

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly unknown[];
}

export interface Action {
  readonly title: string;
  readonly edit?: unknown;
  readonly command?: unknown;
}

/** A server and what it said. */
export class Server {
  readonly log: unknown[] = [];
  readonly #connection: MessageConnection;
  readonly #kill: () => unknown;
  readonly #found: Promise<Report[]>;

  private constructor(connection: MessageConnection, kill: () => unknown) {
    this.#connection = connection;
    this.#kill = kill;
    connection.onRequest(() => null);
    connection.onNotification("window/logMessage", (said: unknown) => {
      this.log.push(said);
    });
    const reports = new Map<string, Report>();
    this.#found = new Promise((resolve) => {
      connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }: Published) => {
        reports.set(uri, { uri, items: diagnostics });
        if (uri.endsWith(encodeURIComponent(LAST))) {
          resolve([...reports.values()].sort((one, other) => (one.uri < other.uri ? -1 : 1)));
        }
      });
    });
    connection.listen();
  }

  static native(): Server {
    const child = spawn(path.join(BIN, "rubric-lint"), ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    return new Server(
      createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin)),
      () => child.kill(),
    );
  }

  static builtIn(): Server {
    const worker = new Worker(path.resolve("dist/builtin/worker.mjs"), { workerData: { drives: [] } });
    return new Server(createMessageConnection(new PortMessageReader(worker), new PortMessageWriter(worker)), () => worker.terminate());
  }

  /** The worker of the web extension on a page, which has these files at the paths that they have on the disk. */
  static async inBrowser(page: Page, base: string, files: readonly string[]): Promise<Server> {
    const reader = new PageReader();
    await page.exposeFunction("received", (message: Message) => {
      reader.take(message);
    });
    await page.evaluate(startWorker, base);
    for (const file of files) {
      await page.evaluate(giveFile, [file, readFileSync(file).toString("base64")] as const);
    }
    return new Server(createMessageConnection(reader, new PageWriter(page)), () => page.close());
  }

  async start(folder: string): Promise<void> {
    const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "files" }];
    await this.#connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: CAPABILITIES, workspaceFolders });
    await this.#connection.sendNotification("initialized", {});
  }

  /** The findings of every file. */
  lint(): Promise<Report[]> {
    return this.#found;
  }

  /** What can be done about the findings of a file, each with its edit. */
  async fixes(uri: string, text: string): Promise<Action[]> {
    const textDocument = { uri };
    const end = { line: text.split(/\r\n|\r|\n/).length, character: 0 };
    const range = { start: { line: 0, character: 0 }, end };
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
    const actions: Action[] = [];
    for (const only of [["quickfix"], ["source.fixAll"]]) {
      const params = { textDocument, range, context: { diagnostics: [], only, triggerKind: 1 } };
      const offered = await this.#connection.sendRequest<Action[] | null>("textDocument/codeAction", params);
      for (const action of offered ?? []) {
        actions.push(action.edit ? action : await this.#connection.sendRequest<Action>("codeAction/resolve", action));
      }
    }
    await this.#connection.sendNotification("textDocument/didClose", { textDocument });
    return actions;
  }

  async rename(uri: string, text: string, newName: string): Promise<unknown> {
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
    const lines = text.split("\n");
    const line = lines.findIndex((each) => each.includes("- id: "));
    const position = { line, character: (lines[line] ?? "").indexOf("id: ") + 4 };
    try {
      return await this.#connection.sendRequest("textDocument/rename", { textDocument: { uri }, position, newName });
    } finally {
      await this.#connection.sendNotification("textDocument/didClose", { textDocument: { uri } });
    }
  }

  /** The commands above the rubrics of a file, and what it tells the user who runs one nevertheless. */
  async press(uri: string, text: string): Promise<{ offered: unknown; told: unknown }> {
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
    const offered = await this.#connection.sendRequest("textDocument/codeLens", { textDocument: { uri } });
    const told = new Promise((resolve) => this.#connection.onNotification("window/showMessage", resolve));
    await this.#connection.sendRequest("workspace/executeCommand", { command: "rubric-lint.showPrompt", arguments: [uri, ""] });
    return { offered, told: await told };
  }

  end(): void {
    this.#connection.dispose();
    this.#kill();
  }
}

/** What a page gets from its worker. */
class PageReader extends AbstractMessageReader {
  #callback: DataCallback | undefined;

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    return { dispose: () => undefined };
  }

  take(message: Message): void {
    this.#callback?.(message);
  }
}

class PageWriter extends AbstractMessageWriter {
  readonly #page: Page;

  constructor(page: Page) {
    super();
    this.#page = page;
  }

  async write(message: Message): Promise<void> {
    await this.#page.evaluate((each) => {
      (globalThis as unknown as Held).port.postMessage(each);
    }, message);
  }

  end(): void {
    // The page is closed.
  }
}

/** What the page keeps, and can call. */
interface Held {
  port: { postMessage(message: unknown): void; onmessage: (event: { data: unknown }) => void };
  received(message: unknown): void;
}

// These run on the page, as the extension's web/host.ts does.

function startWorker(base: string): void {
  const held = globalThis as unknown as Held & { Worker: new (url: string) => { postMessage(message: unknown, moved: unknown[]): void } };
  const { port1, port2 } = new MessageChannel();
  held.port = port1 as unknown as Held["port"];
  held.port.onmessage = ({ data }) => {
    held.received(data);
  };
  new held.Worker(`${base}webworker.js`).postMessage({ base, port: port2 }, [port2]);
}

function giveFile([file, content]: readonly [string, string]): void {
  const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  (globalThis as unknown as Held).port.postMessage({ files: [{ path: file, content: bytes }] });
}
