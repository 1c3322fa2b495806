/** How a process ends, for supervisors to tell apart. */
export const EXIT = {
  failure: 1,
  usage: 2,
  /** What it keeps contradicts itself: restarting does not help. */
  corrupt: 70,
} as const;

/** One line that names the remedy where there is a usual one; `portFlags` are those that choose a port. */
export function describeFailure(error: unknown, portFlags: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${message}: another process listens there; stop it, or choose another ${alternatives(portFlags)}`;
  }
  if (code === "EACCES") return `${message}: not permitted; ports below 1024 and foreign folders need rights`;
  return message;
}

function alternatives(flags: readonly string[]): string {
  const names = flags.map((flag) => `--${flag}`);
  return [names.slice(0, -1).join(", "), ...names.slice(-1)].filter((part) => part !== "").join(" or ");
}
