// Builds the extension into dist/, or with --tests the tests into out/. What the project has elsewhere is copied in,
// not kept twice.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { compileClasses, compileLibrary, compilePackages } from "../../playground/scripts/image.mjs";
import { FOLDER, packImage } from "../../playground/src/image.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const PYODIDE = "../playground/node_modules/pyodide";
const node = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };
const browser = { ...node, platform: "browser", target: "es2022" };

/** The licences of the packages that these files come from, one after the other. */
async function notices(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
    if (folder) {
      folders.add(folder);
    }
  }
  const texts = [];
  for (const folder of [...folders].sort()) {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) {
      throw new Error(`${name} has no licence file, so it cannot be shipped`);
    }
    texts.push(`${name} ${version}\n\n${(await readFile(join(folder, file), "utf8")).trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** The built-in server: the Pyodide that the playground has, and the packages; returns their licences. */
async function builtIn(minify) {
  await mkdir("dist/builtin", { recursive: true });
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"]) {
    await copyFile(join(PYODIDE, name), join("dist/builtin", name));
  }
  const { info } = JSON.parse(await readFile(join(PYODIDE, "pyodide-lock.json"), "utf8"));
  const nothing = { info, packages: {} }; // that Pyodide could download
  await writeFile("dist/builtin/pyodide-lock.json", JSON.stringify(nothing));
  await writeFile("dist/builtin/python_stdlib.zip", await compileLibrary(join(PYODIDE, "python_stdlib.zip")));
  const { files, notices } = await compilePackages("../.cache/builtin", "../playground/python");
  const image = packImage(new Uint8Array(), [...files, [`${FOLDER}/classes`, await compileClasses(files)]]);
  await writeFile("dist/builtin/packages.image", gzipSync(image, { level: 9 }));
  await build({ ...node, entryPoints: ["src/builtin/worker.ts"], outfile: "dist/builtin/worker.mjs", format: "esm", minify });
  await build({ ...browser, entryPoints: ["src/web/worker.ts"], outfile: "dist/builtin/webworker.js", format: "iife", minify });
  const { version, license, repository } = JSON.parse(await readFile(join(PYODIDE, "package.json"), "utf8"));
  return [
    "Python 3.14, a part of pyodide\n\nLicense: PSF-2.0\nSource: https://github.com/python/cpython\n",
    `pyodide ${version}\n\nLicense: ${license}\nSource: ${repository.url}\n`,
    ...notices,
  ];
}

async function extension() {
  await rm("dist", { recursive: true, force: true });
  const production = process.argv.includes("--production");
  const options = { external: ["vscode"], minify: production, sourcemap: production ? false : "linked", metafile: true };
  const desktop = await build({ ...node, ...options, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js" });
  const web = await build({ ...browser, ...options, entryPoints: ["src/web/extension.ts"], outfile: "dist/web.js" });
  const inputs = [desktop, web].flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const python = await builtIn(production);
  const separator = `\n${"-".repeat(80)}\n\n`;
  await writeFile("dist/THIRD-PARTY-NOTICES.txt", [await notices(inputs), ...python].join(separator));
  await mkdir("dist/schemas");
  for (const schema of (await readdir("../schemas/bundled")).filter((name) => name.endsWith(".completion.schema.json"))) {
    await copyFile(join("../schemas/bundled", schema), join("dist/schemas", schema));
  }
  await copyFile("../LICENSE", "LICENSE");
}

async function tests() {
  await rm("out", { recursive: true, force: true });
  await build({
    ...node,
    entryPoints: ["test/**/*.ts"],
    outdir: "out/test",
    outbase: "test",
    external: ["vscode", "mocha", "playwright-core"],
    sourcemap: "inline",
  });
  for (const name of ["package.json", "README.md"]) {
    await copyFile(join("test/editor/yaml", name), join("out/test/editor/yaml", name));
  }
}

await (process.argv.includes("--tests") ? tests() : extension());
