import type { Fault } from "@resource-broker/contract";
import { type Reconciler, reconcileLoop, type ReconcileResult, toFault } from "@resource-broker/kube";
import type { PartDeps } from "../ports.ts";
import { isOfThePlace } from "./pace.ts";

/** Retry delay after a conflict: the watch delivers the new object soon. */
const AGAIN_MS = 200;
/** Retry delay if the server is unavailable; the rate limiter decides when to probe. */
const LATER_MS = 1000;
/** While one waits for its turn or its answer, another can be looked at. */
const AT_ONCE = 2;

export interface RoundsOptions {
  readonly name: string;
  readonly reconcile: (name: string) => Promise<ReconcileResult>;
}

/** Reconciles names one after the other. Server faults are logged once and retried, not logged per object. */
export function viewRounds(
  { name, reconcile }: RoundsOptions,
  deps: Pick<PartDeps, "clock" | "random" | "log" | "isLeading">,
): Reconciler {
  let isStopping = false;
  const round = async (key: string): Promise<ReconcileResult> => {
    if (isStopping || !deps.isLeading()) return {};
    try {
      return await reconcile(key);
    } catch (error) {
      const fault = toFault(error);
      if (isOfThePlace(fault)) return { requeueAfterMs: LATER_MS };
      if (isRace(fault)) return { requeueAfterMs: AGAIN_MS };
      throw fault;
    }
  };
  const loop = reconcileLoop({ name, reconcile: round, concurrency: AT_ONCE }, deps);
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
