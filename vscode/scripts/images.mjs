// Renews the pictures of the extension's pages and of its walkthrough: images/NAME.png becomes NN-NAME.png of the film.
import { copyFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const FILM = "../build/film";
const film = new Map((await readdir(FILM)).map((name) => [name.replace(/^\d+-/, ""), name]));

for (const name of await readdir("images")) {
  if (/-(light|dark)\.png$/.test(name)) {
    if (!film.has(name)) {
      throw new Error(`${name} is not in the film`);
    }
    await copyFile(join(FILM, film.get(name)), join("images", name));
  }
}
