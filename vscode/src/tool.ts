/** A rubric-lint that is installed, and what a look at one may give; knows neither Node.js nor VS Code. */

/** The oldest rubric-lint that has all the extension asks of its server. */
export const OLDEST = "0.1.0";

/** A way to start rubric-lint, and where it comes from, in words for the user. */
export interface Tool {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly origin: string;
}

/** What a candidate answered to `--version`. */
export type Answer =
  | { readonly kind: "found"; readonly tool: Tool; readonly version: string }
  | { readonly kind: "old"; readonly tool: Tool; readonly version: string }
  | { readonly kind: "broken"; readonly tool: Tool; readonly reason: string }
  | { readonly kind: "absent"; readonly tool: Tool; readonly reason: string };

/** The first answer that counts, or every place that has no rubric-lint. */
export type Outcome = Exclude<Answer, { kind: "absent" }> | { readonly kind: "missing"; readonly tried: readonly Answer[] };

/** The command that installs or upgrades rubric-lint for the first of these tools that is an interpreter. */
export function installation(...tools: readonly Tool[]): string {
  const python = tools.find((tool) => tool.arguments.length > 0);
  const pip = python ? `${quoted(python.command)} -m pip` : "pip";
  return `${pip} install -U "rubric-lint[lsp]"`;
}

/** Whether a version is at least another one; what follows the numbers (rc1, .dev2) does not count. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [have, need] = [numbers(version), numbers(oldest)];
  for (let index = 0; index < need.length; index++) {
    const difference = (have[index] ?? 0) - (need[index] ?? 0);
    if (difference !== 0) {
      return difference > 0;
    }
  }
  return true;
}

function numbers(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);
}

function quoted(command: string): string {
  return /\s/.test(command) ? `"${command}"` : command;
}
