/** Installs rubric-lint into a folder of the extension's own, with the uv or the Python that is there. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import type { Home } from "./desktop";
import { planInstallation, type Step } from "./plan";
import { safeEnvironment, type Search } from "./search";

/** Installs the version of the extension; returns whether it is there now, and tells the user if it is not. */
export async function install(home: Home, version: string, search: Search, output: vscode.LogOutputChannel): Promise<boolean> {
  const steps = await planInstallation(home.own, version, search);
  if (!steps) {
    void vscode.window.showErrorMessage("To install rubric-lint, you need uv, or Python 3.11 or newer. The built-in one keeps working.");
    return false;
  }
  const title = `Installing rubric-lint ${version}`;
  const fault = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, async () => {
    await mkdir(path.dirname(home.own), { recursive: true });
    for (const step of steps) {
      const reason = await run(step, output);
      if (reason !== undefined) {
        return reason;
      }
    }
    return undefined;
  });
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

/** Runs a step; returns why it failed, or nothing. */
function run(step: Step, output: vscode.LogOutputChannel): Promise<string | undefined> {
  output.info([step.command, ...step.arguments].join(" "));
  return new Promise((resolve) => {
    execFile(step.command, [...step.arguments], { env: safeEnvironment(process.env), windowsHide: true }, (failure, stdout, stderr) => {
      for (const line of `${stdout}\n${stderr}`.split("\n").filter((each) => each.trim() !== "")) {
        output.info(line);
      }
      const last = stderr.trimEnd().split("\n").at(-1)?.trim();
      resolve(failure ? (last ?? "") || failure.message : undefined);
    }).stdin?.end();
  });
}
