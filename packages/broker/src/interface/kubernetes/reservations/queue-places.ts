import type { Instant, QueuePlace, ReservationId } from "@resource-broker/domain";
import type { Engine } from "../../../engine/engine.ts";
import { placesOf } from "../../shared/render-waiting.ts";
import { PLACE_EVERY_MS } from "./plan-waiting.ts";

/** Each look walks through the queue, and computes the reason of so many requests. */
const MOST_AT_ONCE = 100;

/** The places of the waiting requests that have an object. Positions have no event: they are computed from time to time. */
export function queuePlaces(
  engine: Pick<Engine, "ledger" | "now" | "policy">,
  hasObject: (id: ReservationId) => boolean,
) {
  /** The latest look is last. */
  const known = new Map<ReservationId, { readonly place: QueuePlace; readonly at: Instant }>();

  /** Those that were not looked at for longest. */
  const due = (): ReservationId[] => {
    const ids: ReservationId[] = [];
    for (const { entries } of engine.ledger.waiting.lines()) {
      for (const { id } of entries) {
        if (ids.length === MOST_AT_ONCE) return ids;
        if (!known.has(id) && hasObject(id)) ids.push(id);
      }
    }
    const latest = engine.now() - PLACE_EVERY_MS;
    for (const [id, { at }] of known) {
      if (at > latest || ids.length === MOST_AT_ONCE) return ids;
      ids.push(id);
    }
    return ids;
  };

  return {
    of: (id: ReservationId): QueuePlace | undefined => known.get(id)?.place,
    /** Returns the requests whose places it has computed. */
    look: (): readonly ReservationId[] => {
      const { byId } = engine.ledger.waiting;
      for (const id of known.keys()) if (byId.get(id)?.phase !== "Pending") known.delete(id);
      const ids = due();
      if (ids.length === 0) return ids;
      const asked = new Set(ids);
      for (const place of placesOf(engine, ({ id }) => asked.has(id))) {
        known.delete(place.entry.id);
        known.set(place.entry.id, { place, at: engine.now() });
      }
      return ids;
    },
  };
}
