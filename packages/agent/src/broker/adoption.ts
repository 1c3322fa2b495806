import { type AdoptionReplyDTO, type AdoptionRequestDTO, Fault, LIMIT } from "@resource-broker/contract";
import type { Log } from "@resource-broker/runtime";
import type { BookEntry, ReservationBook } from "../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";

export interface AdoptionDeps {
  readonly communicator: Pick<BrokerCommunicator, "adopt">;
  readonly book: ReservationBook;
  readonly log: Log;
}

type Offer = AdoptionRequestDTO["reservations"][number];
type Result = AdoptionReplyDTO["results"][number];

/** Offers the broker the reservations that it does not know. Nothing is torn down, whatever it answers. */
export function adoption({ communicator, book, log }: AdoptionDeps): { readonly offer: () => Promise<void> } {
  const told = new Map<string, string>();

  const note = ({ id, outcome, message }: Result): void => {
    if (told.get(id) === outcome) return;
    told.set(id, outcome);
    const line = { reservation: id, outcome, message };
    if (outcome === "adopted") log.info(line, "the broker adopted an unknown reservation");
    else log.warn(line, "the broker has not adopted an unknown reservation yet");
  };

  const take = (entries: readonly BookEntry[], result: Result): void => {
    note(result);
    if (result.outcome !== "adopted") book.markNotAdopted(result.id, result.message);
    const entry = entries.find(({ reservation }) => reservation.id === result.id);
    if (entry !== undefined && result.reservation !== undefined) book.learn(entry.role, result.reservation);
  };

  return {
    offer: async () => {
      const forgotten = [...book.live("requester"), ...book.live("provider")].filter(
        ({ standing }) => standing === "unknown",
      );
      for (let from = 0; from < forgotten.length; from += LIMIT.adoptionOffers) {
        const entries = forgotten.slice(from, from + LIMIT.adoptionOffers);
        try {
          const { results } = await communicator.adopt({ reservations: entries.map(offerOf) });
          for (const result of results) take(entries, result);
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "unsupported") throw error;
          return; // an older broker has no adoption
        }
      }
    },
  };
}

function offerOf({ reservation }: BookEntry): Offer {
  const { id, requesterID, targetClusterID, requestedResources, status, createdAt, key } = reservation;
  return {
    id,
    requesterID,
    targetClusterID,
    requestedResources,
    phase: status.phase === "Active" ? "Active" : "Reserved",
    generation: reservation.generation ?? 0,
    createdAt,
    ...(status.expiresAt === undefined ? {} : { expiresAt: status.expiresAt }),
    ...(key === undefined ? {} : { key }),
  };
}
