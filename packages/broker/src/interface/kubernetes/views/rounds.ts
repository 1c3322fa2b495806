import type { Fault } from "@resource-broker/contract";
import { type Reconciler, reconcileLoop, type RoundEnd, toFault } from "@resource-broker/kube";
import type { PartDeps } from "../ports.ts";
import { isOfThePlace } from "./pace.ts";

/** Somebody was faster: their object comes by the watch in a moment. */
const AGAIN_MS = 200;
/** Nothing can be written right now; the pace decides when it is tried. */
const LATER_MS = 1000;
/** While one waits for its turn or its answer, another can be looked at. */
const AT_ONCE = 2;

export interface RoundsOptions {
  readonly name: string;
  readonly reconcile: (name: string) => Promise<RoundEnd>;
}

/** Looks at one name after the other. What no single object can help is told once and tried again, without a complaint each. */
export function viewRounds(
  { name, reconcile }: RoundsOptions,
  deps: Pick<PartDeps, "machine" | "random" | "log" | "isLeading">,
): Reconciler {
  let isStopping = false;
  const round = async (key: string): Promise<RoundEnd> => {
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
