import type { BookEntry } from "../reservations/reservation-book.ts";
import type { Said } from "./conditions.ts";

/** Whether the broker knows what an instruction is about; for both sides' instructions. */
export function unknownToBroker(entry: BookEntry): Said {
  const type = "UnknownToBroker";
  return entry.standing === "unknown"
    ? { type, status: "True", reason: "NotInLedger", message: unknownMessage(entry) }
    : { type, status: "False", reason: "Known", message: "the broker knows this reservation" };
}

const UNKNOWN_TO_BROKER =
  "the broker does not know this reservation; it is kept and offered to the broker again";

/** The same with the broker's last word on it. */
export function unknownMessage({ notAdopted }: Pick<BookEntry, "notAdopted">): string {
  return notAdopted === undefined ? UNKNOWN_TO_BROKER : `${UNKNOWN_TO_BROKER}: ${notAdopted}`;
}
