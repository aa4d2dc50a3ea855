/** The entry in the language status of the files that may hold rubrics. */
import * as vscode from "vscode";

import { DOCUMENTS } from "./connection";

/** Says in one place how the server does. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.languages.createLanguageStatusItem("rubric-lint", DOCUMENTS);

  constructor() {
    this.#item.name = "rubric-lint";
    this.starting();
  }

  /** The tool is looked for, or its server starts. */
  starting(): void {
    this.#show("rubric-lint", "Starting", vscode.LanguageStatusSeverity.Information);
    this.#item.busy = true;
  }

  /** The server runs. */
  running(version: string, origin: string): void {
    this.#show(`rubric-lint ${version}`, `From ${origin}`, vscode.LanguageStatusSeverity.Information);
  }

  /** Only the schemas are at work, for a reason that is no fault. */
  schemasOnly(reason: string): void {
    this.#show("rubric-lint: schemas only", reason, vscode.LanguageStatusSeverity.Warning);
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
