import { Fault } from "@resource-broker/base";

/** As the system, SQLite and PostgreSQL say it. */
const DISK_FULL = /ENOSPC|no space left|disk is full|SQLITE_FULL/iu;
const NOT_WRITABLE: Readonly<Record<string, string>> = {
  EACCES: "may not be written by this account",
  EPERM: "may not be written by this account",
  EROFS: "is on a disk that cannot be written",
  ENOTDIR: "cannot be made: a part of its path is a file",
  EEXIST: "is a file, not a folder",
};

/** What kept the demo from starting, with the remedy where there is a usual one. */
export function describeStart(error: unknown, folder: string): unknown {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC" || DISK_FULL.test(message)) {
    const text = `the disk with ${folder} is full: free some space there, or name a folder on another disk with --keep`;
    return new Fault("store-unavailable", text, { cause: error });
  }
  const problem = NOT_WRITABLE[code];
  if (problem !== undefined)
    return new Fault("invalid", `${folder} ${problem}; name another folder with --keep`, { cause: error });
  return error;
}
