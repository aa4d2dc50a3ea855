/** Which server to run: what differs between an editor on a computer and one in a browser. */
import type { Complaint } from "./complaint";
import type { Host } from "./host";
import type { Tool } from "./tool";

/** A server to run, or why there is none. */
export type Choice =
  | { readonly kind: "installed"; readonly tool: Tool; readonly version: string; readonly limits: string; start(): Promise<Host> }
  | BuiltInChoice
  | { readonly kind: "none"; readonly complaint: Complaint };

/** The built-in server, and why it is that one. */
export interface BuiltInChoice {
  readonly kind: "built-in";
  readonly reason: string;
  /** Whether *Install rubric-lint for the Editor* would bring a faster one. */
  readonly canInstall: boolean;
  /** What is wrong with the installed one that was found, if there is one. */
  readonly complaint: Complaint | undefined;
  start(): Promise<Host>;
}

/** Decides what to run as things are now. `unusable` is why the server of the installed one that it chose last cannot run. */
export type Launcher = (unusable?: Complaint) => Promise<Choice>;
