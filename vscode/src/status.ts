/** The entry in the language status of the files that may hold rubrics. */
import * as vscode from "vscode";

import { documents, openSchemes } from "./documents";
import type { BuiltInChoice } from "./launcher";

/** Whether the palette has the command that installs rubric-lint; where another one was found, it would change nothing. */
const CAN_INSTALL = "rubric-lint.canInstall";

/** Says in one place how the server does. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.languages.createLanguageStatusItem("rubric-lint", documents(openSchemes()));

  constructor() {
    this.#item.name = "rubric-lint";
    this.starting();
  }

  /** The tool is looked for, or its server starts. */
  starting(): void {
    this.#show("rubric-lint", "Starting", vscode.LanguageStatusSeverity.Information);
    this.#item.busy = true;
  }

  /** The server of an installed tool runs. */
  running(version: string, origin: string): void {
    this.#show(`rubric-lint ${version}`, `From ${origin}`, vscode.LanguageStatusSeverity.Information);
  }

  /** The built-in server runs; `left` is what it does not read. */
  builtIn(version: string, { reason, canInstall, complaint }: BuiltInChoice, left: readonly string[]): void {
    const severity = complaint ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
    this.#show(`rubric-lint ${version}, built in`, [reason, ...left].join(". "), severity);
    if (canInstall) {
      void vscode.commands.executeCommand("setContext", CAN_INSTALL, true);
      this.#item.command = { command: "rubric-lint.install", title: "Install rubric-lint", tooltip: "Faster, with all commands" };
    }
  }

  /** The server does not run, and the user is to know. */
  failed(reason: string): void {
    this.#show("rubric-lint is not running", reason, vscode.LanguageStatusSeverity.Error);
  }

  dispose(): void {
    this.#item.dispose();
  }

  #show(text: string, detail: string, severity: vscode.LanguageStatusSeverity): void {
    void vscode.commands.executeCommand("setContext", CAN_INSTALL, false);
    Object.assign(this.#item, {
      selector: documents(openSchemes()),
      text,
      detail,
      severity,
      busy: false,
      command: { command: "rubric-lint.showOutput", title: "Show output" },
    });
  }
}
