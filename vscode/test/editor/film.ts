/** A film in pictures: what a test has just seen in a window, in light and in dark, and a page with all of them. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";

import type { Window } from "./editor";

const FOLDER = path.resolve("../build/film");

interface Scene {
  readonly name: string;
  readonly caption: string;
}

/** The pictures of one run. Those of an earlier run go. */
export class Film {
  readonly #scenes: Scene[] = [];

  constructor() {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
  }

  /**
   * Takes both pictures of a window, as `NN-name-dark.png` and `NN-name-light.png`; it is light before and after.
   * `pause` is in milliseconds: a page inside of the window follows its colours later.
   */
  async take(window: Window, name: string, caption: string, pause = 0): Promise<void> {
    const scene = { name: `${String(this.#scenes.length + 1).padStart(2, "0")}-${name}`, caption };
    await window.page.locator(".notification-toast").first().waitFor({ state: "hidden" });
    for (const scheme of ["dark", "light"] as const) {
      await window.paint(scheme);
      await window.page.waitForTimeout(pause);
      await window.page.screenshot({ path: path.join(FOLDER, `${scene.name}-${scheme}.png`), animations: "disabled" });
    }
    this.#scenes.push(scene);
    writeFileSync(path.join(FOLDER, "index.html"), page(this.#scenes));
  }
}

function page(scenes: readonly Scene[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>rubric-lint in VS Code</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; }
  figure { margin: 0 0 2.5rem; }
  figure div { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
  img { width: 100%; border: 1px solid #8884; }
</style>
<h1>rubric-lint in VS Code</h1>
${scenes.map(figure).join("\n")}
</html>
`;
}

function figure({ name, caption }: Scene): string {
  const pictures = ["light", "dark"].map((scheme) => `<a href="${name}-${scheme}.png"><img src="${name}-${scheme}.png" alt="${scheme}"></a>`);
  return `<figure id="${name}">\n<figcaption>${escape(caption)}</figcaption>\n<div>${pictures.join("")}</div>\n</figure>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
