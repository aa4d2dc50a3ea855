/** The thread in which the built-in server runs: messages of the protocol in and out, and files in. */
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { gunzip } from "node:zlib";

import { mountDisk } from "./disk";
import { type PyodideModule, startServer, type Take } from "./python";

const HERE = path.dirname(fileURLToPath(import.meta.url));

/** What the extension tells a new worker. */
export interface Given {
  /** The letters of the drives to read, on Windows. */
  readonly drives: readonly string[];
}

async function start(): Promise<Take> {
  const pyodide = (await import(pathToFileURL(path.join(HERE, "pyodide.mjs")).href)) as PyodideModule;
  const [python, packages] = await Promise.all([
    pyodide.loadPyodide({ indexURL: HERE + path.sep }),
    readFile(path.join(HERE, "packages.image")).then(promisify(gunzip)),
  ]);
  mountDisk(python.FS, (workerData as Given).drives);
  return startServer(python, packages, (message) => parentPort?.postMessage(message));
}

// Messages wait at the port until somebody listens.
const take = await start();
parentPort?.on("message", (message: object) => {
  if (!take(message)) {
    process.exit(0);
  }
});
