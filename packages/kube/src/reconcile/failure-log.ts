import type { Fault } from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";

/** Logs each failure of a key once, and its recovery once. */
export interface FailureLog {
  readonly failed: (key: string, fault: Fault, timesInRow: number) => void;
  readonly succeeded: (key: string) => void;
}

/** Retryable failures are logged after this many attempts. */
const LOG_AFTER_FAILURES = 5;

export function failureLog(name: string, log: Log): FailureLog {
  const logged = new Map<string, string>();
  return {
    failed: (key, fault, timesInRow) => {
      if (fault.retry && timesInRow < LOG_AFTER_FAILURES) return;
      if (logged.get(key) === fault.message) return;
      logged.set(key, fault.message);
      const fields = { key, code: fault.code, error: fault.message };
      const line = `reconciling ${name} ${key} fails: ${fault.message}`;
      if (fault.retry) log.warn(fields, line);
      else log.error(fault.code === "internal" ? { ...fields, stack: stackOf(fault) } : fields, line);
    },
    succeeded: (key) => {
      if (logged.delete(key)) log.info({ key }, `reconciling ${name} ${key} works again`);
    },
  };
}

function stackOf({ cause, stack }: Fault): string | undefined {
  return cause instanceof Error ? cause.stack : stack;
}
