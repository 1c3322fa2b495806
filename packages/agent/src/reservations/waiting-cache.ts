import { isFinal } from "@resource-broker/domain";
import { attemptOf, type WaitingRequest } from "./reservation.ts";
import type { CacheUpdate, ReservationCache } from "./reservation-cache.ts";

interface WaitingCacheOptions {
  readonly clusterId: string;
  /** A request that has its reservation does not wait. */
  readonly reservations: Pick<ReservationCache, "get" | "onChange">;
}

export type WaitingCache = ReturnType<typeof waitingCache>;

const NO_ATTEMPTS: ReadonlyMap<number, WaitingRequest> = new Map();

/**
 * The requests of this cluster that wait at the broker, and those that left its queue without a reservation. They are
 * neither live nor ended reservations: nothing is delivered, offered for adoption or held for them.
 */
export function waitingCache({ clusterId, reservations }: WaitingCacheOptions) {
  const byId = new Map<string, WaitingRequest>();
  const byRequest = new Map<string, Map<number, WaitingRequest>>();
  const listeners = new Set<(uid: string) => void>();

  const announce = (uid: string): void => {
    for (const listener of listeners) listener(uid);
  };

  const put = (waiting: WaitingRequest, { uid, attempt }: { uid: string; attempt: number }): void => {
    byId.set(waiting.id, waiting);
    const attempts = byRequest.get(uid) ?? new Map<number, WaitingRequest>();
    byRequest.set(uid, attempts.set(attempt, waiting));
    announce(uid);
  };

  const remove = (id: string): void => {
    const made = attemptOf(byId.get(id)?.key);
    if (made === undefined) return;
    byId.delete(id);
    const attempts = byRequest.get(made.uid);
    attempts?.delete(made.attempt);
    if (attempts?.size === 0) byRequest.delete(made.uid);
    announce(made.uid);
  };

  const update = (received: WaitingRequest): CacheUpdate => {
    const made = attemptOf(received.key);
    // Admins may ask for this cluster with keys of their own: no ResourceRequest here waits for that.
    if (received.requester !== clusterId || made === undefined) return "not-ours";
    const before = byId.get(received.id);
    if (isOld(received, before)) return "old";
    const waiting = withKnownPlace(received, before);
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(waiting)) return "same";
    put(waiting, made);
    return before === undefined ? "new" : "changed";
  };

  /** A grant has a higher generation than what waited; after a lost ledger, what is made again is younger. */
  const isOld = (received: WaitingRequest, before: WaitingRequest | undefined): boolean => {
    const { createdAt, generation } = received;
    if (before !== undefined && before.createdAt === createdAt) return generation < before.generation;
    if (before !== undefined && before.createdAt > createdAt) return true;
    const reservation = reservations.get("requester", received.id)?.reservation;
    return reservation !== undefined && reservation.createdAt >= createdAt;
  };

  reservations.onChange((role, id) => {
    const waiting = role === "requester" ? byId.get(id) : undefined;
    const createdAt = reservations.get("requester", id)?.reservation.createdAt ?? "";
    if (waiting !== undefined && createdAt >= waiting.createdAt) remove(id);
  });

  return {
    update,
    /** The broker does not have it in its queue: the request is to be looked up. */
    forget: remove,
    /** Nothing is known of any request: the broker has another ledger, or no queue. */
    forgetAll: (): void => {
      for (const id of byId.keys()) remove(id);
    },
    get: (id: string): WaitingRequest | undefined => byId.get(id),
    /** Those that wait. */
    pending: (): WaitingRequest[] => [...byId.values()].filter(({ phase }) => !isFinal(phase)),
    /** Those of the ResourceRequest with this UID, by attempt. */
    ofRequest: (uid: string): ReadonlyMap<number, WaitingRequest> => byRequest.get(uid) ?? NO_ATTEMPTS,
    /** Called with the UID of a ResourceRequest for which something has changed. */
    onChange: (listener: (uid: string) => void): void => void listeners.add(listener),
    /** Removes those that have left the queue, for example when their ResourceRequest is gone. */
    removeLeft: (isToRemove: (uid: string) => boolean): void => {
      for (const { id, phase, key } of byId.values())
        if (isFinal(phase) && isToRemove(attemptOf(key)?.uid ?? "")) remove(id);
    },
  };
}

/** Events and answers have no place in the queue: the last one known stays, with its message. */
function withKnownPlace(received: WaitingRequest, before: WaitingRequest | undefined): WaitingRequest {
  const isSame = before?.createdAt === received.createdAt && !isFinal(received.phase);
  if (received.queue !== undefined || before?.queue === undefined || !isSame) return received;
  return { ...received, queue: before.queue, message: before.message };
}
