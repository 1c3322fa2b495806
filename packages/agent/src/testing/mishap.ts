import type { Fault } from "@resource-broker/contract";

/** What goes wrong with one call. */
export interface Mishap {
  /** Absent: it works in the end. */
  readonly fault?: Fault;
  /** True: the other side does as it is told, and only its answer is lost or late. */
  readonly isDone?: boolean;
  /** The call, or with `isDone` its answer, is on its way for so long. */
  readonly until?: Promise<unknown>;
}

/** Decides for each call what goes wrong with it; undefined: nothing. */
export type MishapRule<Call> = (call: Call) => Mishap | undefined;

/** Makes a call that a mishap may befall. */
export async function callWith<T>(mishap: Mishap | undefined, perform: () => T): Promise<T> {
  await Promise.resolve();
  if (mishap === undefined) return perform();
  const done = mishap.isDone === true ? { result: perform() } : undefined;
  await mishap.until;
  if (mishap.fault !== undefined) throw mishap.fault;
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
