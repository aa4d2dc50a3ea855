/** Plans how to install rubric-lint with what is on this computer; knows nothing of VS Code. */
import { execFile } from "node:child_process";

import { pythonIn, safeEnvironment, type Search, which } from "./search";

/** A program to run, and what with. */
export interface Step {
  readonly command: string;
  readonly arguments: readonly string[];
}

const IS_NEW_ENOUGH = "import sys, venv; sys.exit(sys.version_info < (3, 11))";

/** The steps that make an environment with rubric-lint, or nothing if neither uv nor a Python of use is there. */
export async function planInstallation(environment: string, version: string, search: Search): Promise<Step[] | undefined> {
  const python = pythonIn(environment, search.platform);
  const wanted = `rubric-lint[lsp]==${version}`;
  const uv = await which("uv", search);
  if (uv) {
    return [
      { command: uv, arguments: ["venv", "--clear", "--no-project", "--python", ">=3.11", environment] },
      { command: uv, arguments: ["pip", "install", "--python", python, wanted] },
    ];
  }
  for (const name of [search.selected, "python3", "python", "py"]) {
    const command = name === search.selected ? name : name && (await which(name, search));
    if (command && (await isNewEnough(command, search))) {
      return [
        { command, arguments: ["-m", "venv", "--clear", environment] },
        { command: python, arguments: ["-m", "pip", "install", "--disable-pip-version-check", wanted] },
      ];
    }
  }
  return undefined;
}

function isNewEnough(command: string, search: Search): Promise<boolean> {
  const options = { env: safeEnvironment(search.environment), windowsHide: true, timeout: 30_000 };
  return new Promise((resolve) => {
    execFile(command, ["-c", IS_NEW_ENOUGH], options, (failure) => {
      resolve(!failure);
    }).stdin?.end();
  });
}
