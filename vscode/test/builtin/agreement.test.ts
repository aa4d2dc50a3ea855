/** What the built-in server finds and mends is what the native one does: on every realistic suite and example. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import {
  createMessageConnection,
  type MessageConnection,
  PortMessageReader,
  PortMessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

const ROOT = path.resolve("..");
const BIN = path.join(ROOT, ".venv/bin");
const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    diagnostic: {},
    codeAction: { dataSupport: true, resolveSupport: { properties: ["edit"] }, codeActionLiteralSupport: { codeActionKind: { valueSet: [] } } },
  },
  workspace: { diagnostics: { refreshSupport: true }, workspaceEdit: { documentChanges: true, changeAnnotationSupport: {} } },
};

interface Report {
  readonly uri: string;
  readonly items: readonly unknown[];
}

interface Action {
  readonly title: string;
  readonly edit?: unknown;
}

/** A server and what it said. */
class Server {
  readonly log: unknown[] = [];
  readonly #connection: MessageConnection;
  readonly #kill: () => unknown;

  private constructor(connection: MessageConnection, kill: () => unknown) {
    this.#connection = connection;
    this.#kill = kill;
    connection.onRequest(() => null);
    connection.onNotification("window/logMessage", (said: unknown) => {
      this.log.push(said);
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

  async start(folder: string): Promise<void> {
    const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "files" }];
    await this.#connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: CAPABILITIES, workspaceFolders });
    await this.#connection.sendNotification("initialized", {});
  }

  /** The findings of every file. */
  async lint(): Promise<Report[]> {
    const { items } = await this.#connection.sendRequest<{ items: Report[] }>("workspace/diagnostic", { previousResultIds: [] });
    return items.map(({ uri, items }) => ({ uri, items })).sort((one, other) => (one.uri < other.uri ? -1 : 1));
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

  /** What it tells the user when the first lens of a file is pressed. */
  async press(uri: string, text: string): Promise<unknown> {
    await this.#connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
    const lenses = await this.#connection.sendRequest<{ command: unknown }[]>("textDocument/codeLens", { textDocument: { uri } });
    const told = new Promise((resolve) => this.#connection.onNotification("window/showMessage", resolve));
    await this.#connection.sendRequest("workspace/executeCommand", lenses[0]?.command);
    return told;
  }

  end(): void {
    this.#connection.dispose();
    this.#kill();
  }
}

async function timed<T>(act: () => Promise<T>): Promise<[result: T, ms: number]> {
  const began = performance.now();
  return [await act(), Math.round(performance.now() - began)];
}

describe("the built-in server", () => {
  let folder: string;
  let native: Server;
  let builtIn: Server;
  let starts: number[];

  before(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), "built in é ")));
    execFileSync(path.join(BIN, "python"), [path.join(ROOT, "playground/test/files.py"), folder]);
    writeFileSync(path.join(folder, "rubric-lint.toml"), 'ignore = ["vague-outcome"]\n');
    const begin = async (server: Server): Promise<Server> => {
      await server.start(folder);
      return server;
    };
    const [one, nativeTime] = await timed(() => begin(Server.native()));
    const [other, time] = await timed(() => begin(Server.builtIn()));
    [native, builtIn, starts] = [one, other, [nativeTime, time]];
  });

  after(() => {
    native.end();
    builtIn.end();
    rmSync(folder, { recursive: true });
  });

  it("is small, and starts soon", (context) => {
    const folder = path.resolve("dist/builtin");
    const size = readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);
    const packed = statSync("rubric-lint.vsix").size;
    assert.ok(packed < 13_000_000, `the package has ${String(packed)} bytes`);
    context.diagnostic(`${(size / 1e6).toFixed(1)} MB, ${(packed / 1e6).toFixed(1)} MB in the package`);
    context.diagnostic(`it answered after ${String(starts[1])} ms, the native one after ${String(starts[0])} ms`);
  });

  it("has the findings of the native one in every file, from the disk and with its settings", async (context) => {
    const [theirs, nativeTime] = await timed(() => native.lint());
    const [ours, time] = await timed(() => builtIn.lint());
    assert.deepEqual(ours, theirs);
    const count = ours.reduce((sum, { items }) => sum + items.length, 0);
    assert.ok(ours.length > 100 && count > 100, `${String(ours.length)} files, ${String(count)} findings`);
    context.diagnostic(`${String(count)} findings in ${String(ours.length)} files, all equal; ${String(time)} ms, native ${String(nativeTime)} ms`);
  });

  it("offers the fixes of the native one, with the same edits", async (context) => {
    let count = 0;
    const times = [0, 0];
    for (const { uri } of await native.lint()) {
      let text: string;
      try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(new URL(uri)));
      } catch {
        continue; // an editor cannot open it either
      }
      const [theirs, nativeTime] = await timed(() => native.fixes(uri, text));
      const [ours, time] = await timed(() => builtIn.fixes(uri, text));
      assert.deepEqual(ours, theirs, uri);
      count += ours.length;
      times[0] = (times[0] ?? 0) + nativeTime;
      times[1] = (times[1] ?? 0) + time;
    }
    assert.ok(count > 100, `${String(count)} actions`);
    context.diagnostic(`${String(count)} fixes, all equal; ${String(times[1])} ms, native ${String(times[0])} ms`);
  });

  it("renames as the native one, and says that it runs no programs", async () => {
    const text = readFileSync(path.join(ROOT, "examples/summary.rubric.yaml"), "utf8");
    const file = path.join(folder, "summary.rubric.yaml");
    writeFileSync(file, text);
    const uri = pathToFileURL(file).href;
    const edit = await builtIn.rename(uri, text, "another-name");
    assert.ok(edit);
    assert.deepEqual(edit, await native.rename(uri, text, "another-name"));
    assert.deepEqual(await builtIn.press(uri, text), {
      type: 3,
      message: "rubric-lint: this command runs a program, which needs an installed rubric-lint",
    });
    rmSync(file);
  });

  it("logged nothing", () => {
    assert.deepEqual([builtIn.log, native.log], [[], []]);
  });
});
