/** The result of a reconcile: done, or run again later. Failures are thrown and retried. */
export interface Requeue {
  readonly requeueAfterMs?: number;
}

/** The earlier of two requeues. */
export function earliestRequeue(a: Requeue, b: Requeue): Requeue {
  const times = [a.requeueAfterMs, b.requeueAfterMs].filter((ms) => ms !== undefined);
  return times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) };
}
