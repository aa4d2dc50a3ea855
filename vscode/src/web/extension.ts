/** The extension's entry in a browser (vscode.dev, github.dev): no program can run there, so the built-in server does. */
import * as vscode from "vscode";

import type { Server } from "../server";
import { makeWindow } from "../window";
import { startBuiltIn } from "./host";

const REASON = "No program can run in a browser, so there are no tasks and no code lenses";

let running: Server | undefined;

/** Called once, when a YAML or JSON file is opened or a folder has a `rubric-lint.toml`. */
export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("rubric-lint", { log: true });
  const start = (): Promise<ReturnType<typeof startBuiltIn>> => Promise.resolve(startBuiltIn(context.extensionUri, output));
  const { server } = makeWindow(context, output, () =>
    Promise.resolve({ kind: "built-in", reason: REASON, canInstall: false, complaint: undefined, start }),
  );
  running = server;
  void server.restart();
}

/** Called before the window closes. */
export async function deactivate(): Promise<void> {
  await running?.stop();
}
