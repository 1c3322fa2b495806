/** Exit codes. */
export const EXIT = {
  failure: 1,
  usage: 2,
  /** The stored data is inconsistent: a restart does not help. */
  corrupt: 70,
} as const;

/** The error as one line, with a remedy for common errors; `portFlags` are the flags that set a port. */
export function describeFailure(error: unknown, portFlags: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${message}: another process listens there; stop it, or choose another ${alternatives(portFlags)}`;
  }
  if (code === "EACCES")
    return `${message}: permission denied; ports below 1024 and folders of other users need permissions`;
  return message;
}

function alternatives(flags: readonly string[]): string {
  const names = flags.map((flag) => `--${flag}`);
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "").join(" or ");
}
