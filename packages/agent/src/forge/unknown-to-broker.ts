import type { BookEntry } from "../reservations/reservation-book.ts";
import type { Said } from "./conditions.ts";

/** Whether the broker knows what an instruction is about; for both sides' instructions. */
export function unknownToBroker({ standing }: BookEntry): Said {
  const type = "UnknownToBroker";
  return standing === "unknown"
    ? { type, status: "True", reason: "NotInLedger", message: UNKNOWN_TO_BROKER }
    : { type, status: "False", reason: "Known", message: "the broker knows this reservation" };
}

export const UNKNOWN_TO_BROKER =
  "the broker does not know this reservation; it is kept and offered to the broker again";
