import { toFault, trouble, wait } from "@resource-broker/kube";
import type { Log, MachineTime } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

const EVERY_MS = 60_000;
const SOON_MS = 5000;

export interface LeftoverRoundsDeps {
  readonly dataPlane: Pick<DataPlane, "leftovers">;
  readonly book: ReservationBook;
  readonly communicator: Pick<BrokerCommunicator, "fetchReservation">;
  /** The cluster's own instructions were read: what is missing from the book is really missing. */
  readonly isReady: () => boolean;
  /** It is in the data plane, but no live reservation of the book. */
  readonly onLeftover: (reservationId: string) => void;
  /** Before each look. */
  readonly onRound: () => void;
  readonly machine: MachineTime;
  readonly log: Log;
}

/** Looks, at start and every minute, for what an earlier life of this agent has left in the data plane. */
export interface LeftoverRounds {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export function leftoverRounds(deps: LeftoverRoundsDeps): LeftoverRounds {
  const { book, communicator, machine, log } = deps;
  const looking = trouble({ log, machine, fields: {}, what: "looking for leftovers in the data plane" });
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const judge = async (id: string): Promise<void> => {
    if (book.get("requester", id) === undefined) {
      const found = await communicator.fetchReservation(id);
      if (found !== undefined) book.learn("requester", found);
    }
    const entry = book.get("requester", id);
    // Without an instruction, a request or a word of the broker, nobody will ever end it.
    if (entry === undefined || entry.endedAt !== undefined) deps.onLeftover(id);
  };
  const round = async (): Promise<void> => {
    if (!deps.isReady()) return;
    deps.onRound();
    try {
      const judged = await Promise.allSettled((await deps.dataPlane.leftovers()).map(judge));
      // What cannot be found out about one must not keep another here.
      const failed = judged.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      looking.ends();
    } catch (error) {
      looking.begins(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await round();
      const isDone = deps.isReady() && looking.now() === undefined;
      await wait(isDone ? EVERY_MS : SOON_MS, { machine, signal: ending.signal });
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
