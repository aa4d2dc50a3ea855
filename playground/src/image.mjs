// @ts-check
/**
 * The image that the page starts from, in one file: the memory of a Python that has rubric-lint loaded, and the files of
 * its packages. The build makes it, the worker and the tests start from it; that takes a tenth of loading all anew. The
 * extension for VS Code has one without memory, which would double the size of what people download.
 *
 * Layout: the length of the index (4 bytes, little-endian), the index as ASCII JSON with blanks behind it, so
 * that the memory begins at a multiple of 8; the memory; the files one after the other.
 */

/** @typedef {{ memory: number, files: [path: string, size: number][] }} Index */
/** @typedef {{ VERSION: string, answer: (request: string) => string }} Bridge */
/** @typedef {{ mkdirTree(path: string): void, writeFile(path: string, content: Uint8Array): void }} FileSystem */

/**
 * @param {Uint8Array} memory
 * @param {[path: string, content: Uint8Array][]} files
 */
export function packImage(memory, files) {
  /** @type {Index} */
  const described = { memory: memory.length, files: files.map(([path, content]) => [path, content.length]) };
  const json = JSON.stringify(described);
  const index = new TextEncoder().encode(json + " ".repeat(8 - ((4 + json.length) % 8)));
  const parts = [new Uint8Array(new Uint32Array([index.length]).buffer), index, memory, ...files.map((file) => file[1])];
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Where the packages are. */
export const FOLDER = "/packages";

/** A request that any image answers. */
const TRIAL = JSON.stringify({ do: "lint", name: "a.rubric.yaml", text: "rubrics:\n  - id: a\n    expected_outcome: Good\n" });

/**
 * Starts Python from an image and returns what answers requests.
 *
 * The memory holds numbers of WebAssembly functions, which differ between engines with and without some features. Where
 * it does not fit this engine, the packages are loaded anew, which takes some seconds more.
 *
 * @param {typeof import("pyodide").loadPyodide} loadPyodide
 * @param {string | undefined} indexURL where Pyodide's own files are
 * @param {Promise<Uint8Array>} image
 * @returns {Promise<Bridge>}
 */
export async function startImage(loadPyodide, indexURL, image) {
  const opened = image.then(openImage);
  const where = indexURL === undefined ? {} : { indexURL };
  try {
    const pyodide = await loadPyodide({ ...where, _loadSnapshot: opened.then(({ memory }) => memory) });
    return startBridge(pyodide, (await opened).files);
  } catch {
    const { files } = await opened;
    const pyodide = await loadPyodide(where);
    pyodide.runPython(`import sys; sys.path.insert(0, "${FOLDER}")`);
    return startBridge(pyodide, files);
  }
}

/**
 * @param {import("pyodide").PyodideInterface} pyodide
 * @param {(readonly [path: string, content: Uint8Array])[]} files
 * @returns {Bridge}
 */
function startBridge(pyodide, files) {
  writeFiles(pyodide.FS, files);
  /** @type {Bridge} */
  const bridge = pyodide.pyimport("bridge");
  bridge.answer(TRIAL);
  return bridge;
}

/**
 * Writes files, whose folders need not be there.
 *
 * @param {FileSystem} FS
 * @param {Iterable<readonly [path: string, content: Uint8Array]>} files
 */
export function writeFiles(FS, files) {
  const made = new Set();
  for (const [path, content] of files) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(folder)) {
      made.add(folder);
      FS.mkdirTree(folder);
    }
    FS.writeFile(path, content);
  }
}

/**
 * The parts of an image, which are views of it.
 *
 * @param {Uint8Array} image
 */
export function openImage(image) {
  const size = new DataView(image.buffer, image.byteOffset).getUint32(0, true);
  /** @type {Index} */
  const index = JSON.parse(new TextDecoder().decode(image.subarray(4, 4 + size)));
  let at = 4 + size;
  const take = (/** @type {number} */ length) => image.subarray(at, (at += length));
  const memory = take(index.memory);
  return { memory, files: index.files.map(([path, length]) => /** @type {const} */ ([path, take(length)])) };
}
