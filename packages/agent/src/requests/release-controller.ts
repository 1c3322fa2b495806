import { Fault, type ResourceRequest } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { Log } from "@resource-broker/runtime";
import type { Tell } from "../events/tell.ts";
import type { Requeue } from "../reconcile.ts";
import { attemptKey } from "../reservations/attempt-key.ts";
import type { ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

export interface ReleaseDeps {
  readonly book: ReservationBook;
  readonly communicator: Pick<BrokerCommunicator, "release" | "releaseByKey" | "fetchReservation">;
  readonly tell: Tell;
  readonly log: Log;
}

export interface ReleaseController {
  /** A ResourceRequest was deleted. Returns the key to reconcile. */
  readonly take: (request: ResourceRequest) => string;
  /** Gives back everything that a request of this UID holds, until the broker has heard it. */
  readonly reconcile: (uid: string) => Promise<Requeue>;
}

/** Nothing of a deleted request stays reserved: neither what was granted nor what an attempt under way may yet get. */
export function releaseController(deps: ReleaseDeps): ReleaseController {
  const { book, communicator } = deps;
  const deleted = new Map<string, ResourceRequest>();
  /** Where the broker was too old to hear of it: a census finds them again and again. */
  const told = new Set<string>();

  const reconcile = async (uid: string): Promise<Requeue> => {
    const request = deleted.get(uid);
    const ids = heldBy(uid, request);
    try {
      if (request !== undefined) await closeKey(uid, request);
      for (const id of ids) await release(id);
      if (ids.length > 0) tellOf(request, "Released", `gave back ${ids.join(", ")}`);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "unsupported") throw error;
      tooOld(uid, request, ids);
    }
    if (deleted.get(uid) === request) deleted.delete(uid);
    return {};
  };

  const heldBy = (uid: string, request: ResourceRequest | undefined): string[] => {
    const live = [...book.ofRequest(uid).values()].filter(({ endedAt }) => endedAt === undefined);
    const ids = new Set(live.map(({ reservation }) => reservation.id));
    const { phase, reservationName } = request?.status ?? {};
    // What only its status names: the book may not have heard of it, or brokers without keys made it.
    if (reservationName !== undefined && phase !== undefined && !isFinal(phase)) {
      const entry = book.get("requester", reservationName);
      if (entry?.endedAt === undefined) ids.add(reservationName);
    }
    return [...ids];
  };

  /** An attempt may be under way: its key is closed, so that it books nothing when it arrives late. */
  const closeKey = async (uid: string, { status = {} }: ResourceRequest): Promise<void> => {
    const { phase = "Pending", attempts = 0 } = status;
    const next = attempts + 1;
    // A live one is given back by its name: a broker that has forgotten it could not adopt it with a closed key.
    if (phase !== "Pending" || book.ofRequest(uid).has(next)) return;
    await communicator.releaseByKey(attemptKey(uid, next)).catch((error: unknown) => {
      // So many keys were closed that the broker takes no more; whatever this one books yet, a census finds.
      if (!(error instanceof Fault) || error.code !== "quota-exceeded") throw error;
    });
  };

  const release = async (id: string): Promise<void> => {
    await communicator.release(id);
    const ended = await communicator.fetchReservation(id);
    // Forgotten by the broker, but not by the lender: it is offered until it is known again, and then given back.
    if (ended === undefined) book.markUnknown(id);
    else book.learn("requester", ended);
  };

  const tooOld = (uid: string, request: ResourceRequest | undefined, ids: readonly string[]): void => {
    if (told.has(uid) || ids.length === 0) return;
    told.add(uid);
    deps.log.warn(
      { uid, reservations: ids },
      "the broker cannot take resources back: it is too old, or there is none",
    );
    const what = `the broker cannot take back ${ids.join(", ")}`;
    tellOf(request, "ReleaseUnsupported", `${what}: it ends by its own time, or ask the broker's operator`);
  };

  const tellOf = (
    about: ResourceRequest | undefined,
    reason: "Released" | "ReleaseUnsupported",
    message: string,
  ): void => {
    const type = reason === "Released" ? "Normal" : "Warning";
    if (about !== undefined) deps.tell({ about, type, reason, message });
  };

  return {
    take: (request) => {
      const { uid = "" } = request.metadata;
      deleted.set(uid, request);
      return uid;
    },
    reconcile,
  };
}
