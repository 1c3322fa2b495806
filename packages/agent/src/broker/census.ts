import { Fault } from "@resource-broker/contract";
import type { Log, MachineTime } from "@resource-broker/runtime";
import { attemptOf } from "../reservations/attempt-key.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator, Role } from "../transport/broker-communicator.ts";

export interface CensusDeps {
  readonly communicator: Pick<BrokerCommunicator, "fetchReservations" | "fetchReservation">;
  readonly book: ReservationBook;
  /** The UIDs of every ResourceRequest in the cluster, asked of the API server itself. */
  readonly requestUids: () => Promise<ReadonlySet<string>>;
  /** A request of this UID is gone and still holds something. */
  readonly onOrphan: (uid: string) => void;
  readonly machine: Pick<MachineTime, "monotonicMs">;
  readonly log: Log;
}

/** One cluster's list may lag behind another's: gone means gone twice, so far apart. */
const CONFIRM_AFTER_MS = 30_000;

export interface Census {
  /** Compares what the agent holds with what the broker knows and what people still want. */
  readonly take: () => Promise<void>;
  /** True when somebody must be looked for again soon. */
  readonly hasSuspects: () => boolean;
}

export function census(deps: CensusDeps): Census {
  const { communicator, book, machine, log } = deps;
  /** Requests that were missing, and since when. */
  const suspects = new Map<string, number>();

  const askAboutMissing = async (role: Role): Promise<void> => {
    const told = await communicator.fetchReservations(role).catch(nothingListed);
    for (const reservation of told) book.learn(role, reservation);
    const ids = new Set(told.map(({ id }) => id));
    for (const { reservation } of book.live(role)) {
      if (!ids.has(reservation.id)) await askAbout(role, reservation.id);
    }
  };

  /** Missing from a list ends nothing: the broker is asked by name, and only a final phase is an end. */
  const askAbout = async (role: Role, id: string): Promise<void> => {
    const found = await communicator.fetchReservation(id).catch(cannotTell);
    if (found === "cannot-tell") return;
    if (found !== undefined) {
      book.learn(role, found);
      return;
    }
    if (book.get(role, id)?.standing !== "unknown") {
      log.warn({ reservation: id, role }, "the broker does not know a reservation that is held; it is kept");
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
    if (since === undefined) suspects.set(uid, machine.monotonicMs());
    else if (machine.monotonicMs() - since >= CONFIRM_AFTER_MS) {
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

/** Older brokers list nothing by role, but most can be asked about each by its name. */
function nothingListed(error: unknown): readonly [] {
  if (error instanceof Fault && error.code === "unsupported") return [];
  throw error;
}

/** The first ones cannot even be asked by name: there, a reservation ends at its time. */
function cannotTell(error: unknown): "cannot-tell" {
  if (error instanceof Fault && error.code === "unsupported") return "cannot-tell";
  throw error;
}
