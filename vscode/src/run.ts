/** What a task runs; knows nothing of VS Code. */
import type { Tool } from "./tool";

/** What `tasks.json` may say of a task of ours; a user writes it, so it can be anything. */
export interface Wish {
  readonly paths?: unknown;
  readonly options?: unknown;
}

/** The arguments of the tool for a task: findings come one to a line, as the problem matcher reads them. */
export function taskArguments(tool: Tool, wish: Wish): string[] {
  const paths = strings(wish.paths);
  return [...tool.arguments, "check", "--format", "concise", ...strings(wish.options), ...(paths.length > 0 ? ["--", ...paths] : [])];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
