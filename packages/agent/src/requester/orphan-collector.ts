import { type Clock, type Log, toFault } from "@resource-broker/base";
import { failureReporter, wait } from "@resource-broker/kube";
import type { RequesterDataPlane } from "../data-plane/data-plane.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

const COLLECT_MS = 60_000;
const RETRY_MS = 5000;

export interface OrphanCollectorDeps {
  readonly dataPlane: Pick<RequesterDataPlane, "listReservationIds">;
  readonly cache: ReservationCache;
  readonly communicator: Pick<BrokerCommunicator, "fetchReservation">;
  /** True when the cluster's instructions were listed: what is missing from the cache is really missing. */
  readonly isReady: () => boolean;
  /** The data plane has objects of it, but it is no live reservation of the cache. */
  readonly onOrphan: (reservationId: string) => void;
  /** Called before each run. */
  readonly beforeRun: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looks for data plane objects without a live reservation, at start and every minute. A restarted agent finds what it left. */
export interface OrphanCollector {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export function createOrphanCollector(deps: OrphanCollectorDeps): OrphanCollector {
  const { cache, communicator, clock, log } = deps;
  const reporter = failureReporter({
    log,
    clock,
    fields: {},
    what: "collecting orphaned data plane objects",
  });
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const check = async (id: string): Promise<void> => {
    if (cache.get("requester", id) === undefined) {
      const found = await communicator.fetchReservation(id);
      if (found !== undefined) cache.update("requester", found);
    }
    const entry = cache.get("requester", id);
    // Without an instruction, a request or an answer of the broker, nothing else would remove it.
    if (entry === undefined || entry.endedAt !== undefined) deps.onOrphan(id);
  };
  const runOnce = async (): Promise<void> => {
    if (!deps.isReady()) return;
    deps.beforeRun();
    try {
      const checked = await Promise.allSettled((await deps.dataPlane.listReservationIds()).map(check));
      // A failed lookup of one reservation must not block the others.
      const failed = checked.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await runOnce();
      const isDone = deps.isReady() && reporter.current() === undefined;
      await wait(isDone ? COLLECT_MS : RETRY_MS, { clock, signal: ending.signal });
    }
  };

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}
