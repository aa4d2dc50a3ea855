/** The worker in which the built-in server runs in a browser: messages of the protocol in and out, and files in. */
import { type PyodideModule, startServer, type Take } from "../builtin/python";
import type { Given, Over } from "./messages";

async function start({ base, port }: Given): Promise<Take> {
  // VS Code starts classic workers, in which Pyodide sees this function and gives up, although it does not need it.
  Object.assign(globalThis, { importScripts: undefined });
  nameWebAssembly();
  // All files are loaded at the same time; `pyodide.mjs` asks for the largest.
  const main = load(`${base}pyodide.asm.mjs`) as Promise<{ readonly default: (settings: unknown) => unknown }>;
  const starting = load(`${base}pyodide.mjs`).then((pyodide) =>
    (pyodide as PyodideModule).loadPyodide({
      indexURL: base,
      createPyodideModule: async (settings: unknown) => (await main).default(settings),
    }),
  );
  const [python, image] = await Promise.all([starting, download(`${base}packages.image`).then(unzip), main]);
  return startServer(python, image, (message) => {
    port.postMessage(message);
  });
}

async function unzip(response: Response): Promise<Uint8Array> {
  const content = response.body?.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(content).arrayBuffer());
}

/** Lets Pyodide compile while it downloads, also where the server that extensions are loaded from does not name the type. */
function nameWebAssembly(): void {
  const instantiate = WebAssembly.instantiateStreaming.bind(WebAssembly);
  WebAssembly.instantiateStreaming = async (source, imports) => {
    try {
      const { body } = await source;
      return await instantiate(new Response(body, { headers: { "content-type": "application/wasm" } }), imports);
    } catch (fault) {
      end(`Python could not be loaded: ${String(fault)}`); // Pyodide would wait for ever
      throw fault;
    }
  };
}

/** Loads a module by its text, because not every server that extensions are loaded from says that `.mjs` is a script. */
async function load(address: string): Promise<unknown> {
  const text = await (await download(address)).text();
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function download(address: string): Promise<Response> {
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(`${address} could not be loaded: the server answered ${String(response.status)}`);
  }
  return response;
}

function end(fault: string | undefined): void {
  const over: Over = { fault };
  postMessage(over);
}

addEventListener(
  "message",
  ({ data }: MessageEvent<Given>) => {
    start(data).then(
      (take) => {
        // Messages wait at the port until somebody listens.
        data.port.onmessage = (event: MessageEvent<object>) => {
          if (!take(event.data)) {
            end(undefined);
          }
        };
      },
      (fault: unknown) => {
        end(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
      },
    );
  },
  { once: true },
);
