/** What a server runs in: a process of an installed tool, or a thread of the editor's own for the built-in one. */
import type { MessageTransports } from "vscode-languageclient";

import type { GivenFile } from "./builtin/python";

/** How a server ended by itself. */
export interface End {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last line it wrote to standard error. */
  readonly lastWords: string;
}

/** A server that has been started. */
export interface Host {
  readonly transports: MessageTransports;
  /** The process that the server is to end with. */
  readonly processId: number | null;
  readonly builtIn: BuiltIn | undefined;
  /** Resolves when it has ended and the last of standard error has been read. */
  readonly ended: Promise<End>;
  kill(): void;
}

/** What is special about the built-in server: it sees files under other names, see `builtin/uris.ts`. */
export interface BuiltIn {
  /** Whether it can read the disk of this computer; it reads nothing else but what it is given. */
  readonly readsDisk: boolean;
  /** Hands it files, before all messages that follow. */
  give(files: readonly GivenFile[]): void;
}
