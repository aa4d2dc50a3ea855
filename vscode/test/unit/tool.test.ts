/** The search, with real programs on a real file system; the fakes are shell scripts, so these need a POSIX system. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, describe, it } from "node:test";

import { asText, candidates, find, safeEnvironment, type Search } from "../../src/search";
import { installation, isAtLeast, OLDEST, type Tool } from "../../src/tool";

const room = realpathSync(mkdtempSync(path.join(tmpdir(), "rubric lint é ")));
after(() => {
  rmSync(room, { recursive: true });
});

let count = 0;

/** A new folder. */
function folder(): string {
  const name = path.join(room, String(++count));
  mkdirSync(name);
  return name;
}

/** A program that does what a few lines of shell say. */
function script(file: string, ...lines: string[]): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(file, 0o755);
  return file;
}

function rubricLint(file: string, version = OLDEST): string {
  return script(file, `echo "rubric-lint ${version}"`, "echo schemas: rubric v1, v2");
}

/** A virtual environment of this machine's Python, in which nothing is installed. */
function environment(file: string): string {
  execFileSync("python3", ["-m", "venv", "--without-pip", file]);
  return path.join(file, "bin", "python");
}

function search(given: Partial<Search> = {}): Search {
  return {
    path: "",
    interpreter: "",
    selected: undefined,
    own: "/nowhere",
    version: OLDEST,
    folders: [],
    environment: { PATH: "/usr/bin:/bin", HOME: room },
    platform: "linux",
    ...given,
  };
}

function onPath(...folders: string[]): NodeJS.ProcessEnv {
  return { PATH: [...folders, "/usr/bin", "/bin"].join(":"), HOME: room };
}

const program = (command: string, origin: string): Tool => ({ command, arguments: [], origin });
const python = (command: string, origin: string): Tool => ({ command, arguments: ["-m", "rubric_lint"], origin });

describe("where it looks", () => {
  it("takes a path that is set for an order and looks nowhere else", async () => {
    const workspace = folder();
    environment(path.join(workspace, ".venv"));
    assert.deepEqual(await candidates(search({ path: "/opt/rubric-lint", interpreter: "/opt/python", folders: [workspace] })), [
      program("/opt/rubric-lint", "the setting rubric-lint.path"),
    ]);
  });

  it("takes what it has installed itself last", async () => {
    const own = folder();
    const found = environment(own);
    const tools = path.join(folder(), "rubric-lint");
    rubricLint(tools);
    const given = search({ own, environment: onPath(path.dirname(tools)) });
    assert.deepEqual(await candidates(given), [program(tools, "PATH"), python(found, "the folder of the extension")]);
  });

  it("takes an interpreter that is set for an order too", async () => {
    assert.deepEqual(await candidates(search({ interpreter: "/opt/python", selected: "/usr/bin/python3" })), [
      python("/opt/python", "the setting rubric-lint.interpreter"),
    ]);
  });

  for (const [written, expected] of [
    ["~/bin/rubric-lint", path.join(room, "bin/rubric-lint")],
    ["${workspaceFolder}/tools/rubric-lint", "/ws/tools/rubric-lint"],
    ["tools/rubric-lint", "/ws/tools/rubric-lint"],
    ["./rubric-lint", "/ws/rubric-lint"],
    ["~other/rubric-lint", "/ws/~other/rubric-lint"],
    ["/$&/rubric-lint", "/$&/rubric-lint"],
  ] as const) {
    it(`reads the path ${written}`, async () => {
      const [tool] = await candidates(search({ path: written, folders: ["/ws", "/other"] }));
      assert.equal(tool?.command, expected);
    });
  }

  it("looks a bare name up on PATH", async () => {
    const bin = folder();
    const file = rubricLint(path.join(bin, "rubric-lint-2"));
    const [tool] = await candidates(search({ path: "rubric-lint-2", environment: onPath(bin) }));
    assert.equal(tool?.command, file);
  });

  it("goes from the selected interpreter to the folders' environments to PATH", async () => {
    const [one, two, bin] = [folder(), folder(), folder()];
    const first = environment(path.join(one, ".venv"));
    const second = environment(path.join(two, "venv"));
    const file = rubricLint(path.join(bin, "rubric-lint"));
    const given = { selected: "/usr/bin/python3", folders: [one, two], environment: onPath(bin) };
    assert.deepEqual(await candidates(search(given)), [
      python("/usr/bin/python3", "the selected Python interpreter"),
      python(first, `.venv in ${path.basename(one)}`),
      python(second, `venv in ${path.basename(two)}`),
      program(file, "PATH"),
    ]);
  });

  it("asks an interpreter once that is selected and lies in the folder", async () => {
    const workspace = folder();
    const selected = environment(path.join(workspace, ".venv"));
    assert.deepEqual(await candidates(search({ selected, folders: [workspace] })), [
      python(selected, "the selected Python interpreter"),
    ]);
  });

  it("lets no relative entry of PATH choose a program of the open folder", async () => {
    const workspace = folder();
    rubricLint(path.join(workspace, "rubric-lint"));
    const relative = path.relative(process.cwd(), workspace);
    const given = { folders: [workspace], environment: { PATH: ["", ".", relative].join(":") } };
    assert.deepEqual(await candidates(search(given)), []);
  });

  it("passes over what cannot be run", async () => {
    const [first, second] = [folder(), folder()];
    writeFileSync(path.join(first, "rubric-lint"), "no program");
    const file = rubricLint(path.join(second, "rubric-lint"));
    assert.deepEqual(await candidates(search({ environment: onPath(first, second) })), [program(file, "PATH")]);
  });

  it("knows the places of Windows", async () => {
    const workspace = folder();
    const bin = folder();
    const inFolder = script(path.join(workspace, ".venv", "Scripts", "python.exe"));
    const inPath = script(path.join(bin, "rubric-lint.exe"));
    const given = { folders: [workspace], environment: onPath(bin), platform: "win32" } as const;
    assert.deepEqual(
      (await candidates(search(given))).map((tool) => tool.command),
      [inFolder, inPath],
    );
  });
});

