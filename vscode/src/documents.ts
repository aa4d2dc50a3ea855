/** The files that may hold rubrics; which of them do is for the server to say. */
import * as vscode from "vscode";

const LANGUAGES = ["yaml", "json", "jsonl", "jsonlines", "toml", "python"];
const SUFFIXES = ["yaml", "yml", "json", "jsonl", "py", "pyi", "pyw", "toml"];

/** A filter as both VS Code and the protocol have it. */
type Filter = { readonly scheme: string } & ({ readonly language: string } | { readonly pattern: string });

/** Those that an installed server can read or is shown. */
export const LOCAL = ["file", "untitled"];

/** The documents with these schemes. */
export function documents(schemes: readonly string[]): Filter[] {
  return schemes.flatMap((scheme) => [
    ...LANGUAGES.map((language) => ({ scheme, language })),
    { scheme, pattern: `**/*.{${SUFFIXES.join(",")}}` },
  ]);
}

/** The schemes of all documents that a built-in server may be shown. */
export function openSchemes(): string[] {
  return [...new Set([...LOCAL, ...(vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme)])];
}

/** Whether a file of this name is of use to the server. */
export function isOfUse(name: string): boolean {
  return name === ".gitignore" || SUFFIXES.some((suffix) => name.toLowerCase().endsWith(`.${suffix}`));
}
