import { Fault } from "@resource-broker/contract";
import type { Log, LogFields, MachineTime } from "@resource-broker/runtime";

export interface TroubleDeps {
  readonly log: Log;
  readonly machine: MachineTime;
  /** Added to each line. */
  readonly fields: LogFields;
  /** Name of the operation, such as "following pods". */
  readonly what: string;
}

/** Logs when a repeated operation starts to fail and when it recovers, not every attempt. */
export interface Trouble {
  readonly begins: (fault: Fault) => void;
  readonly ends: () => void;
  /** The current failure; `since` is wall-clock time. */
  readonly now: () => { readonly since: number; readonly fault: Fault } | undefined;
}

export function trouble({ log, machine, fields, what }: TroubleDeps): Trouble {
  let now: { readonly since: number; readonly fault: Fault } | undefined;
  let beganAt = 0;
  // A restarting server fails in two or three ways: each code is logged once.
  const told = new Set<string>();
  return {
    begins: (fault) => {
      if (now === undefined) beganAt = machine.monotonicMs();
      now = { since: now?.since ?? machine.wallMs(), fault };
      if (told.has(fault.code)) return;
      told.add(fault.code);
      const line = { ...fields, code: fault.code, error: fault.message };
      log.warn(line, `${what} fails: ${fault.message}; retrying`);
    },
    ends: () => {
      if (now === undefined) return;
      log.info({ ...fields, troubledMs: Math.round(machine.monotonicMs() - beganAt) }, `${what} works again`);
      now = undefined;
      told.clear();
    },
    now: () => now,
  };
}

/** Converts any error to a fault. An error that is not a fault is a bug and gets the code internal. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("internal", message, { cause: error });
}