describe("what it finds", () => {
  it("finds nothing where nothing is, and says where it looked", async () => {
    const workspace = folder();
    const empty = environment(path.join(workspace, ".venv"));
    const tool = python(empty, `.venv in ${path.basename(workspace)}`);
    assert.deepEqual(await find(search({ selected: "/no/python", folders: [workspace] })), {
      kind: "missing",
      tried: [
        { kind: "absent", tool: python("/no/python", "the selected Python interpreter"), reason: "there is no such file" },
        { kind: "absent", tool, reason: "rubric-lint is not installed there" },
      ],
    });
  });

  it("goes on to PATH when the environment has no rubric-lint", async () => {
    const [workspace, bin] = [folder(), folder()];
    environment(path.join(workspace, ".venv"));
    const file = rubricLint(path.join(bin, "rubric-lint"), "3.2.1");
    assert.deepEqual(await find(search({ folders: [workspace], environment: onPath(bin) })), {
      kind: "found",
      tool: program(file, "PATH"),
      version: "3.2.1",
    });
  });

  it("stops at one that is too old, because the command line runs that one too", async () => {
    const [workspace, bin] = [folder(), folder()];
    const old = rubricLint(path.join(workspace, ".venv", "bin", "python"), "0.0.9");
    rubricLint(path.join(bin, "rubric-lint"));
    assert.deepEqual(await find(search({ folders: [workspace], environment: onPath(bin) })), {
      kind: "old",
      tool: python(old, `.venv in ${path.basename(workspace)}`),
      version: "0.0.9",
    });
  });

  for (const [name, lines, reason] of [
    ["fails", ["echo Traceback >&2", "echo 'ImportError: no ruamel' >&2", "exit 1"], "ImportError: no ruamel"],
    ["says nothing", [], "it printed no version but: nothing"],
    ["is another program", ["echo hello"], "it printed no version but: hello"],
  ] as const) {
    it(`stops at one that ${name}`, async () => {
      const file = script(path.join(folder(), "rubric-lint"), ...lines);
      assert.deepEqual(await find(search({ environment: onPath(path.dirname(file)) })), {
        kind: "broken",
        tool: program(file, "PATH"),
        reason,
      });
    });
  }

  it("goes on when a Python does not work, and says why", async () => {
    const workspace = folder();
    const file = script(path.join(workspace, ".venv/bin/python"), "echo 'libpython3.11.so: cannot open' >&2", "exit 127");
    const tool = python(file, `.venv in ${path.basename(workspace)}`);
    assert.deepEqual(await find(search({ folders: [workspace] })), {
      kind: "missing",
      tried: [{ kind: "absent", tool, reason: "this Python does not work: libpython3.11.so: cannot open" }],
    });
  });

  for (const [name, lines, reason] of [
    ["of another version", ["echo rubric-lint 9.9.9"], `it has version 9.9.9, and this is ${OLDEST}`],
    ["that fails", ['case "$*" in *version) echo boom >&2; exit 1;; esac'], "boom"],
  ] as const) {
    it(`passes over one ${name} in the folder of the extension, which can be installed anew`, async () => {
      const own = folder();
      const file = script(path.join(own, "bin/python"), ...lines);
      assert.deepEqual(await find(search({ own })), {
        kind: "missing",
        tried: [{ kind: "absent", tool: python(file, "the folder of the extension"), reason }],
      });
    });
  }

  it("calls a path in the settings broken if no program is there", async () => {
    const file = folder();
    assert.deepEqual(await find(search({ path: file })), {
      kind: "broken",
      tool: program(file, "the setting rubric-lint.path"),
      reason: "it is not a program that you may run",
    });
  });

  it("calls a path that is set and leads nowhere broken instead of looking elsewhere", async () => {
    const bin = folder();
    rubricLint(path.join(bin, "rubric-lint"));
    assert.deepEqual(await find(search({ path: "/no/rubric-lint", environment: onPath(bin) })), {
      kind: "broken",
      tool: program("/no/rubric-lint", "the setting rubric-lint.path"),
      reason: "there is no such file",
    });
  });

  it("runs no shell: what is special in one is part of the name", async () => {
    const file = rubricLint(path.join(folder(), "$(touch hacked); rubric-lint && x"));
    assert.equal((await find(search({ path: file }))).kind, "found");
  });

  it("takes no module from the folder that is open", async () => {
    const workspace = folder();
    const interpreter = environment(path.join(workspace, ".venv"));
    mkdirSync(path.join(workspace, "rubric_lint"));
    writeFileSync(path.join(workspace, "rubric_lint", "__init__.py"), "");
    writeFileSync(path.join(workspace, "rubric_lint", "__main__.py"), "print('rubric-lint, version 9.9.9')");
    const outcome = await find(search({ folders: [workspace] }));
    assert.equal(outcome.kind, "missing");
    const unsafe = execFileSync(interpreter, ["-m", "rubric_lint"], { cwd: workspace, env: {}, encoding: "utf8" });
    assert.equal(unsafe, "rubric-lint, version 9.9.9\n");
    assert.equal(safeEnvironment({ A: "1" })["PYTHONSAFEPATH"], "1");
  });

  it("finds this project's own in an environment that is linked into the folder", async () => {
    const workspace = folder();
    const own = path.resolve("..", ".venv");
    symlinkSync(own, path.join(workspace, ".venv"));
    const expected = execFileSync(path.join(own, "bin", "rubric-lint"), ["--version"], { encoding: "utf8" });
    assert.deepEqual(await find(search({ folders: [workspace] })), {
      kind: "found",
      tool: python(path.join(workspace, ".venv", "bin", "python"), `.venv in ${path.basename(workspace)}`),
      version: expected.split("\n")[0]?.split(" ").at(-1),
    });
  });
});

