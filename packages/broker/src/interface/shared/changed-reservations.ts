import type { Reservation, ReservationId } from "@resource-broker/domain";
import type { Committed, Engine } from "../../engine/engine.ts";

/** The reservations that a commit made or changed, each once and as it stands now. */
export function changedReservations({ events }: Committed, ledger: Engine["ledger"]): Reservation[] {
  const changed = new Set<ReservationId>();
  for (const event of events) {
    switch (event.kind) {
      case "granted":
      case "adopted":
        changed.add(event.reservation.id);
        break;
      case "activated":
      case "renewed":
      case "acknowledged":
      case "ended":
        changed.add(event.id);
        break;
      default:
      // Nothing that a party would have to act on.
    }
  }
  return Array.from(changed).flatMap((id) => ledger.reservations.get(id) ?? []);
}
