/** Shows a complaint once, and only to those who write rubrics. */
import * as vscode from "vscode";

import type { Complaint } from "./complaint";

/** The word that every file with rubrics has; whoever edits other YAML files is not bothered. */
const WORD = /\brubrics\b/;

/** Tells the user what is wrong as soon as a document is open that it matters for. */
export class Teller implements vscode.Disposable {
  readonly #output: vscode.LogOutputChannel;
  readonly #restart: () => Promise<void>;
  readonly #listener: vscode.Disposable;
  readonly #told = new Set<string>();
  #waiting: Complaint | undefined;

  constructor(output: vscode.LogOutputChannel, restart: () => Promise<void>) {
    this.#output = output;
    this.#restart = restart;
    this.#listener = vscode.workspace.onDidOpenTextDocument(() => {
      this.#show();
    });
  }

  /** Tells it now or as soon as it matters, unless it is taken back; the same complaint is not shown again. */
  tell(complaint: Complaint | undefined): void {
    this.#waiting = complaint;
    this.#show();
  }

  /** Forgets what was told: the user asks for a new start and wants to hear how it went. */
  reset(): void {
    this.#told.clear();
    this.#waiting = undefined;
  }

  dispose(): void {
    this.#listener.dispose();
  }

  #show(): void {
    const complaint = this.#waiting;
    if (!complaint || this.#told.has(complaint.message) || !vscode.workspace.textDocuments.some(mayHoldRubrics)) {
      return;
    }
    this.#told.add(complaint.message);
    this.#waiting = undefined;
    void this.#ask(complaint);
  }

  async #ask(complaint: Complaint): Promise<void> {
    const copy = "Copy Command";
    const output = "Show Output";
    const again = "Try Again";
    const buttons = [...(complaint.command ? [copy] : []), output, again];
    const answer = await vscode.window.showErrorMessage(complaint.message, ...buttons);
    if (answer === copy && complaint.command) {
      await vscode.env.clipboard.writeText(complaint.command);
    } else if (answer === output) {
      this.#output.show();
    } else if (answer === again) {
      this.reset();
      await this.#restart();
    }
  }
}

function mayHoldRubrics(document: vscode.TextDocument): boolean {
  return /^(?:yaml|json)/.test(document.languageId) && (/\.rubric\.\w+$/.test(document.fileName) || WORD.test(document.getText()));
}
