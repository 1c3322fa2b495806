import type { Reservation, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/runtime";
import { checkKey } from "../idempotency-key.ts";
import { releaseObject, reserveObject } from "./forge.ts";
import { isReleased, isStanding, isVoid, refuseOther, type Wish } from "./judge-request.ts";
import { type ObjectCalls, toldTo } from "./object-calls.ts";
import { checkedRequest, intentOf, isFinished, isRefused, refusalIn } from "./read-reservation.ts";
import { released } from "./signals.ts";

/** The result of one attempt: an answer, or the object must be removed first. */
type Round<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "again" };

const AGAIN = { kind: "again" } as const;

/** UIDs of removed objects: a lagging watch may still show them. */
type Cleared = Set<string | undefined>;

/** Reservations by key. The object's name is derived from the key, so repeated attempts use one object. */
export function reserving(objects: ObjectCalls) {
  const { place, calls } = objects;
  const requester = objects.observedBy("requester");

  /** One attempt. An existing object may be of an earlier attempt, another process, or an earlier ledger. */
  const reserveOnce = (wish: Wish, cleared: Cleared, signal: AbortSignal): Promise<Round<ReservationDTO>> => {
    let wasOpen = false;
    const begin = async (): Promise<Reservation> => {
      const found = await objects.find(wish.name, signal);
      if (found !== undefined && !cleared.has(found.metadata.uid)) return found;
      wasOpen = true;
      return objects.create(reserveObject(place, wish), signal);
    };
    return requester.waitFor<Round<ReservationDTO>>({
      name: wish.name,
      begin,
      signal,
      judge: ({ object, isGone }) => {
        if (object === undefined) return AGAIN;
        if (cleared.has(object.metadata.uid)) return undefined;
        refuseOther(wish, object);
        // An earlier refusal does not bind; one that comes during this attempt is the answer.
        if (isRefused(object) && wasOpen) throw refusalIn(object);
        if (isVoid(object)) return AGAIN;
        wasOpen = true;
        const told = toldTo(objects, object, "requester");
        if (told !== undefined && isStanding(told, object, isGone)) return { kind: "done", value: told };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** One attempt to close a key. */
  const closeOnce = (name: string, key: string, signal: AbortSignal): Promise<Round<void>> => {
    const begin = async (): Promise<Reservation> => {
      const found = await objects.find(name, signal);
      if (found === undefined) return objects.create(releaseObject(place, { name, key }), signal);
      const isSaid = intentOf(found) !== "Reserve" || isFinished(found);
      return isSaid ? found : objects.signal(found, released(place.clusterId));
    };
    return requester.waitFor<Round<void>>({
      name,
      begin,
      signal,
      judge: ({ object, isGone }) => {
        if (object === undefined) return AGAIN;
        const isRequest = intentOf(object) === "Reserve";
        if (isRefused(object)) {
          // A refused request does not bind its key: the key itself must be closed.
          if (isRequest) return AGAIN;
          throw refusalIn(object);
        }
        if (isReleased(object)) return { kind: "done", value: undefined };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** Deletes an object that no ledger has a reservation for. */
  const clear = async (name: string, cleared: Cleared, signal: AbortSignal): Promise<void> => {
    const found = await calls.persist(signal, () => objects.find(name, signal));
    if (found === undefined || !isVoid(found)) return;
    cleared.add(found.metadata.uid);
    await objects.remove(found.metadata, signal);
  };

  const untilDone = async <T>(
    name: string,
    signal: AbortSignal,
    once: (cleared: Cleared) => Promise<Round<T>>,
  ): Promise<T> => {
    const cleared: Cleared = new Set();
    for (;;) {
      const round = await once(cleared);
      if (round.kind === "done") return round.value;
      await clear(name, cleared, signal);
    }
  };

  return {
    requestReservation: async (request: ReservationRequestDTO, key: string): Promise<ReservationDTO> => {
      checkKey(key);
      const name = reservationNameFor(place.clusterId, key);
      const wish: Wish = { name, key, request, asked: checkedRequest(request) };
      return objects.answered((signal) =>
        untilDone(name, signal, (cleared) => reserveOnce(wish, cleared, signal)),
      );
    },
    releaseByKey: async (key: string): Promise<void> => {
      checkKey(key);
      const name = reservationNameFor(place.clusterId, key);
      await objects.answered((signal) => untilDone(name, signal, () => closeOnce(name, key, signal)));
    },
  };
}
