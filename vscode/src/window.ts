/** What an editor on a computer and one in a browser have in common: a server, its status, and the commands about it. */
import * as vscode from "vscode";

import type { Complaint } from "./complaint";
import type { Launcher } from "./launcher";
import { onSchemasMayBeChecked, Schemas } from "./schemas";
import { Server } from "./server";
import { Status } from "./status";
import { Teller } from "./teller";

/** The parts of a window of the editor that the entries of the extension use. */
export interface Window {
  readonly server: Server;
  /** Starts the server anew because the user asks for it. */
  readonly begin: () => Promise<void>;
}

/** The version of the extension, which is that of the built-in server. */
export function versionOf(context: vscode.ExtensionContext): string {
  return (context.extension.packageJSON as { readonly version: string }).version;
}

/** Puts the parts together, without starting a server. */
export function makeWindow(context: vscode.ExtensionContext, output: vscode.LogOutputChannel, launcher: Launcher): Window {
  const status = new Status();
  const teller = new Teller(output, () => server.restart());
  const schemas = new Schemas(context);
  const server = new Server(launcher, versionOf(context), output, schemas, status, (complaint: Complaint | undefined) => {
    teller.tell(complaint);
  });
  const begin = (): Promise<void> => {
    teller.reset();
    return server.restart();
  };
  context.subscriptions.push(
    output,
    status,
    teller,
    vscode.commands.registerCommand("rubric-lint.restart", begin),
    vscode.commands.registerCommand("rubric-lint.showOutput", () => {
      output.show();
    }),
    vscode.commands.registerCommand("rubric-lint.fixAll", () =>
      vscode.commands.executeCommand("editor.action.sourceAction", {
        kind: "source.fixAll.rubric-lint",
        apply: "first",
      }),
    ),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void server.foldersChanged()),
    onSchemasMayBeChecked(() => void server.schemasMayBeChecked()),
  );
  return { server, begin };
}
