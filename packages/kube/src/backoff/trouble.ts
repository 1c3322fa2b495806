import { Fault } from "@resource-broker/contract";
import type { Log, LogFields, MachineTime } from "@resource-broker/runtime";

export interface TroubleDeps {
  readonly log: Log;
  readonly machine: MachineTime;
  /** Added to each line. */
  readonly fields: LogFields;
  /** What it is that fails, such as "following pods". */
  readonly what: string;
}

/** Something that is tried again and again: people hear when it begins to fail and when it works again, not of each try. */
export interface Trouble {
  readonly begins: (fault: Fault) => void;
  readonly ends: () => void;
  /** `since` is of the wall clock: it is for people. */
  readonly now: () => { readonly since: number; readonly fault: Fault } | undefined;
}

export function trouble({ log, machine, fields, what }: TroubleDeps): Trouble {
  let now: { readonly since: number; readonly fault: Fault } | undefined;
  let beganAt = 0;
  // A server that restarts refuses in two or three ways in turn: each is told once.
  const told = new Set<string>();
  return {
    begins: (fault) => {
      if (now === undefined) beganAt = machine.monotonicMs();
      now = { since: now?.since ?? machine.wallMs(), fault };
      if (told.has(fault.code)) return;
      told.add(fault.code);
      const line = { ...fields, code: fault.code, error: fault.message };
      log.warn(line, `${what} fails: ${fault.message}; it is tried again until it works`);
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

/** Whatever was thrown, as a fault. What is not one is a bug of ours or of a library. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("internal", message, { cause: error });
}
