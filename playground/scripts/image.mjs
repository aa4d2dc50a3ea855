// Makes the image: compiles the wheels and our own Python to byte code with the Python that will run it, loads rubric-lint
// in a fresh one, lints and scores something there, and keeps its memory. Compiles Python's own library in the same way.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadPyodide } from "pyodide";
import { FOLDER, packImage, writeFiles } from "../src/image.mjs";

// Sources stay out: half the size. `assert` stays in, because the parser of YAML relies on it.
const COMPILE = `
import compileall, pathlib, shutil
root = pathlib.Path("${FOLDER}")
notices = []
for info in sorted(root.glob("*.dist-info")):
    licenses = [path for path in sorted(info.rglob("*")) if path.is_file() and path.name.lower().startswith(("license", "copying"))]
    assert licenses, f"{info.name} has no license file, so it cannot be shipped"
    name = info.name.removesuffix(".dist-info").replace("-", " ")
    notices.append("\\n\\n".join([name, *(path.read_text("utf-8").strip() for path in licenses)]) + "\\n")
    shutil.rmtree(info)
for folder in [*root.glob("*/tests"), *root.glob("*/benchmarks")]:
    shutil.rmtree(folder)
assert compileall.compile_dir(root, quiet=1, legacy=True, stripdir="${FOLDER}")
for source in [*root.rglob("*.py"), *root.rglob("*.pyi"), *root.rglob("py.typed")]:
    source.unlink()
notices
`;

const LOAD = `
import gc, sys
sys.path.insert(0, "${FOLDER}")
sys.dont_write_bytecode = True
import bridge
first = [bridge.answer(request) for request in requests][0]
gc.collect()
first
`;

// Python's own library, as Pyodide has it in an archive, with sources: compiling those takes two thirds of its start. Left
// out is what only programmers and servers use; no package here imports it. Docstrings would be a tenth of the archive.
const LEFT_OUT = [
  ...["_pyio", "_pyrepl", "doctest", "modulefinder", "optparse", "pdb", "pickletools", "pstats", "pydoc", "trace", "unittest"],
  ...["ftplib", "imaplib", "mailbox", "smtplib", "wsgiref", "xmlrpc"],
];
const COMPILE_LIBRARY = `
import compileall, pathlib, zipfile
root = pathlib.Path("/library")
with zipfile.ZipFile("/library.zip") as archive:
    archive.extractall(root)
assert compileall.compile_dir(root, quiet=1, legacy=True, stripdir=root, optimize=2)
with zipfile.ZipFile("/compiled.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and path.suffix != ".py" and name.parts[0].removesuffix(".pyc") not in left_out:
            archive.write(path, name)
`;

// attrs writes the methods of each class as source when it is imported, and the protocol has hundreds of classes.
const COMPILE_CLASSES = `
import marshal, sys
sys.path.insert(0, "${FOLDER}")
sys.dont_write_bytecode = True
import attr._make
compiled = {}
def record(source, *rest):
    compiled[source] = compile(source, *rest)
    return compiled[source]
attr._make.compile = record
import rubric_lint.editor.features
assert compiled, "attrs compiles elsewhere now"
marshal.dumps(compiled)
`;

/** Every file of a folder of this computer, as paths below it. */
async function filesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes("__pycache__"));
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Every file of a folder of Pyodide's, with its content. */
function filesBelow(FS, folder) {
  return FS.readdir(folder)
    .filter((name) => name !== "." && name !== "..")
    .sort()
    .flatMap((name) => {
      const path = `${folder}/${name}`;
      return FS.isDir(FS.stat(path).mode) ? filesBelow(FS, path) : [[path, FS.readFile(path)]];
    });
}

/** The wheels and our own Python, compiled: the files, and the licenses of the packages. */
export async function compilePackages(wheels, ours) {
  const compiler = await loadPyodide();
  for (const wheel of (await readdir(wheels)).filter((name) => name.endsWith(".whl"))) {
    compiler.unpackArchive(new Uint8Array(await readFile(join(wheels, wheel))), "zip", { extractDir: FOLDER });
  }
  for (const name of await filesOf(ours)) {
    compiler.FS.mkdirTree(join(FOLDER, name, ".."));
    compiler.FS.writeFile(join(FOLDER, name), new Uint8Array(await readFile(join(ours, name))));
  }
  const notices = compiler.runPython(COMPILE).toJs();
  return { files: filesBelow(compiler.FS, FOLDER), notices };
}

/** The archive of Python's own library, with byte code in place of sources. */
export async function compileLibrary(archive) {
  const compiler = await loadPyodide();
  compiler.FS.writeFile("/library.zip", new Uint8Array(await readFile(archive)));
  compiler.runPython(COMPILE_LIBRARY, { locals: compiler.toPy({ left_out: LEFT_OUT }) });
  return compiler.FS.readFile("/compiled.zip");
}

/** The methods that attrs makes for the classes of the language server, by their source, as Python marshals them. */
export async function compileClasses(files) {
  const compiler = await loadPyodide();
  writeFiles(compiler.FS, files);
  return compiler.runPython(COMPILE_CLASSES).toJs();
}

/** The image, the answer to the first of `requests`, which are answered before the memory is kept, and the licenses. */
export async function makeImage(wheels, ours, requests) {
  const { files, notices } = await compilePackages(wheels, ours);
  const model = await loadPyodide({ _makeSnapshot: true });
  writeFiles(model.FS, files);
  const locals = model.toPy({ requests });
  const first = model.runPython(LOAD, { locals });
  locals.destroy();
  return { image: packImage(model.makeMemorySnapshot(), files), first, notices };
}
