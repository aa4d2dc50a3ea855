/** VS Code for the Web, with nothing behind it but files: the workbench of code-server, the packaged extension, Chromium. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import type { Browser } from "playwright-core";

import { launch, type Place, serve, type Site } from "../serve";
import { type Files, PACKAGE, PATIENCE_MS, PROJECT_VENV, SETTINGS, VSCODE, Window, workspace } from "./editor";

/** A folder of the extension in `memory/`. */
export const FOLDER = { scheme: "memory", path: "/evals" };

/** What code-server changed in VS Code, and what it was: its own server keeps the settings, and there is none here. */
const PATCHES = [
  [/remoteAuthority:location\.host\}/, "remoteAuthority:undefined}"],
  [/(file\(this\.userDataPath\)\.with\(\{scheme:\w+)\.vscodeRemote\}/, "$1.vscodeUserData}"],
] as const;

/** The page and its script. */
function findWorkbench(name: string, configuration: unknown): Place | undefined {
  const file = path.join(VSCODE, name.replace(/^\/static\//, ""));
  if (name === "/") {
    const values: Readonly<Record<string, string>> = {
      WORKBENCH_WEB_CONFIGURATION: JSON.stringify(configuration).replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
      WORKBENCH_WEB_BASE_URL: "/static",
      WORKBENCH_NLS_FALLBACK_URL: "/static/out/nls.messages.js",
      WORKBENCH_NLS_URL: "/static/out/nls.messages.js",
    };
    const page = readFileSync(path.join(VSCODE, "out/vs/code/browser/workbench/workbench.html"), "utf8");
    return { text: page.replace(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? "") };
  }
  if (name.endsWith("/workbench/workbench.js")) {
    let changed = readFileSync(file, "utf8");
    for (const [patch, original] of PATCHES) {
      if (!patch.test(changed)) {
        throw new Error(`the script of code-server has no ${patch.source}`);
      }
      changed = changed.replace(patch, original);
    }
    return { text: changed };
  }
  return name.startsWith("/static/") ? { file } : undefined;
}

/** What the extension in `memory/` reads: the files of the folder. */
export function listFiles(files: Files): string {
  return JSON.stringify(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${FOLDER.path}/${name}`, text])));
}

/** The editor on a page of its own. */
export class WebEditor {
  /** The files that a window has when it opens, and after the command *Memory: Load Files*. */
  files: Files = {};
  readonly #browser: Browser;
  #site: Site | undefined;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<WebEditor> {
    const extracted = workspace({});
    execFileSync(path.join(PROJECT_VENV, "bin/python"), ["-m", "zipfile", "--extract", PACKAGE, extracted]);
    const editor = new WebEditor(await launch());
    editor.#site = await serve((name) => editor.#find(name, path.join(extracted, "extension")));
    return editor;
  }

  #find(name: string, extension: string): Place | undefined {
    const [, top = "", ...rest] = name.split("/");
    switch (top) {
      case "rubric-lint":
        return { file: path.join(extension, ...rest) };
      case "memory":
        return { file: path.resolve("test/editor/memory", ...rest) };
      case "files.json":
        return { text: listFiles(this.files) };
      default:
        return findWorkbench(name, this.#configuration);
    }
  }

  get #configuration(): unknown {
    const { host } = new URL(this.#url);
    const extensions = ["/rubric-lint", "/memory"].map((folder) => ({ scheme: "http", authority: host, path: folder }));
    return {
      additionalBuiltinExtensions: extensions,
      folderUri: FOLDER,
      configurationDefaults: { ...SETTINGS, "memory.list": `${this.#url}/files.json` },
      // What code-server asks for besides.
      userDataPath: "/",
      isEnabledFileDownloads: true,
      isEnabledFileUploads: true,
      isEnabledCoderGettingStarted: false,
    };
  }

  get #url(): string {
    return this.#site?.url ?? "";
  }

  /** Opens a window with these files, and one of them in it. */
  async open(files: Files, file: string): Promise<Window> {
    this.files = files;
    const context = await this.#browser.newContext({ viewport: { width: 1120, height: 700 } });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(this.#url);
    await page.locator(".monaco-workbench").waitFor();
    await page.getByRole("treeitem", { name: file }).dblclick();
    return new Window(page);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#site?.close();
  }
}