describe("a setting", () => {
  for (const [written, expected] of [
    [" /opt/rubric-lint ", "/opt/rubric-lint"],
    [undefined, ""],
    [null, ""],
    [5, "5"],
    [["/opt"], '["/opt"]'],
  ] as const) {
    it(`of ${JSON.stringify(written)} is the path ${JSON.stringify(expected)}`, () => {
      assert.equal(asText(written), expected);
    });
  }
});

describe("what it says to run", () => {
  for (const [command, expected] of [
    ["/ws/.venv/bin/python", '/ws/.venv/bin/python -m pip install -U "rubric-lint[lsp]"'],
    ["/my ws/python", '"/my ws/python" -m pip install -U "rubric-lint[lsp]"'],
  ] as const) {
    it(`names the interpreter ${command}`, () => {
      assert.equal(installation(program("/usr/bin/rubric-lint", "PATH"), python(command, "a test")), expected);
    });
  }

  it("names pip alone when no interpreter is known", () => {
    assert.equal(installation(), 'pip install -U "rubric-lint[lsp]"');
  });
});

describe("the order of versions", () => {
  for (const [version, oldest, expected] of [
    ["0.1.0", "0.1.0", true],
    ["0.1.1", "0.1.0", true],
    ["0.10.0", "0.9.9", true],
    ["1", "0.9.9", true],
    ["1.0", "1.0.0", true],
    ["0.2.0rc1", "0.2.0", true],
    ["0.2.0.dev3", "0.2.1", false],
    ["0.0.9", "0.1.0", false],
    ["0.9.9", "0.10.0", false],
  ] as const) {
    it(`${version} is ${expected ? "" : "not "}at least ${oldest}`, () => {
      assert.equal(isAtLeast(version, oldest), expected);
    });
  }
});
