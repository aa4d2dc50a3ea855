/** Which server to run: what differs between an editor on a computer and one in a browser. */
import type { Complaint } from "./complaint";
import type { Host } from "./host";
import type { Tool } from "./tool";

/** A server to run, or why there is none. */
export type Choice =
  | { readonly kind: "installed"; readonly tool: Tool; readonly version: string; start(): Promise<Host> }
  | { readonly kind: "built-in"; readonly reason: string; readonly canInstall: boolean; start(): Promise<Host> }
  | { readonly kind: "none"; readonly complaint: Complaint };

/** Decides what to run as things are now. */
export type Launcher = () => Promise<Choice>;
