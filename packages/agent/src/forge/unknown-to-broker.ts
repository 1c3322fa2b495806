import type { CachedReservation } from "../reservations/reservation-book.ts";
import type { ConditionUpdate } from "./conditions.ts";

/** The condition that the broker does not know the reservation; on both instructions. */
export function unknownToBrokerCondition(entry: CachedReservation): ConditionUpdate {
  const type = "UnknownToBroker";
  return entry.syncState === "unknown"
    ? { type, status: "True", reason: "NotInLedger", message: unknownMessage(entry) }
    : { type, status: "False", reason: "Known", message: "the broker knows this reservation" };
}

const UNKNOWN_TO_BROKER =
  "the broker does not know this reservation; it is kept and offered to the broker again";

/** The message, with the broker's last reason against adoption. */
export function unknownMessage({ notAdopted }: Pick<CachedReservation, "notAdopted">): string {
  return notAdopted === undefined ? UNKNOWN_TO_BROKER : `${UNKNOWN_TO_BROKER}: ${notAdopted}`;
}
