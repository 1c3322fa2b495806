import { Fault } from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";
import type { Occurrence, Tell } from "../events/tell.ts";
import type { Requeue } from "../reconcile.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { attemptKey } from "../reservations/attempt-key.ts";

/** What is left of a ResourceRequest that was deleted. */
export interface Leftover {
  readonly uid: string;
  /** How many attempts had an answer. */
  readonly attempts: number;
  readonly reservationName: string | undefined;
  readonly about: Occurrence["about"];
}

export interface ReleaseDeps {
  readonly book: ReservationBook;
  readonly communicator: Pick<BrokerCommunicator, "release" | "releaseByKey" | "fetchReservation">;
  readonly tell: Tell;
  readonly log: Log;
}

export interface ReleaseController {
  /** A ResourceRequest was deleted. Returns the key to reconcile. */
  readonly take: (leftover: Leftover) => string;
  /** Gives back everything that a request of this UID holds, until the broker has heard it. */
  readonly reconcile: (uid: string) => Promise<Requeue>;
}

/** Nothing of a deleted request stays reserved: neither what was granted nor what an attempt under way may yet get. */
export function releaseController(deps: ReleaseDeps): ReleaseController {
  const { book, communicator } = deps;
  const leftovers = new Map<string, Leftover>();

  const reconcile = async (uid: string): Promise<Requeue> => {
    const leftover = leftovers.get(uid);
    const live = [...book.ofRequest(uid).values()].filter(({ endedAt }) => endedAt === undefined);
    const ids = new Set(live.map(({ reservation }) => reservation.id));
    if (leftover?.reservationName !== undefined) ids.add(leftover.reservationName);
    const isSupported = await release(uid, [...ids]);
    leftovers.delete(uid);
    if (leftover === undefined || ids.size === 0) return {};
    const message = [...ids].join(", ");
    deps.tell(
      isSupported
        ? { about: leftover.about, type: "Normal", reason: "Released", message: `gave back ${message}` }
        : {
            about: leftover.about,
            type: "Warning",
            reason: "ReleaseUnsupported",
            message: `the broker cannot take back ${message}: it ends by its own time, or ask the broker's operator`,
          },
    );
    return {};
  };

  /** False when the broker is too old: then there is nothing to wait for. */
  const release = async (uid: string, ids: readonly string[]): Promise<boolean> => {
    try {
      const { attempts = 0, reservationName } = leftovers.get(uid) ?? {};
      // An attempt may be under way: its key is closed, so that it books nothing when it arrives late.
      if (reservationName === undefined) await communicator.releaseByKey(attemptKey(uid, attempts + 1));
      for (const id of ids) await releaseOne(id);
      return true;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "unsupported") throw error;
      deps.log.warn({ uid, reservations: ids }, "the broker is too old to take resources back");
      return false;
    }
  };

  const releaseOne = async (id: string): Promise<void> => {
    await communicator.release(id);
    const ended = await communicator.fetchReservation(id);
    if (ended === undefined) book.endHere(id);
    else book.learn("requester", ended);
  };

  return {
    take: (leftover) => {
      leftovers.set(leftover.uid, leftover);
      return leftover.uid;
    },
    reconcile,
  };
}
