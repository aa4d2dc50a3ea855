/** Files over HTTP, and Chromium to open them in. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";

export { launch } from "../../playground/test/chromium.mjs";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".ttf": "font/ttf",
};

/** What is at an address: the path of a file, or a text. */
export type Place = { readonly file: string } | { readonly text: string };

export interface Site {
  readonly url: string;
  close(): void;
}

/** Serves what `find` names for a path. Scripts with the suffix .mjs and WebAssembly are not called that, as on some servers. */
export async function serve(find: (name: string) => Place | undefined): Promise<Site> {
  const server = createServer((request, response) => {
    const name = path.posix.normalize(decodeURIComponent(new URL(request.url ?? "", "http://host").pathname));
    const place = find(name);
    const content = place && ("text" in place ? Promise.resolve(place.text) : readFile(place.file));
    (content ?? Promise.reject(new Error("not found"))).then(
      (found) => response.writeHead(200, { "content-type": TYPES[path.extname(name) || ".html"] ?? "text/plain" }).end(found),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${String(port)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
