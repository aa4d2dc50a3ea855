/** What a task runs; knows nothing of VS Code. */
import type { Tool } from "./tool";

/** What `tasks.json` may say of a task of ours; a user writes it, so it can be anything. */
export interface Wish {
  readonly paths?: unknown;
  readonly watch?: unknown;
  readonly options?: unknown;
}

/** The arguments of the tool for a task: the report is the one that the problem matcher reads. */
export function taskArguments(tool: Tool, wish: Wish): string[] {
  const paths = strings(wish.paths);
  return [
    ...tool.arguments,
    "check",
    "--format",
    "vscode",
    ...(watches(wish) ? ["--watch"] : []),
    ...strings(wish.options),
    ...(paths.length > 0 ? ["--", ...paths] : []),
  ];
}

/** Whether a task runs until it is stopped. */
export function watches(wish: Wish): boolean {
  return wish.watch === true;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
