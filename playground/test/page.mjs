// The built page as a visitor has it: served from a folder, in Chromium.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export { launch } from "./chromium.mjs";

const BUILD = fileURLToPath(new URL("../../build/playground", import.meta.url));
const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
};

/** How long anything may take on a machine that is busy with other things. */
export const PATIENCE_MS = 30_000;

/** Serves the page at /playground/, as the site does. `broken` are files that the server fails to send. */
export async function serve(broken = []) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://host").pathname));
    const name = path.replace(/^\/playground\//, "").replace(/^$/, "index.html");
    const found = path.startsWith("/playground/") && !broken.includes(name) ? readFile(join(BUILD, name)) : Promise.reject();
    found.then(
      (content) => response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(content),
      () => response.writeHead(404).end("not found"),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/playground/`, close: () => server.close() };
}

/** Opens the page and waits until the first findings are there. */
export async function open(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  await linted(page, 1);
  return page;
}

/** Waits until the page has shown the results of so many texts. */
export async function linted(page, count) {
  await page.waitForFunction(
    (wanted) => {
      const { lints, state } = document.body.dataset;
      if (state === "failed") {
        throw new Error(document.querySelector("#status").textContent);
      }
      return Number(lints ?? 0) >= wanted;
    },
    count,
    { timeout: PATIENCE_MS },
  );
}
