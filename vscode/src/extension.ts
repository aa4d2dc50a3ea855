/** The extension's entry: puts the parts together and listens for what makes a new start necessary. */
import * as path from "node:path";
import * as vscode from "vscode";

import type { Complaint } from "./complaint";
import { install } from "./install";
import { onInterpreterChange } from "./interpreter";
import { onSchemasMayBeChecked } from "./schemas";
import { Server } from "./server";
import { Status } from "./status";
import { KIND, Tasks } from "./tasks";
import { Teller } from "./teller";

let server: Server | undefined;

/** Called once, when a YAML or JSON file is opened or a folder has a `rubric-lint.toml`; not for each Python file. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("rubric-lint", { log: true });
  const status = new Status();
  const restart = (): Promise<void> => started.restart();
  const teller = new Teller(output, restart);
  const home = {
    extension: context.extensionPath,
    version: (context.extension.packageJSON as { readonly version: string }).version,
    own: path.join(context.globalStorageUri.fsPath, "tool"),
  };
  const started = new Server(home, output, status, (complaint: Complaint | undefined) => {
    teller.tell(complaint);
  });
  server = started;
  context.subscriptions.push(
    output,
    status,
    teller,
    vscode.commands.registerCommand("rubric-lint.restart", () => {
      teller.reset();
      return restart();
    }),
    vscode.commands.registerCommand("rubric-lint.install", async () => {
      if (await install(home, await started.search(), output)) {
        teller.reset();
        await restart();
      }
    }),
    vscode.commands.registerCommand("rubric-lint.showOutput", () => {
      output.show();
    }),
    vscode.commands.registerCommand("rubric-lint.fixAll", () =>
      vscode.commands.executeCommand("editor.action.sourceAction", {
        kind: "source.fixAll.rubric-lint",
        apply: "first",
      }),
    ),
    vscode.tasks.registerTaskProvider(KIND, new Tasks(() => started.tool)),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeWorkspaceFolders(() => started.isRunning || restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (["path", "interpreter"].some((name) => event.affectsConfiguration(`rubric-lint.${name}`))) {
        void restart();
      }
    }),
    onSchemasMayBeChecked(() => void started.schemasMayBeChecked()),
  );
  void restart();
  const listener = await onInterpreterChange(() => void restart());
  if (listener) {
    context.subscriptions.push(listener);
  }
}

/** Called before the window closes. */
export async function deactivate(): Promise<void> {
  await server?.stop();
}
