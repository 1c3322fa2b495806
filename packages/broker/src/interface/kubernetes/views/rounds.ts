import type { Fault } from "@resource-broker/contract";
import { type Reconciler, reconcileLoop, type ReconcileResult, toFault } from "@resource-broker/kube";
import type { PartDeps } from "../ports.ts";
import { isServerFault } from "./pace.ts";

/** Retry delay after a conflict: the watch delivers the new object soon. */
const CONFLICT_RETRY_MS = 200;
/** Retry delay if the server is unavailable; the rate limiter decides when to probe. */
const UNAVAILABLE_RETRY_MS = 1000;
/** While one waits for its turn or its answer, another can be looked at. */
const CONCURRENCY = 2;

export interface ViewReconcilerOptions {
  readonly name: string;
  readonly reconcile: (name: string) => Promise<ReconcileResult>;
}

/** Reconciles names one after the other. Server faults are logged once and retried, not logged per object. */
export function viewReconciler(
  { name, reconcile }: ViewReconcilerOptions,
  deps: Pick<PartDeps, "clock" | "random" | "log" | "isLeading">,
): Reconciler {
  let isStopping = false;
  const reconcileOne = async (key: string): Promise<ReconcileResult> => {
    if (isStopping || !deps.isLeading()) return {};
    try {
      return await reconcile(key);
    } catch (error) {
      const fault = toFault(error);
      if (isServerFault(fault)) return { requeueAfterMs: UNAVAILABLE_RETRY_MS };
      if (isRace(fault)) return { requeueAfterMs: CONFLICT_RETRY_MS };
      throw fault;
    }
  };
  const loop = reconcileLoop({ name, reconcile: reconcileOne, concurrency: CONCURRENCY }, deps);
  return {
    ...loop,
    stop: async () => {
      isStopping = true;
      await loop.stop();
    },
  };
}

function isRace({ code }: Fault): boolean {
  return code === "conflict" || code === "already-exists";
}
