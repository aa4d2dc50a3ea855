/** What VS Code's own interface tells of an open workspace; runs in its extension host, in a window of the real editor. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import Mocha from "mocha";
import * as vscode from "vscode";

const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
const bin = path.join(folder, ".venv/bin");

/** Called by VS Code. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: "bdd", timeout: 20_000, reporter: "dot" });
  mocha.suite.emit("pre-require", globalThis, null, mocha);
  tests();
  const results: string[] = [];
  await new Promise<void>((resolve) => {
    mocha
      .run(() => {
        resolve();
      })
      .on("pass", (test) => results.push(`pass: ${test.fullTitle()}`))
      .on("fail", (test, error: Error) => results.push(`FAIL: ${test.fullTitle()}\n${error.stack ?? error.message}`));
  });
  // The test reads the file as soon as it is there, so it is there whole.
  const part = path.join(folder, "results.part");
  writeFileSync(part, JSON.stringify(results));
  renameSync(part, path.join(folder, "results.json"));
}

/** One finding, with the text that it stands at. */
interface Finding {
  readonly rule: string;
  readonly severity: string;
  readonly message: string;
  readonly text: string;
}

async function until<T>(what: string, probe: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const value = await probe();
    if (value !== undefined) {
      return value;
    }
    assert.ok(Date.now() < end, `${what} did not come to pass`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function open(name: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(path.join(folder, name));
  await vscode.window.showTextDocument(document);
  return document;
}

/** Our diagnostics of a document, once there are any; or once there are as many as given. */
function diagnostics(document: vscode.TextDocument, count?: number): Promise<vscode.Diagnostic[]> {
  return until(`diagnostics of ${document.fileName}`, () => {
    const all = vscode.languages.getDiagnostics(document.uri).filter((one) => one.source === "rubric-lint");
    return (count === undefined ? all.length > 0 : all.length === count) ? all : undefined;
  });
}

function shown(document: vscode.TextDocument, all: readonly vscode.Diagnostic[]): Finding[] {
  return all.map((one) => ({
    rule: typeof one.code === "object" ? String(one.code.value) : String(one.code),
    severity: one.severity === vscode.DiagnosticSeverity.Error ? "error" : "warning",
    message: one.message,
    text: document.getText(one.range),
  }));
}

/** What the command line says of a file on disk. */
function reported(name: string): Finding[] {
  const { stdout } = spawnSync(path.join(bin, "rubric-lint"), ["--format", "json", name], { cwd: folder, encoding: "utf8" });
  const report = JSON.parse(stdout) as {
    findings: { rule: string; severity: string; message: string; start: { offset: number }; end: { offset: number } }[];
  };
  const points = Array.from(readFileSync(path.join(folder, name), "utf8").replace(/^\uFEFF/, ""));
  return report.findings.map(({ rule, severity, message, start, end }) => ({
    rule,
    severity,
    message,
    text: points.slice(start.offset, end.offset).join(""),
  }));
}

const byText = (one: Finding, other: Finding): number => JSON.stringify(one).localeCompare(JSON.stringify(other));

const MOST = 100; // are asked for their edits too

async function actions(document: vscode.TextDocument, range: vscode.Range, kind?: string): Promise<vscode.CodeAction[]> {
  return vscode.commands.executeCommand<vscode.CodeAction[]>("vscode.executeCodeActionProvider", document.uri, range, kind, MOST);
}

async function apply(action: vscode.CodeAction | undefined): Promise<void> {
  assert.ok(action?.edit, "the action has an edit");
  assert.ok(await vscode.workspace.applyEdit(action.edit));
}

/** The processes of the server that this extension host started. */
function servers(): number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => {
    try {
      const parent = / \S (\d+)/.exec(readFileSync(`/proc/${String(pid)}/stat`, "utf8").replace(/^.*\)/s, ""))?.[1];
      const line = readFileSync(`/proc/${String(pid)}/cmdline`, "utf8");
      return Number(parent) === process.pid && line.includes("rubric_lint\0lsp");
    } catch {
      return false; // it ended meanwhile
    }
  });
}

