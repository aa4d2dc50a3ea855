// Files as the list at the address in the settings has them; what is written to them stays here.
"use strict";
const vscode = require("vscode");

class Memory {
  #changed = new vscode.EventEmitter();
  #files = new Map();
  #times = new Map();
  onDidChangeFile = this.#changed.event;

  /** Takes the files of the list; those that differ, or are gone, have changed. */
  load(list) {
    const events = [...this.#files.keys()].filter((path) => !(path in list)).map((path) => [vscode.FileChangeType.Deleted, path]);
    for (const [path, text] of Object.entries(list)) {
      const content = new TextEncoder().encode(text);
      if (String(this.#files.get(path)) !== String(content)) {
        events.push([this.#files.has(path) ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created, path]);
        this.#set(path, content);
      }
    }
    for (const [type, path] of events) {
      if (type === vscode.FileChangeType.Deleted) {
        this.#files.delete(path);
      }
    }
    this.#changed.fire(events.map(([type, path]) => ({ type, uri: vscode.Uri.from({ scheme: "memory", path }) })));
  }

  watch() {
    return { dispose() {} };
  }

  stat({ path }) {
    const content = this.#files.get(path);
    if (content) {
      return { type: vscode.FileType.File, size: content.length, ctime: 0, mtime: this.#times.get(path) };
    }
    if (path === "/" || this.#below(path).length > 0) {
      return { type: vscode.FileType.Directory, size: 0, ctime: 0, mtime: 0 };
    }
    throw vscode.FileSystemError.FileNotFound(path);
  }

  readDirectory({ path }) {
    const names = new Map();
    for (const rest of this.#below(path)) {
      const [name, ...more] = rest.split("/");
      names.set(name, more.length > 0 ? vscode.FileType.Directory : vscode.FileType.File);
    }
    return [...names];
  }

  readFile({ path }) {
    const content = this.#files.get(path);
    if (!content) {
      throw vscode.FileSystemError.FileNotFound(path);
    }
    return content;
  }

  writeFile(uri, content) {
    this.#set(uri.path, content);
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  createDirectory() {}

  delete() {}

  rename() {}

  #set(path, content) {
    this.#files.set(path, content);
    this.#times.set(path, Date.now());
  }

  #below(path) {
    const folder = path.endsWith("/") ? path : `${path}/`;
    return [...this.#files.keys()].filter((each) => each.startsWith(folder)).map((each) => each.slice(folder.length));
  }
}

exports.activate = async (context) => {
  const memory = new Memory();
  const list = vscode.workspace.getConfiguration("memory").get("list");
  const load = async () => memory.load(await (await fetch(list)).json());
  await load();
  context.subscriptions.push(
    vscode.workspace.registerFileSystemProvider("memory", memory, { isCaseSensitive: true }),
    vscode.commands.registerCommand("memory.load", load),
  );
};
