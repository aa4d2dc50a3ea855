/** Runs the built-in server in a worker of the browser. */
import * as vscode from "vscode";
import { BrowserMessageReader, BrowserMessageWriter } from "vscode-languageclient/browser";

import type { End, Host } from "../host";
import type { Given, Over } from "./messages";

/** Starts the server that is a part of the extension, which is at this address. */
export function startBuiltIn(extension: vscode.Uri, output: vscode.LogOutputChannel): Host {
  const base = vscode.Uri.joinPath(extension, "dist/builtin/").toString(true);
  const worker = new Worker(`${base}webworker.js`);
  const { port1, port2 } = new MessageChannel();
  let end: (end: End) => void;
  const ended = new Promise<End>((resolve) => {
    end = resolve;
  });
  const over = (fault: string | undefined): void => {
    if (fault !== undefined) {
      output.error(fault);
    }
    worker.terminate();
    end({ code: fault === undefined ? 0 : 1, signal: null, lastWords: fault?.trimEnd().split("\n").at(-1) ?? "" });
  };
  worker.onmessage = ({ data }: MessageEvent<Over>) => {
    over(data.fault);
  };
  worker.onerror = (event) => {
    over(event.message || "its script could not be loaded");
  };
  const given: Given = { base, port: port2 };
  worker.postMessage(given, [port2]);
  return {
    transports: { reader: new BrowserMessageReader(port1), writer: new BrowserMessageWriter(port1) },
    processId: null,
    builtIn: {
      readsDisk: false,
      give: (files) => {
        port1.postMessage({ files });
      },
    },
    ended,
    kill: () => {
      over("it was stopped");
    },
  };
}
