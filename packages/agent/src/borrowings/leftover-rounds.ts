import { failureReporter, toFault, wait } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

const EVERY_MS = 60_000;
const SOON_MS = 5000;

export interface LeftoverRoundsDeps {
  readonly dataPlane: Pick<DataPlane, "leftovers">;
  readonly book: ReservationBook;
  readonly communicator: Pick<BrokerCommunicator, "fetchReservation">;
  /** True when the cluster's instructions were listed: what is missing from the cache is really missing. */
  readonly isReady: () => boolean;
  /** The data plane has objects of it, but it is no live reservation of the cache. */
  readonly onLeftover: (reservationId: string) => void;
  /** Called before each run. */
  readonly onRound: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looks for data plane objects without a live reservation, at start and every minute. A restarted agent finds what it left. */
export interface LeftoverRounds {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export function leftoverRounds(deps: LeftoverRoundsDeps): LeftoverRounds {
  const { book, communicator, clock, log } = deps;
  const looking = failureReporter({
    log,
    clock,
    fields: {},
    what: "collecting orphaned data plane objects",
  });
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const judge = async (id: string): Promise<void> => {
    if (book.get("requester", id) === undefined) {
      const found = await communicator.fetchReservation(id);
      if (found !== undefined) book.learn("requester", found);
    }
    const entry = book.get("requester", id);
    // Without an instruction, a request or an answer of the broker, nothing else would remove it.
    if (entry === undefined || entry.endedAt !== undefined) deps.onLeftover(id);
  };
  const round = async (): Promise<void> => {
    if (!deps.isReady()) return;
    deps.onRound();
    try {
      const judged = await Promise.allSettled((await deps.dataPlane.leftovers()).map(judge));
      // A failed lookup of one reservation must not block the others.
      const failed = judged.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      looking.recovered();
    } catch (error) {
      looking.failed(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await round();
      const isDone = deps.isReady() && looking.current() === undefined;
      await wait(isDone ? EVERY_MS : SOON_MS, { clock, signal: ending.signal });
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
