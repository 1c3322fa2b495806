import { StoreFailure } from "./store/store.ts";

/** How the process ends, for supervisors to tell apart. */
export const EXIT = {
  failure: 1,
  usage: 2,
  /** The store contradicts itself: restarting does not help. */
  corrupt: 70,
} as const;

/** Graceful or not, after so long the process is gone. */
export const STOP_WITHIN_MS = 5000;

export function exitCodeOf(error: unknown): number {
  return error instanceof StoreFailure && error.kind === "corrupt" ? EXIT.corrupt : EXIT.failure;
}

/** One line that names the remedy where there is a usual one. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `${message}: another process listens there; stop it, or choose another --http-port, --metrics-bind-address or --health-probe-bind-address`;
  }
  if (code === "EACCES") return `${message}: not permitted; ports below 1024 and foreign folders need rights`;
  return message;
}
