import { Fault, type Log } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import type { AdoptionResult, BrokerCommunicator } from "../transport/broker-communicator.ts";

export interface AdoptionDeps {
  readonly communicator: Pick<BrokerCommunicator, "adopt">;
  readonly cache: ReservationCache;
  readonly log: Log;
}

/** Offers the broker the reservations that it does not know. Nothing is torn down, whatever it answers. */
export function adoption({ communicator, cache, log }: AdoptionDeps): {
  readonly offer: () => Promise<void>;
} {
  const reported = new Map<string, string>();

  const logOutcome = ({ id, outcome, message }: AdoptionResult): void => {
    if (reported.get(id) === outcome) return;
    reported.set(id, outcome);
    const line = { reservation: id, outcome, message };
    if (outcome === "adopted") log.info(line, "the broker adopted an unknown reservation");
    else log.warn(line, "the broker has not adopted an unknown reservation yet");
  };

  const applyResult = (entries: readonly CachedReservation[], result: AdoptionResult): void => {
    logOutcome(result);
    if (result.outcome !== "adopted") cache.markNotAdopted(result.id, result.message);
    const entry = entries.find(({ reservation }) => reservation.id === result.id);
    if (entry !== undefined && result.reservation !== undefined) cache.update(entry.role, result.reservation);
  };

  return {
    offer: async () => {
      const unknown = [...cache.live("requester"), ...cache.live("provider")].filter(
        ({ syncState }) => syncState === "unknown",
      );
      for (let from = 0; from < unknown.length; from += LIMIT.adoptionOffers) {
        const entries = unknown.slice(from, from + LIMIT.adoptionOffers);
        try {
          const results = await communicator.adopt(entries.map(({ reservation }) => reservation));
          for (const result of results) applyResult(entries, result);
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== "unsupported") throw error;
          return; // an older broker has no adoption
        }
      }
    },
  };
}
