import type { Reservation, ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/runtime";
import { checkKey } from "../idempotency-key.ts";
import { releaseObject, reserveObject } from "./forge.ts";
import { isReleased, isStanding, isVoid, refuseOther, type Wish } from "./judge-request.ts";
import { type ObjectCalls, toldTo } from "./object-calls.ts";
import { checkedRequest, intentOf, isFinished, isRefused, refusalIn } from "./read-reservation.ts";
import { released } from "./signals.ts";

/** What became of a round: an answer, or something is in the way of it. */
type Round<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "again" };

const AGAIN = { kind: "again" } as const;

/** Objects that were taken out of the way, by UID: a watch may lag behind and still show them. */
type Cleared = Set<string | undefined>;

/** Reservations by their keys. The object's name is made from the key: however often it is tried, there is one. */
export function reserving(objects: ObjectCalls) {
  const { place, calls } = objects;
  const requester = objects.observedBy("requester");

  /** One try. What is found may be of an earlier try, of another process, or of another life of the broker. */
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
        // A refusal that was there before binds nobody; one that came meanwhile is the answer.
        if (isRefused(object) && wasOpen) throw refusalIn(object);
        if (isVoid(object)) return AGAIN;
        wasOpen = true;
        const told = toldTo(objects, object, "requester");
        if (told !== undefined && isStanding(told, object, isGone)) return { kind: "done", value: told };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** One try to let no request with the key be served. */
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
          // A request that was refused has bound no key: the key itself must be closed.
          if (isRequest) return AGAIN;
          throw refusalIn(object);
        }
        if (isReleased(object)) return { kind: "done", value: undefined };
        return isGone ? AGAIN : undefined;
      },
    });
  };

  /** Takes away what stands for nothing that a ledger holds. */
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
