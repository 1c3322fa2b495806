import type { Clock, Fault, Log, LogFields } from "@resource-broker/base";

export interface FailureReporterDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** Added to each line. */
  readonly fields: LogFields;
  /** Name of the operation, such as "following pods". */
  readonly what: string;
}

/** Logs when a repeated operation starts to fail and when it recovers, not every attempt. */
export interface FailureReporter {
  readonly failed: (fault: Fault) => void;
  readonly recovered: () => void;
  /** The current failure; `since` is wall-clock time. */
  readonly current: () => { readonly since: number; readonly fault: Fault } | undefined;
}

export function failureReporter({ log, clock, fields, what }: FailureReporterDeps): FailureReporter {
  let current: { readonly since: number; readonly fault: Fault } | undefined;
  let beganAt = 0;
  // A restarting server fails in two or three ways: each code is logged once.
  const logged = new Set<string>();
  return {
    failed: (fault) => {
      if (current === undefined) beganAt = clock.monotonicMs();
      current = { since: current?.since ?? clock.wallMs(), fault };
      if (logged.has(fault.code)) return;
      logged.add(fault.code);
      const line = { ...fields, code: fault.code, error: fault.message };
      log.warn(line, `${what} fails: ${fault.message}; retrying`);
    },
    recovered: () => {
      if (current === undefined) return;
      log.info({ ...fields, troubledMs: Math.round(clock.monotonicMs() - beganAt) }, `${what} works again`);
      current = undefined;
      logged.clear();
    },
    current: () => current,
  };
}
