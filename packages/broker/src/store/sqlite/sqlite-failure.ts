import { type FailureKind, StoreFailure } from "../store.ts";

/** SQLite's result codes that decide what to do next (the low byte of the extended code). */
const [BUSY, LOCKED, READONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE] = [
  5, 6, 8, 10, 11, 13, 14, 26,
] as const;

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [BUSY, "another program keeps it locked; end that program"],
  [LOCKED, "another program keeps it locked; end that program"],
  [READONLY, "it cannot be written; make the directory writable for the broker"],
  [IO_ERROR, "the disk failed to read or write; check the disk and its mount"],
  [CORRUPT, "it is damaged; stop the broker and restore a backup"],
  [FULL, "the disk is full; free some space there"],
  [CANNOT_OPEN, "it cannot be opened; the directory must exist and be writable for the broker"],
  [NOT_A_DATABASE, "it is damaged or no database at all; stop the broker and restore a backup"],
]);

/** The same for what the system says to files that we make ourselves. */
const SYSTEM_CODES: ReadonlyMap<unknown, number> = new Map([
  ["EACCES", CANNOT_OPEN],
  ["EPERM", CANNOT_OPEN],
  ["ENOENT", CANNOT_OPEN],
  ["EROFS", READONLY],
  ["EIO", IO_ERROR],
  ["ENOSPC", FULL],
]);

/**
 * The failure that an error means, with what a person can do about it. An error that comes neither from SQLite nor
 * from the system was made by what is stored: it could not be made sense of.
 */
export function sqliteFailure(error: unknown, file: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = resultCode(error);
  const isCorrupt =
    code === CORRUPT || code === NOT_A_DATABASE || (code === undefined && !isSystemError(error));
  const kind: FailureKind = isCorrupt ? "corrupt" : "not-committed";
  const advice = REMEDIES.get(code ?? systemCode(error) ?? 0);
  return new StoreFailure(kind, `${file}: ${advice === undefined ? message : `${advice} (${message})`}`, {
    cause: error,
  });
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

function systemCode(error: unknown): number | undefined {
  return error instanceof Error && "code" in error ? SYSTEM_CODES.get(error.code) : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
