import { toFault } from "@resource-broker/base";
import { failureReporter, type Loop, loop } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";

const COLLECT_MS = 60_000;
const RETRY_MS = 5000;

interface OrphanCollectorDeps extends AgentParts {
  /** The data plane has objects of it, but it is no live reservation of the cache. */
  readonly onOrphan: (reservationId: string) => void;
  /** Called before each run. */
  readonly beforeRun: () => void;
}

/** Looks for data plane objects without a live reservation, at start and every minute. A restarted agent finds what it left. */
export function createOrphanCollector(deps: OrphanCollectorDeps): Loop {
  const { cache, communicator, objects, clock, log } = deps;
  const what = "collecting orphaned data plane objects";
  const reporter = failureReporter({ log, clock, fields: {}, what });

  const check = async (id: string): Promise<void> => {
    if (cache.get("requester", id) === undefined) {
      const found = await communicator.getReservation(id);
      if (found !== undefined) cache.update("requester", found);
    }
    const entry = cache.get("requester", id);
    // Without an instruction, a request or an answer of the broker, nothing else would remove it.
    if (entry === undefined || entry.endedAt !== undefined) deps.onOrphan(id);
  };
  const round = async (): Promise<number> => {
    // Before the instructions were listed, what is missing from the cache is not really missing.
    if (!objects.synced()) return RETRY_MS;
    deps.beforeRun();
    try {
      const ids = await deps.dataPlane.requester.listReservationIds();
      const checked = await Promise.allSettled(ids.map(check));
      // A failed lookup of one reservation must not block the others.
      const failed = checked.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
    return reporter.current() === undefined ? COLLECT_MS : RETRY_MS;
  };
  return loop({ clock, round });
}
