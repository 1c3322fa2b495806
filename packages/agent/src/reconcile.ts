/** What a reconcile leaves to be done: nothing, or a look at a later time. Failures are thrown, and tried again. */
export interface Requeue {
  readonly requeueAfterMs?: number;
}

/** The sooner of two. */
export function sooner(a: Requeue, b: Requeue): Requeue {
  const times = [a.requeueAfterMs, b.requeueAfterMs].filter((ms) => ms !== undefined);
  return times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) };
}
