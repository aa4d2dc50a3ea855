/** Runs the steps of an installation; knows nothing of VS Code. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import * as path from "node:path";

import type { Step } from "./plan";
import { safeEnvironment } from "./search";

/** Runs the steps that make an environment, until `signal` aborts; returns why they failed, or nothing. */
export async function runSteps(
  steps: readonly Step[],
  environment: string,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await mkdir(path.dirname(environment), { recursive: true });
  } catch (error) {
    return (error as Error).message;
  }
  for (const step of steps) {
    const reason = await run(step, log, signal);
    if (reason !== undefined) {
      return reason;
    }
  }
  return undefined;
}

function run(step: Step, log: (line: string) => void, signal: AbortSignal): Promise<string | undefined> {
  log([step.command, ...step.arguments].join(" "));
  const options = { env: safeEnvironment(process.env), maxBuffer: Infinity, signal, windowsHide: true };
  return new Promise((resolve) => {
    execFile(step.command, [...step.arguments], options, (failure, stdout, stderr) => {
      for (const line of `${stdout}\n${stderr}`.split("\n").filter((each) => each.trim() !== "")) {
        log(line);
      }
      const last = stderr.trimEnd().split("\n").at(-1)?.trim();
      resolve(failure ? ((last ?? "") || failure.message).replace(/\.$/, "") : undefined);
    }).stdin?.end();
  });
}
