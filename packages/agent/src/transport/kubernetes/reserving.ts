import { Fault } from "@resource-broker/base";
import { checkKey, isReserved, type ReservationOrWaiting } from "@resource-broker/client";
import type { ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { isFinal, type ReservationRequest, reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { releasedCondition, releaseManifest, reserveManifest } from "./manifests.ts";
import { currentReservation, currentWaiting, type ObjectCalls } from "./object-calls.ts";
import {
  checkedRequest,
  intentOf,
  isFinished,
  isOrphaned,
  isRefused,
  isSameRequest,
  refusalOf,
} from "./read-reservation.ts";

/** The result of one attempt: an answer, or the object must be removed first. */
type AttemptResult<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "again" };

const AGAIN = { kind: "again" } as const;

/** UIDs of removed objects: a lagging watch may still show them. */
type DiscardedUids = Set<string | undefined>;

/** Reservations by key. The object's name is derived from the key, so repeated attempts use one object. */
export function reserving(objects: ObjectCalls) {
  const { scope, calls } = objects;
  const requester = objects.watchOf("requester");

  /** One attempt. An existing object may be of an earlier attempt, another process, or an earlier ledger. */
  const reserveOnce = (
    keyed: KeyedRequest,
    cleared: DiscardedUids,
    signal: AbortSignal,
  ): Promise<AttemptResult<ReservationOrWaiting>> => {
    let wasOpen = false;
    const begin = async (): Promise<Reservation> => {
      const found = await objects.find(keyed.name, signal);
      if (found !== undefined && !cleared.has(found.metadata.uid)) return found;
      wasOpen = true;
      return objects.create(reserveManifest(scope, keyed), signal);
    };
    return requester.waitFor<AttemptResult<ReservationOrWaiting>>({
      name: keyed.name,
      begin,
      signal,
      evaluate: ({ object, isGone }) => {
        if (object === undefined) return AGAIN;
        if (cleared.has(object.metadata.uid)) return undefined;
        rejectMismatch(keyed, object);
        // An earlier refusal does not bind; one that comes during this attempt is the answer.
        if (isRefused(object) && wasOpen) throw refusalOf(object);
        if (isDiscardable(object)) return AGAIN;
        wasOpen = true;
        const found = currentReservation(objects, object, "requester") ?? currentWaiting(objects, object);
        if (found !== undefined && isStable(found, object, isGone)) return { kind: "done", value: found };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** One attempt to close a key. */
  const closeOnce = (name: string, key: string, signal: AbortSignal): Promise<AttemptResult<void>> => {
    const begin = async (): Promise<Reservation> => {
      const found = await objects.find(name, signal);
      if (found === undefined) return objects.create(releaseManifest(scope, { name, key }), signal);
      const isRecorded = intentOf(found) !== "Reserve" || isFinished(found);
      return isRecorded ? found : objects.setCondition(found, releasedCondition(scope.clusterId));
    };
    return requester.waitFor<AttemptResult<void>>({
      name,
      begin,
      signal,
      evaluate: ({ object, isGone }) => {
        if (object === undefined) return AGAIN;
        const isRequest = intentOf(object) === "Reserve";
        if (isRefused(object)) {
          // A refused request does not bind its key: the key itself must be closed.
          if (isRequest) return AGAIN;
          throw refusalOf(object);
        }
        if (isReleased(object)) return { kind: "done", value: undefined };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** Deletes an object that no ledger has a reservation for. */
  const clear = async (name: string, cleared: DiscardedUids, signal: AbortSignal): Promise<void> => {
    const found = await calls.retry(signal, () => objects.find(name, signal));
    if (found === undefined || !isDiscardable(found)) return;
    cleared.add(found.metadata.uid);
    await objects.remove(found.metadata, signal);
  };

  const untilDone = async <T>(
    name: string,
    signal: AbortSignal,
    once: (cleared: DiscardedUids) => Promise<AttemptResult<T>>,
  ): Promise<T> => {
    const cleared: DiscardedUids = new Set();
    for (;;) {
      const round = await once(cleared);
      if (round.kind === "done") return round.value;
      await clear(name, cleared, signal);
    }
  };

  const ask = (keyed: KeyedRequest, signal: AbortSignal): Promise<ReservationOrWaiting> =>
    untilDone(keyed.name, signal, (cleared) => reserveOnce(keyed, cleared, signal));

  const keyedRequest = (request: ReservationRequestDTO, key: string): KeyedRequest => {
    checkKey(key);
    const name = reservationNameFor(scope.clusterId, key, sha256);
    return { name, key, request, asked: checkedRequest(request) };
  };

  return {
    reserve: async (request: ReservationRequestDTO, key: string): Promise<ReservationDTO> => {
      const keyed = keyedRequest(request, key);
      const answer = await objects.answered((signal) => ask(keyed, signal));
      if (isReserved(answer)) return answer;
      throw new Fault("no-capacity", `${answer.id} waits in the queue with this key, or has left it`);
    },
    reserveOrWait: async (request: ReservationRequestDTO, key: string): Promise<ReservationOrWaiting> => {
      const keyed = keyedRequest(request, key);
      return objects.answered(async (signal) => {
        await objects.brokerHealth.whenAlive(signal);
        // Its definition of Reservations has no field for it, or nobody would read it.
        if (!objects.brokerHealth.canQueue())
          throw new Fault("unsupported", "the broker is too old: requests cannot wait there");
        return ask(keyed, signal);
      });
    },
    releaseByKey: async (key: string): Promise<void> => {
      checkKey(key);
      const name = reservationNameFor(scope.clusterId, key, sha256);
      await objects.answered((signal) => untilDone(name, signal, () => closeOnce(name, key, signal)));
    },
  };
}

/** A request under one idempotency key. */
interface KeyedRequest {
  /** Of the object. */
  readonly name: string;
  readonly key: string;
  readonly request: ReservationRequestDTO;
  /** The same as the ledger reads it. */
  readonly asked: ReservationRequest;
}

/** Throws when the key belongs to another request. */
function rejectMismatch({ key, asked }: KeyedRequest, object: Reservation): void {
  if (intentOf(object) === "Release") {
    throw new Fault("key-released", `the key ${JSON.stringify(key)} was released`);
  }
  if (isRefused(object) || isSameRequest(asked, object)) return;
  throw new Fault(
    "key-mismatch",
    `the key ${JSON.stringify(key)} belongs to another request: Reservation ${object.metadata.name}`,
  );
}

/**
 * True: no ledger has a reservation for it, so it may be deleted. For an orphaned object it is unknown whether
 * the agent saw the answer; an agent that did would not ask again.
 */
function isDiscardable(object: Reservation): boolean {
  return isRefused(object) || isOrphaned(object);
}

/** False: the object is being deleted, so the reservation is about to be released. */
function isStable({ status }: ReservationOrWaiting, { metadata }: Reservation, isGone: boolean): boolean {
  return isFinal(status.phase) || (!isGone && metadata.deletionTimestamp === undefined);
}

/** True: nothing is held for it any more. An orphaned reservation is released when a ledger adopts it: the condition stays. */
function isReleased(object: Reservation): boolean {
  return isOrphaned(object) || isFinished(object);
}
