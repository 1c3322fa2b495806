import type { Fault } from "@resource-broker/base";

/** What goes wrong with one call. */
export interface CallFault {
  /** Absent: it works in the end. */
  readonly fault?: Fault;
  /** True: the other side does as it is told, and only its answer is lost or late. */
  readonly isDone?: boolean;
  /** The call, or with `isDone` its answer, is on its way for so long. */
  readonly until?: Promise<unknown>;
}

/** Decides for each call what goes wrong with it; undefined: nothing. */
export type CallFaultRule<Call> = (call: Call) => CallFault | undefined;

/** Makes a call that a mishap may befall. */
export async function callWith<T>(fault: CallFault | undefined, perform: () => T): Promise<T> {
  await Promise.resolve();
  if (fault === undefined) return perform();
  const done = fault.isDone === true ? { result: perform() } : undefined;
  await fault.until;
  if (fault.fault !== undefined) throw fault.fault;
  return done === undefined ? perform() : done.result;
}

/** A door in the way of a call: closed until it is opened. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
