import { setImmediate as nextTurn } from "node:timers/promises";
import type { Instant, Reservation, ReservationId } from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import type { Store } from "../../../store/store.ts";
import type { AuditTail } from "./audit-tail.ts";

const MAX_CACHED = 10_000;
const LINES_AT_ONCE = 500;
/** Search limit: an acknowledgement usually follows within seconds. Beyond it, no time is shown. */
const MAX_LINES = 5000;

/** Times of the providers' acknowledgements. The ledger stores only that they happened; the audit log has the times. */
export interface AcknowledgementTimes {
  readonly add: (commit: Committed) => void;
  readonly find: (reservation: Reservation) => Promise<Instant | undefined>;
}

export function heldMoments(
  store: Pick<Store, "readAudit">,
  auditTail: Pick<AuditTail, "last">,
): AcknowledgementTimes {
  /** Undefined: the log was searched and has no entry. */
  const times = new Map<ReservationId, Instant | undefined>();

  const remember = (id: ReservationId, at: Instant | undefined): void => {
    times.set(id, at);
    // Map order is insertion order: remove the oldest entries.
    for (const oldest of times.keys()) {
      if (times.size <= MAX_CACHED) break;
      times.delete(oldest);
    }
  };

  /** Lines stand in the order of time: halving finds the first one of a moment. */
  const firstAt = async (moment: Instant): Promise<number> => {
    let [low, high] = [0, await auditTail.last()];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [line] = await store.readAudit({ after: middle, limit: 1 });
      if (line === undefined || line.at >= moment) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  const inLog = async ({ id, reservedAt }: Reservation): Promise<Instant | undefined> => {
    let after = await firstAt(reservedAt);
    for (let read = 0; read < MAX_LINES; read += LINES_AT_ONCE) {
      const entries = await store.readAudit({ after, limit: LINES_AT_ONCE });
      const found = entries.find(({ subject, action }) => subject === id && action === "acknowledge");
      if (found !== undefined) return found.at;
      if (entries.length < LINES_AT_ONCE) return undefined;
      after = entries.at(-1)?.sequence ?? after;
      // Yield to the event loop: an embedded store answers without yielding.
      await nextTurn();
    }
    return undefined;
  };

  return {
    add: ({ events }) => {
      for (const event of events) {
        if (event.kind === "acknowledged") remember(event.id, event.at);
        else if (event.kind === "forgotten") times.delete(event.id);
      }
    },
    find: async (reservation) => {
      if (!reservation.acknowledged) return undefined;
      const { id } = reservation;
      if (!times.has(id)) {
        try {
          remember(id, await inLog(reservation));
        } catch {
          return undefined; // the next who asks tries again
        }
      }
      return times.get(id);
    },
  };
}