function tests(): void {
  describe("the findings", () => {
    for (const name of ["suite.yaml", "emoji crlf é.yaml", "scale.rubric.json"]) {
      it(`are those of the command line, at the same text, in ${name}`, async () => {
        const document = await open(name);
        const expected = reported(name);
        assert.ok(expected.length >= 2);
        assert.deepEqual(shown(document, await diagnostics(document, expected.length)).sort(byText), expected.sort(byText));
      });
    }

    it("link to the page of their rule, and to the other place", async () => {
      const document = await open("suite.yaml");
      const overlap = (await diagnostics(document)).find((one) => shown(document, [one])[0]?.rule === "overlap");
      assert.ok(typeof overlap?.code === "object" && String(overlap.code.target) === "https://rubric-lint.github.io/rules/overlap/");
      assert.deepEqual(
        overlap.relatedInformation?.map((place) => document.getText(place.location.range)),
        ["[0, 4]"],
      );
    });

    it("follow what is typed and not saved, also in a file that has no name", async () => {
      const document = await vscode.workspace.openTextDocument({
        language: "yaml",
        content: "rubrics:\n  - id: a\n    expected_outcome: ''\n",
      });
      await vscode.window.showTextDocument(document);
      assert.deepEqual(
        shown(document, await diagnostics(document, 1)).map((one) => one.rule),
        ["empty-outcome"],
      );
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, new vscode.Range(2, 22, 2, 24), "Names the city");
      await vscode.workspace.applyEdit(edit);
      await diagnostics(document, 0);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    });

    it("stay away from a file that is not ours", async () => {
      const document = await open("compose.yaml");
      const other = await open("suite.yaml");
      await diagnostics(other);
      const found = vscode.languages.getDiagnostics(document.uri).filter((one) => one.source === "rubric-lint");
      assert.deepEqual(found, []);
    });

    it("go when they are switched off in the settings, and come back", async () => {
      const document = await open("suite.yaml");
      await diagnostics(document);
      const settings = vscode.workspace.getConfiguration("rubric-lint");
      await settings.update("enable", false, vscode.ConfigurationTarget.Workspace);
      await diagnostics(document, 0);
      await settings.update("enable", undefined, vscode.ConfigurationTarget.Workspace);
      await diagnostics(document);
    });
  });

  describe("fixes", () => {
    it("one: the quick fix of a misspelt field, to the byte", async () => {
      const document = await open("typo.yaml");
      const before = readFileSync(document.fileName);
      const [misspelt] = await diagnostics(document, 1);
      assert.ok(misspelt);
      const [rename] = await actions(document, misspelt.range, vscode.CodeActionKind.QuickFix.value);
      assert.equal(rename?.title, "Rename `wieght` to `weight` (unsafe)");
      await apply(rename);
      await diagnostics(document, 0);
      assert.ok(await document.save());
      const after = Buffer.from(before.toString().replace("wieght", "weight"));
      assert.deepEqual(readFileSync(document.fileName), after);
    });

    it("all: on save, and the file has the bytes that rubric-fix writes", async () => {
      const name = "old emoji crlf é.yaml";
      const copy = path.join(folder, "copy of old.yaml");
      copyFileSync(path.join(folder, name), copy);
      execFileSync(path.join(bin, "rubric-fix"), [copy], { cwd: folder, stdio: "pipe" });
      const expected = readFileSync(copy);
      const document = await open(name);
      const before = readFileSync(document.fileName);
      await diagnostics(document);
      assert.notDeepEqual(before, expected);
      const settings = vscode.workspace.getConfiguration("editor", document);
      await settings.update("codeActionsOnSave", { "source.fixAll.rubric-lint": "explicit" }, vscode.ConfigurationTarget.Workspace);
      // Nothing is saved that nothing was done to: a line is added and taken away again.
      const end = document.lineAt(document.lineCount - 1).range.end;
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, end, "# seen\n");
      await vscode.workspace.applyEdit(edit);
      await vscode.commands.executeCommand("workbench.action.files.save");
      await settings.update("codeActionsOnSave", undefined, vscode.ConfigurationTarget.Workspace);
      assert.deepEqual(readFileSync(document.fileName).toString(), `${expected.toString()}# seen\r\n`);
    });

    it("all: by the command", async () => {
      const document = await open("old.yaml");
      await diagnostics(document);
      await vscode.commands.executeCommand("rubric-lint.fixAll");
      const fixed = await until("the fixes", () => (document.isDirty ? document.getText() : undefined));
      assert.equal(fixed, "cases:\n  - rubrics:\n      - id: a\n        expected_outcome: Names the city\n        required_min_score: 10\n");
      await document.save();
    });
  });

  describe("ignore comments", () => {
    it("are written by an action, and the finding goes", async () => {
      const document = await open("vague.rubric.yaml");
      const [vague] = await diagnostics(document, 1);
      assert.ok(vague);
      const offered = await actions(document, vague.range, vscode.CodeActionKind.QuickFix.value);
      await apply(offered.find((action) => action.title.startsWith("Ignore")));
      await diagnostics(document, 0);
      assert.match(document.getText(), /# rubric-lint: ignore\[vague-outcome\]/);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    });
  });

  describe("help", () => {
    // What is offered and explained comes from the YAML language server, by the schemas of the extension.
    async function offered(document: vscode.TextDocument, at: vscode.Position): Promise<string[]> {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        "vscode.executeCompletionItemProvider",
        document.uri,
        at,
      );
      return list.items.map((item) => (typeof item.label === "string" ? item.label : item.label.label));
    }

    async function explained(document: vscode.TextDocument, part: string): Promise<string> {
      const at = document.positionAt(document.getText().indexOf(part) + 3);
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, at);
      const parts = hovers.flatMap((hover) => hover.contents) as vscode.MarkdownString[];
      return parts.map((part) => part.value).join("\n");
    }

    it("completes the fields of a criterion", async () => {
      const document = await open("complete.rubric.yaml");
      const labels = await until("fields", async () => {
        const labels = await offered(document, new vscode.Position(1, 4));
        return labels.includes("id") ? labels : undefined;
      });
      for (const field of ["id", "expected_outcome", "weight", "required_min_score", "score_ranges", "levels"]) {
        assert.equal(labels.filter((label) => label === field).length, 1, `${field} is offered once among ${labels.join(", ")}`);
      }
      assert.ok(!labels.includes("description"), "a deprecated field is not offered");
    });

    it("completes the fields of an AgentV suite, whatever it is called", async () => {
      const document = await open("agentv.yaml");
      const labels = await until("fields", async () => {
        const labels = await offered(document, new vscode.Position(7, 12));
        return labels.includes("operator") ? labels : undefined;
      });
      assert.ok(["id", "weight", "min_score", "score_ranges"].every((field) => labels.includes(field)), labels.join(", "));
    });

    it("explains a field on hover", async () => {
      assert.match(await explained(await open("suite.yaml"), "required_min_score"), /required_min_score/);
      const document = await open("agentv.yaml");
      const text = await until("a hover", async () => (await explained(document, "outcome")) || undefined);
      assert.match(text, /What an observer sees if the criterion is met/);
    });

    it("lists the rubrics and criteria in the outline", async () => {
      const document = await open("suite.yaml");
      const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
        "vscode.executeDocumentSymbolProvider",
        document.uri,
      );
      const names = (all: readonly vscode.DocumentSymbol[]): string[] =>
        all.flatMap((one) => [one.name, ...names(one.children)]);
      assert.ok(names(symbols).includes("accuracy"), names(symbols).join(", "));
    });
  });

  describe("the tasks", () => {
    const name = "closed emoji.rubric.yaml";
    const file = path.join(folder, name);
    const text = "rubrics:\n  - {id: \u{1F680}, expected_outcome: '\u{1F469}\u200D\u{1F680} \u{1F600}', wieght: 2, weihgt: 3}\n";

    /** What a problem matcher put at the file, which is not open; the codes of the server have a link. */
    const matched = (): Finding[] => {
      const lines = text.split("\n");
      return vscode.languages
        .getDiagnostics(vscode.Uri.file(file))
        .filter((one) => typeof one.code === "string")
        .map((one) => ({
          rule: typeof one.code === "string" ? one.code : "",
          severity: one.severity === vscode.DiagnosticSeverity.Error ? "error" : "warning",
          message: one.message,
          text: lines[one.range.start.line]?.slice(one.range.start.character, one.range.end.character) ?? "",
        }));
    };

    async function run(task: string): Promise<vscode.TaskExecution> {
      const tasks = await vscode.tasks.fetchTasks({ type: "rubric-lint" });
      assert.deepEqual(tasks.map((one) => one.name).sort(), ["check", "watch"]);
      const found = tasks.find((one) => one.name === task);
      assert.ok(found);
      return vscode.tasks.executeTask(found);
    }

    before(() => {
      writeFileSync(file, text);
    });

    it("list the findings of files that are not open, at the same text as the command line", async () => {
      await run("check");
      const expected = reported(name);
      assert.ok(expected.length >= 2);
      const found = await until("the findings of the task", () => (matched().length === expected.length ? matched() : undefined));
      assert.deepEqual(found.sort(byText), expected.sort(byText));
    });

    it("check again when a file changes, until they are stopped", async () => {
      const execution = await run("watch");
      await until("the findings of the task", () => (matched().length > 0 ? true : undefined));
      writeFileSync(file, "rubrics:\n  - {id: a, expected_outcome: Names the city}\n");
      await until("no findings", () => (matched().length === 0 ? true : undefined));
      writeFileSync(file, text);
      await until("findings again", () => (matched().length === reported(name).length ? true : undefined));
      execution.terminate();
    });
  });

  describe("the server", () => {
    it("is started once, from the environment in the folder", () => {
      assert.equal(servers().length, 1);
    });

    it("is started again when it is killed, and the findings come back", async () => {
      const document = await open("suite.yaml");
      await diagnostics(document);
      const [killed] = servers();
      assert.ok(killed);
      process.kill(killed, "SIGKILL");
      await until("a new server", () => servers().find((pid) => pid !== killed));
      await diagnostics(document);
    });

    it("is started again by the command, and the old one ends", async () => {
      const document = await open("suite.yaml");
      const [old] = servers();
      await vscode.commands.executeCommand("rubric-lint.restart");
      await diagnostics(document);
      assert.equal(servers().length, 1);
      assert.notDeepEqual(servers(), [old]);
    });

    it("comes from the interpreter that is selected, once one is", async () => {
      const before = servers();
      await vscode.commands.executeCommand("stand-in.select", path.join(folder, "other-venv/bin/python"));
      await until("another server", () => servers().find((pid) => !before.includes(pid)));
      const [pid] = await until("only that server", () => (servers().length === 1 ? servers() : undefined));
      assert.match(readFileSync(`/proc/${String(pid)}/cmdline`, "utf8"), /other-venv\/bin\/python/);
      await diagnostics(await open("suite.yaml"));
    });

    it("comes from the path in the settings before all else", async () => {
      const before = servers();
      const settings = vscode.workspace.getConfiguration("rubric-lint");
      await settings.update("path", "${workspaceFolder}/.venv/bin/rubric-lint", vscode.ConfigurationTarget.Workspace);
      await until("the old server to end", () => (servers().some((pid) => before.includes(pid)) ? undefined : true));
      await diagnostics(await open("suite.yaml"));
      await settings.update("path", undefined, vscode.ConfigurationTarget.Workspace);
      await until("the server of the interpreter", () => (servers().length === 1 ? true : undefined));
    });
  });
}
