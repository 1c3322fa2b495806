import type { ReconcileResult } from "@resource-broker/kube";

/** The earlier of two requeues. */
export function earliestRequeue(a: ReconcileResult, b: ReconcileResult): ReconcileResult {
  const times = [a.requeueAfterMs, b.requeueAfterMs].filter((ms) => ms !== undefined);
  return times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) };
}
