/** Hands the built-in server the files of folders that it cannot read by itself, and keeps them up to date. */
import * as vscode from "vscode";

import type { GivenFile } from "./builtin/python";
import { toServer } from "./builtin/uris";
import { isOfUse } from "./documents";
import type { BuiltIn } from "./host";

/** Folders with much in them that nobody wrote here. */
const LEFT_OUT = new Set([".git", ".hg", ".svn", "node_modules"]);
const MOST_FOLDERS = 5_000;
const MOST_FILES = 5_000;
const TOO_MANY = `more than ${MOST_FILES.toLocaleString("en")} files`;
const MOST_BYTES = 100_000_000;
const AT_ONCE = 16; // requests, as each may go over a network

/** The files of some folders as the server has them. */
export class Mirror implements vscode.Disposable {
  /** Resolves when all files were handed over, to what was left out, in words for the user. */
  readonly filled: Promise<string[]>;
  readonly #builtIn: BuiltIn;
  readonly #output: vscode.LogOutputChannel;
  readonly #watchers: vscode.Disposable[];
  readonly #folders = new Set<string>();
  /** The sizes of the files that the server has. */
  readonly #sizes = new Map<string, number>();
  readonly #left = new Set<string>();
  #bytes = 0;
  #isOver = false;
  #turn: Promise<void>;

  constructor(folders: readonly vscode.Uri[], builtIn: BuiltIn, output: vscode.LogOutputChannel) {
    this.#builtIn = builtIn;
    this.#output = output;
    const began = Date.now();
    this.#turn = this.#walk(folders);
    this.filled = this.#turn.then(() => {
      const time = String(Date.now() - began);
      output.info(`Read ${String(this.#sizes.size)} files in ${String(this.#folders.size)} folders of the workspace in ${time} ms.`);
      return [...this.#left];
    });
    this.#watchers = folders.map((folder) => this.#watch(folder));
  }

  /** The files that the server has. */
  get files(): vscode.Uri[] {
    return [...this.#sizes.keys()].map((uri) => vscode.Uri.parse(uri, true));
  }

  /** Resolves when the server has been handed all changes so far. */
  settled(): Promise<void> {
    return this.#turn;
  }

  dispose(): void {
    this.#isOver = true;
    for (const watcher of this.#watchers) {
      watcher.dispose();
    }
  }

  #watch(folder: vscode.Uri): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, "**/*"));
    const changed = (uri: vscode.Uri): void => {
      const names = uri.path.slice(folder.path.length).split("/");
      if (!names.some((name) => LEFT_OUT.has(name))) {
        this.#next(() => this.#look(uri, names.at(-1) ?? ""));
      }
    };
    watcher.onDidCreate(changed);
    watcher.onDidChange(changed);
    watcher.onDidDelete((uri) => {
      this.#next(() => {
        this.#forget(uri);
      });
    });
    return watcher;
  }

  #next(act: () => Promise<void> | void): void {
    this.#turn = this.#turn.then(act).catch((error: unknown) => {
      this.#output.warn(String(error));
    });
  }

  /** What a path now is: a file or a folder that is new, a file with another content, or gone already. */
  async #look(uri: vscode.Uri, name: string): Promise<void> {
    const { type } = await vscode.workspace.fs.stat(uri);
    if (type & vscode.FileType.Directory) {
      await this.#walk([uri]);
    } else if (isOfUse(name)) {
      this.#give([await this.#read(uri)]);
    }
  }

  /** Hands over the files of folders, those near the top first. */
  async #walk(folders: readonly vscode.Uri[]): Promise<void> {
    const waiting = [...folders];
    const files: vscode.Uri[] = [];
    while (waiting.length > 0 && !this.#isOver) {
      const some = waiting.splice(0, AT_ONCE);
      for (const folder of some) {
        this.#folders.add(folder.toString());
      }
      if (this.#folders.size > MOST_FOLDERS) {
        this.#leave(`more than ${MOST_FOLDERS.toLocaleString("en")} folders`);
        break;
      }
      for (const entries of await Promise.all(some.map((folder) => this.#list(folder)))) {
        for (const [uri, name, type] of entries) {
          // A link to a folder may lead back.
          if (type === vscode.FileType.Directory && !LEFT_OUT.has(name)) {
            waiting.push(uri);
          } else if (type & vscode.FileType.File && isOfUse(name)) {
            files.push(uri);
          }
        }
      }
    }
    while (files.length > 0 && !this.#isOver) {
      if (this.#sizes.size >= MOST_FILES) {
        this.#leave(TOO_MANY);
        break;
      }
      this.#give(await Promise.all(files.splice(0, AT_ONCE).map((uri) => this.#read(uri))));
    }
  }

  async #list(folder: vscode.Uri): Promise<[uri: vscode.Uri, name: string, type: vscode.FileType][]> {
    try {
      const entries = await vscode.workspace.fs.readDirectory(folder);
      return entries.map(([name, type]) => [vscode.Uri.joinPath(folder, name), name, type]);
    } catch (error) {
      this.#miss(folder, error);
      return [];
    }
  }

  /** The content of a file; nothing if it has none or there is no room for it. */
  async #read(uri: vscode.Uri): Promise<[uri: vscode.Uri, content: Uint8Array | undefined]> {
    const key = uri.toString();
    try {
      const { size } = await vscode.workspace.fs.stat(uri);
      this.#count(key, undefined);
      if (this.#sizes.size >= MOST_FILES) {
        this.#leave(TOO_MANY);
        return [uri, undefined];
      }
      if (this.#bytes + size > MOST_BYTES) {
        this.#leave(`more than ${String(MOST_BYTES / 1e6)} MB`);
        return [uri, undefined];
      }
      this.#count(key, size);
      return [uri, await vscode.workspace.fs.readFile(uri)];
    } catch (error) {
      this.#count(key, undefined);
      this.#miss(uri, error);
      return [uri, undefined];
    }
  }

  #give(files: readonly [uri: vscode.Uri, content: Uint8Array | undefined][]): void {
    const given: GivenFile[] = files.map(([uri, content]) => ({ path: toServer(uri, this.#builtIn.readsDisk).path, content }));
    if (!this.#isOver) {
      this.#builtIn.give(given);
    }
  }

  /** Takes a file, or all files of a folder, from the server. */
  #forget(gone: vscode.Uri): void {
    const name = gone.toString();
    const keys = [...this.#sizes.keys()].filter((key) => key === name || key.startsWith(`${name}/`));
    for (const key of keys) {
      this.#count(key, undefined);
    }
    this.#give(keys.map((key) => [vscode.Uri.parse(key, true), undefined]));
  }

  #count(key: string, size: number | undefined): void {
    this.#bytes += (size ?? 0) - (this.#sizes.get(key) ?? 0);
    if (size === undefined) {
      this.#sizes.delete(key);
    } else {
      this.#sizes.set(key, size);
    }
  }

  #miss(uri: vscode.Uri, error: unknown): void {
    this.#left.add("Not all files can be read, see the output");
    this.#output.warn(`${uri.path} cannot be read: ${String(error)}`);
  }

  #leave(limit: string): void {
    this.#left.add(`The workspace has ${limit}: the rest is checked when you open it`);
  }
}
