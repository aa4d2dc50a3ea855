/** What the extension and the worker tell each other besides the messages of the protocol, which have a port of their own. */

/** The first message to the worker: where the files of the built-in server are, and the port for all others. */
export interface Given {
  readonly base: string;
  readonly port: MessagePort;
}

/** That the server has ended: as it was told to, or with this fault. */
export interface Over {
  readonly fault: string | undefined;
}
