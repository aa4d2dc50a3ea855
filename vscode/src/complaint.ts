/** What the user is told when the server cannot run: what is wrong, where, and what to do. */
import type { End } from "./host";
import { type Answer, installation, OLDEST, type Outcome, type Tool } from "./tool";

/** A message and, where one command mends it, that command. */
export interface Complaint {
  /** A few words for the status item. */
  readonly brief: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly command: string | undefined;
}

/** The places that have no rubric-lint, a line for each. */
export function listTried(tried: readonly Answer[]): string[] {
  return tried.map(({ tool, ...answer }) =>
    `Tried ${commandLine(tool)} (${tool.origin}): ${"reason" in answer ? answer.reason : answer.version}`,
  );
}

/** Why the tool that the search ended at is of no use. */
export function complaint(outcome: Exclude<Outcome, { kind: "found" | "missing" }>): Complaint {
  const command = installation(outcome.tool);
  switch (outcome.kind) {
    case "old":
      return {
        brief: `rubric-lint ${outcome.version} from ${outcome.tool.origin} is too old`,
        message:
          `rubric-lint ${outcome.version} from ${outcome.tool.origin} is too old: ` +
          `the editor needs ${OLDEST} or newer. Upgrade it with: ${command}`,
        details: [`Command: ${commandLine(outcome.tool)}`],
        command,
      };
    case "broken":
      return {
        brief: `rubric-lint from ${outcome.tool.origin} cannot start`,
        message: `rubric-lint from ${outcome.tool.origin} cannot start: ${outcome.tool.command}: ${outcome.reason}`,
        details: [`Command: ${commandLine(outcome.tool)}`],
        command: undefined,
      };
  }
}

/** The complaint about one that the built-in one runs instead of. */
export function replaced(complaint: Complaint): Complaint {
  return { ...complaint, message: `The built-in rubric-lint runs for now. ${complaint.message}` };
}

/** What an installed tool does not read of folders with these schemes, behind where it comes from. */
export function limitsOf(schemes: readonly string[]): string {
  return schemes.some((scheme) => scheme !== "file") ? ". It cannot read the virtual folders of this workspace" : "";
}

/** Why a server that ended is not started again; without a tool it is the built-in one. */
export function complaintOfEnd(tool: Tool | undefined, end: End, times: number): Complaint {
  const lastWords = end.lastWords ? [`Last output: ${end.lastWords}`] : [];
  if (tool && end.code === 2) {
    const isIncomplete = end.lastWords.includes("pip install");
    return {
      brief: `The server of rubric-lint from ${tool.origin} cannot start`,
      message: end.lastWords || "The rubric-lint server cannot start: it exited with code 2.",
      details: [`Command: ${commandLine(tool)} lsp`],
      command: isIncomplete ? installation(tool) : undefined,
    };
  }
  const often = `${String(times)} times`;
  return {
    brief: `The server crashed ${often}`,
    message: `The rubric-lint server crashed ${often} in a row, the last time with ${describe(end)}. It will not restart.`,
    details: lastWords,
    command: undefined,
  };
}

/** An exit code or a signal, in words. */
export function describe(end: End): string {
  return end.signal ? `signal ${end.signal}` : `exit code ${String(end.code)}`;
}

function commandLine(tool: Tool): string {
  return [tool.command, ...tool.arguments].join(" ");
}
