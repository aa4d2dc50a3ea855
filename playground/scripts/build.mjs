// Builds the page into build/playground: the bundles, Pyodide, and the Python packages as one archive.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { makeImage } from "./image.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const OUT = "../build/playground";
const PYODIDE = ["pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip"];

/** The licence of each npm package that the bundles hold. */
async function noticesOf(inputs) {
  const folders = new Set(["node_modules/pyodide"]);
  for (const input of inputs) {
    const folder = /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
    if (folder) {
      folders.add(folder);
    }
  }
  const texts = [];
  for (const folder of [...folders].sort()) {
    const { name, version, license, repository } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(join(folder, file), "utf8") : `License: ${license}\nSource: ${repository.url}`;
    texts.push(`${name} ${version}\n\n${text.trim()}\n`);
  }
  return texts;
}

/** Requests of each kind and of each system whose rubrics are an example, so that what they load is in the image. */
async function warmRequests() {
  const first = await readFile("examples/draft.rubric.yaml", "utf8");
  const text = await readFile("examples/overlap.rubric.yaml", "utf8");
  const sound = await readFile("../examples/summary.rubric.yaml", "utf8");
  const file = { name: "a.rubric.yaml", text };
  const examples = ["examples", "../examples"].map(async (folder) => {
    const names = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
    return Promise.all(names.map(async (name) => ({ do: "lint", name, text: await readFile(join(folder, name), "utf8") })));
  });
  return [
    { do: "lint", name: "check.rubric.yaml", text: first },
    ...(await Promise.all(examples)).flat(),
    { do: "lint", name: "a.yaml", text: "# Facts (50%)\n- 1: none\n- 2: some\n- 3: all\n" },
    { do: "lint", name: "a.json", text: '{"rubrics": [{"id": "a", "expected_outcome": "b", "weight": -1}]}' },
    { do: "lint", name: "a.yaml", text: "rubrics: [" },
    { do: "show", ...file, text: sound },
    { do: "fix-one", ...file, finding: 0, choice: "" },
    { do: "fix-all", ...file },
    { do: "score", ...file, text: sound, output: '{"checks": []}', rubric: null },
  ].map((request) => JSON.stringify(request));
}

await rm(OUT, { recursive: true, force: true });
await mkdir(join(OUT, "pyodide"), { recursive: true });
const python = await makeImage("../.cache/playground", "python", await warmRequests());
const { metafile } = await build({
  entryPoints: ["src/main.ts", "src/worker.ts"],
  outdir: OUT,
  bundle: true,
  format: "esm",
  target: "es2022",
  loader: { ".yaml": "text", ".json": "text", ".jsonl": "text" },
  external: ["node:*", "ws"], // asked for by Pyodide where it runs in Node.js,
  minify: true,
  sourcemap: false,
  metafile: true,
  define: { FIRST_ANSWER: python.first },
  logLevel: "warning",
});
await writeFile(join(OUT, "python.image"), gzipSync(python.image, { level: 9 }));
for (const name of PYODIDE) {
  await copyFile(join("node_modules/pyodide", name), join(OUT, "pyodide", name));
}
for (const name of ["index.html", "playground.css"]) {
  await copyFile(join("src", name), join(OUT, name));
}
const python314 = "Python 3.14, a part of pyodide\n\nLicense: PSF-2.0\nSource: https://github.com/python/cpython\n";
const notices = [python314, ...(await noticesOf(Object.keys(metafile.inputs))), ...python.notices];
await writeFile(join(OUT, "THIRD-PARTY-NOTICES.txt"), notices.join(`\n${"-".repeat(80)}\n\n`));
