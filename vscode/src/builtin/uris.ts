/** Names of files as the built-in server sees them: it runs on a system of its own, whose paths are those of POSIX. */

/** Where the drives of Windows are. */
export const DRIVES = "/drives";

/** Where the files of virtual workspaces are, by scheme and authority. */
export const VIRTUAL = "/virtual";

/** The parts of a URI, decoded. */
export interface Parts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
}

/** Whether a file is in a folder of this computer; with an authority it is in a share of another one, on Windows. */
export function isOnDisk(uri: Parts): boolean {
  return uri.scheme === "file" && uri.authority === "";
}

/** The URI for the server: every document of a folder is a file there, also if the server cannot read the disk. */
export function toServer(uri: Parts, readsDisk: boolean): Parts {
  if (uri.scheme === "untitled") {
    return uri;
  }
  if (!isOnDisk(uri) || !readsDisk) {
    const authority = encodeURIComponent(uri.authority) || "-";
    return { scheme: "file", authority: "", path: `${VIRTUAL}/${uri.scheme}/${authority}${uri.path}` };
  }
  const drive = /^\/([A-Za-z]):(?=\/|$)/.exec(uri.path);
  return drive?.[1] ? { ...uri, path: `${DRIVES}/${drive[1].toLowerCase()}${uri.path.slice(drive[0].length)}` } : uri;
}

/** The URI for the editor. */
export function fromServer(uri: Parts): Parts {
  const virtual = new RegExp(`^${VIRTUAL}/([^/]+)/([^/]+)(/.*)?$`).exec(uri.path);
  if (uri.scheme === "file" && virtual) {
    const [, scheme = "", authority = "", path = "/"] = virtual;
    return { scheme, authority: authority === "-" ? "" : decodeURIComponent(authority), path };
  }
  const drive = new RegExp(`^${DRIVES}/([a-z])(?=/|$)`).exec(uri.path);
  return uri.scheme === "file" && drive?.[1] ? { ...uri, path: `/${drive[1]}:${uri.path.slice(drive[0].length)}` } : uri;
}

/** The letter of the drive that a file of Windows is on. */
export function driveOf(uri: Parts): string | undefined {
  return uri.scheme === "file" ? /^\/([A-Za-z]):/.exec(uri.path)?.[1]?.toLowerCase() : undefined;
}
