/** The extension's entry on a computer: adds what runs programs, and listens for what makes a new start necessary. */
import * as path from "node:path";
import * as vscode from "vscode";

import { choose, makeSearch } from "./desktop";
import { install } from "./install";
import { onInterpreterChange } from "./interpreter";
import type { Server } from "./server";
import { KIND, Tasks } from "./tasks";
import { makeWindow, versionOf } from "./window";

let running: Server | undefined;

/** Called once, when a YAML or JSON file is opened or a folder has a `rubric-lint.toml`; not for each Python file. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("rubric-lint", { log: true });
  const own = path.join(context.globalStorageUri.fsPath, "tool");
  const home = { extension: context.extensionPath, own, version: versionOf(context) };
  const { server, begin } = makeWindow(context, output, (unusable) => choose(home, output, unusable));
  running = server;
  context.subscriptions.push(
    vscode.commands.registerCommand("rubric-lint.install", async () => {
      if (await install(home, await makeSearch(home, output), output)) {
        await begin();
      }
    }),
    vscode.tasks.registerTaskProvider(KIND, new Tasks(() => server.tool)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (["path", "interpreter"].some((name) => event.affectsConfiguration(`rubric-lint.${name}`))) {
        void server.restart();
      }
    }),
  );
  void server.restart();
  const listener = await onInterpreterChange(() => void server.restart());
  if (listener) {
    context.subscriptions.push(listener);
  }
}

/** Called before the window closes. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}
