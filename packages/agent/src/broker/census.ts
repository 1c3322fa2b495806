import { Fault } from "@resource-broker/contract";
import type { Clock, Log } from "@resource-broker/runtime";
import { attemptOf } from "../reservations/attempt-key.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator, Role } from "../transport/broker-communicator.ts";

export interface CensusDeps {
  readonly communicator: Pick<BrokerCommunicator, "fetchReservations" | "fetchReservation">;
  readonly book: ReservationBook;
  /** The UIDs of all ResourceRequests in the cluster, listed at the API server. */
  readonly requestUids: () => Promise<ReadonlySet<string>>;
  /** Called with the UID of a deleted request that still has a live reservation. */
  readonly onOrphan: (uid: string) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

/** A list may be stale: a request counts as deleted when two lists this far apart miss it. */
const CONFIRM_AFTER_MS = 30_000;

export interface Census {
  /** Compares the cached reservations with the broker's and with the ResourceRequests in the cluster. */
  readonly take: () => Promise<void>;
  /** True while a request is missing for the first time, so that the next run comes soon. */
  readonly hasSuspects: () => boolean;
}

export function census(deps: CensusDeps): Census {
  const { communicator, book, clock, log } = deps;
  /** Missing requests, by UID, with the time of the first miss. */
  const suspects = new Map<string, number>();

  const askAboutMissing = async (role: Role): Promise<void> => {
    const told = await communicator.fetchReservations(role).catch(nothingListed);
    for (const reservation of told) book.learn(role, reservation);
    const ids = new Set(told.map(({ id }) => id));
    for (const { reservation } of book.live(role)) {
      if (!ids.has(reservation.id)) await askAbout(role, reservation.id);
    }
  };

  /** A reservation that is missing from a list has not ended: the broker is asked by ID, and only a final phase ends it. */
  const askAbout = async (role: Role, id: string): Promise<void> => {
    const found = await communicator.fetchReservation(id).catch(cannotTell);
    if (found === "cannot-tell") return;
    if (found !== undefined) {
      book.learn(role, found);
      return;
    }
    if (book.get(role, id)?.standing !== "unknown") {
      log.warn(
        { reservation: id, role },
        "the broker does not know the reservation; it is kept and offered for adoption",
      );
    }
    book.markUnknown(id);
  };

  const findOrphans = async (): Promise<void> => {
    const held = new Set<string>();
    for (const { reservation } of book.live("requester")) {
      const made = attemptOf(reservation.key);
      if (made !== undefined) held.add(made.uid);
    }
    if (held.size === 0) return suspects.clear();
    const wanted = await deps.requestUids();
    for (const uid of suspects.keys()) if (wanted.has(uid) || !held.has(uid)) suspects.delete(uid);
    for (const uid of held) if (!wanted.has(uid)) suspect(uid);
  };

  const suspect = (uid: string): void => {
    const since = suspects.get(uid);
    if (since === undefined) suspects.set(uid, clock.monotonicMs());
    else if (clock.monotonicMs() - since >= CONFIRM_AFTER_MS) {
      suspects.delete(uid);
      deps.onOrphan(uid);
    }
  };

  return {
    take: async () => {
      await askAboutMissing("requester");
      await askAboutMissing("provider");
      book.tidy();
      await findOrphans();
    },
    hasSuspects: () => suspects.size > 0,
  };
}

/** Older brokers have no list by role; most answer for a single reservation. */
function nothingListed(error: unknown): readonly [] {
  if (error instanceof Fault && error.code === "unsupported") return [];
  throw error;
}

/** The first releases do not even answer for a single reservation; there it ends at its expiry. */
function cannotTell(error: unknown): "cannot-tell" {
  if (error instanceof Fault && error.code === "unsupported") return "cannot-tell";
  throw error;
}
