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

/** Grace period of a stop. */
const STOP_WITHIN_MS = 5000;

export interface Program {
  readonly start: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

export interface RunDeps {
  /** The process, as the source of signals. */
  readonly signals: { readonly on: (signal: "SIGTERM" | "SIGINT", listener: () => void) => unknown };
  /** An unreferenced timer: it must not keep the process alive. */
  readonly unrefTimeout: (delayMs: number, action: () => void) => unknown;
  /** Prints the problem and exits. */
  readonly exit: (code: number, problem: string) => void;
  readonly exitCodeOf: (error: unknown) => number;
  readonly describe: (error: unknown) => string;
}

/** Starts a program and stops it on the first signal, also during start. */
export async function runUntilSignal(program: Program, deps: RunDeps): Promise<void> {
  const { signals, unrefTimeout, exit } = deps;
  const failed = (error: unknown): void => exit(deps.exitCodeOf(error), deps.describe(error));
  const started = program.start();
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return; // a terminal and npm both pass Ctrl-C on
    isStopping = true;
    unrefTimeout(STOP_WITHIN_MS, () => exit(EXIT.failure, "did not stop in time"));
    started.then(program.stop).catch(failed);
  };
  signals.on("SIGTERM", stop);
  signals.on("SIGINT", stop);
  await started.catch(failed);
}
