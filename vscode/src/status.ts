/** The entry in the language status of the files that may hold rubrics. */
import * as vscode from "vscode";

import { documents, openSchemes } from "./documents";

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

  /** The built-in server runs. `canInstall` is whether a click could replace it with a faster one. */
  builtIn(version: string, reason: string, canInstall: boolean): void {
    this.#show(`rubric-lint ${version}, built in`, reason, vscode.LanguageStatusSeverity.Information);
    if (canInstall) {
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
    Object.assign(this.#item, {
      text,
      detail,
      severity,
      busy: false,
      command: { command: "rubric-lint.showOutput", title: "Show output" },
    });
  }
}
