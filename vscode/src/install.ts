/** Installs rubric-lint into a folder of the extension's own, with the uv or the Python that is there. */
import * as vscode from "vscode";

import type { Home } from "./desktop";
import { planInstallation } from "./plan";
import type { Search } from "./search";
import { runSteps } from "./steps";

/** Only one at a time: two would write into the same folder. */
let isUnderWay = false;

/** Installs the version of the extension; returns whether it is there now, and tells the user if it is not. */
export async function install(home: Home, search: Search, output: vscode.LogOutputChannel): Promise<boolean> {
  if (isUnderWay) {
    return false;
  }
  isUnderWay = true;
  try {
    return await installOnce(home, search, output);
  } finally {
    isUnderWay = false;
  }
}

async function installOnce(home: Home, search: Search, output: vscode.LogOutputChannel): Promise<boolean> {
  const steps = await planInstallation(home.own, home.version, search);
  if (!steps) {
    void vscode.window.showErrorMessage("To install rubric-lint, you need uv, or Python 3.11 or newer. The built-in one keeps working.");
    return false;
  }
  const title = `Installing rubric-lint ${home.version}`;
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const abort = new AbortController();
  const fault = await vscode.window.withProgress(options, (_progress, token) => {
    token.onCancellationRequested(() => {
      abort.abort();
    });
    return runSteps(steps, home.own, (line) => {
      output.info(line);
    }, abort.signal);
  });
  if (abort.signal.aborted) {
    output.info("The installation was cancelled. The built-in rubric-lint keeps working.");
    return false;
  }
  if (fault === undefined) {
    return true;
  }
  const show = "Show Output";
  const told = vscode.window.showErrorMessage(`rubric-lint could not be installed: ${fault}. The built-in one keeps working.`, show);
  void told.then((answer) => {
    if (answer === show) {
      output.show();
    }
  });
  return false;
}
