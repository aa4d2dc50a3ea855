/** Offers a task that checks a folder with the rubric-lint that the server is started from. */
import * as vscode from "vscode";

import { taskArguments, watches, type Wish } from "./run";
import { safeEnvironment } from "./search";
import type { Tool } from "./tool";

/** The kind of our tasks in `tasks.json`, and the name of the problem matcher. */
export const KIND = "rubric-lint";

/** The tasks of this window; without a tool there are none. */
export class Tasks implements vscode.TaskProvider {
  readonly #tool: () => Tool | undefined;

  /** `tool` returns the tool that is in use now. */
  constructor(tool: () => Tool | undefined) {
    this.#tool = tool;
  }

  provideTasks(): vscode.Task[] {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
    return folders.flatMap((folder) =>
      [this.#make({ type: KIND }, folder, "check"), this.#make({ type: KIND, watch: true }, folder, "watch")].filter((task) => !!task),
    );
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const folder = isFolder(task.scope) ? task.scope : vscode.workspace.workspaceFolders?.[0];
    return folder && this.#make(task.definition, folder, task.name);
  }

  #make(definition: vscode.TaskDefinition & Wish, folder: vscode.WorkspaceFolder, name: string): vscode.Task | undefined {
    const tool = this.#tool();
    if (!tool) {
      return undefined;
    }
    const env = safeEnvironment({}) as Record<string, string>;
    const execution = new vscode.ProcessExecution(tool.command, taskArguments(tool, definition), { cwd: folder.uri.fsPath, env });
    const isBackground = watches(definition);
    const task = new vscode.Task(definition, folder, name, KIND, execution, isBackground ? `$${KIND}-watch` : `$${KIND}`);
    task.isBackground = isBackground;
    task.detail = isBackground ? "Check the rubrics in the folder again whenever files change" : "Check the rubrics in all files of the folder";
    return task;
  }
}

function isFolder(scope: vscode.Task["scope"]): scope is vscode.WorkspaceFolder {
  return typeof scope === "object";
}
