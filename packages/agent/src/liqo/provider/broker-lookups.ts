import { type Clock, type Log, toFault } from "@resource-broker/base";
import { failureReporter } from "@resource-broker/kube";
import type { BrokerLink } from "../../broker/broker-link.ts";
import type { ReservationCache } from "../../reservations/reservation-cache.ts";
import type { BrokerCommunicator } from "../../transport/broker-communicator.ts";

/** How long a result is used before the broker is asked again. */
const LOOKUP_MS = 60_000;

export interface BrokerLookupDeps {
  readonly cache: ReservationCache;
  readonly communicator: Pick<BrokerCommunicator, "fetchReservation">;
  readonly link: Pick<BrokerLink, "isCurrent">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looks up reservations at the broker that have objects here and are not in the cache. */
export interface BrokerLookups {
  /** True: the broker knows no such reservation of this cluster. */
  readonly isUnknownToBroker: (id: string) => boolean;
  /** Resolves with the time until the next lookup; the result is in the cache. */
  readonly lookUp: (id: string) => Promise<number>;
  readonly forget: (id: string) => void;
}

export function brokerLookups({ cache, communicator, link, clock, log }: BrokerLookupDeps): BrokerLookups {
  const reporter = failureReporter({
    log,
    clock,
    fields: {},
    what: "asking the broker about reservations",
  });
  const results = new Map<string, { at: number; isStranger: boolean }>();

  /** Undefined: no answer, so nothing is revoked. */
  const answer = async (id: string): Promise<boolean | undefined> => {
    try {
      const reservation = await communicator.fetchReservation(id);
      reporter.recovered();
      if (reservation !== undefined) return cache.update("provider", reservation) === "not-ours";
      // Older brokers return not-found for every ID.
      return link.isCurrent() === true ? true : undefined;
    } catch (error) {
      reporter.failed(toFault(error));
      return undefined;
    }
  };

  return {
    isUnknownToBroker: (id) => results.get(id)?.isStranger === true,
    lookUp: async (id) => {
      const before = results.get(id);
      const sinceMs = clock.monotonicMs() - (before?.at ?? Number.NEGATIVE_INFINITY);
      if (sinceMs < LOOKUP_MS) return LOOKUP_MS - sinceMs;
      const isUnknownToBroker = (await answer(id)) ?? before?.isStranger ?? false;
      results.set(id, { at: clock.monotonicMs(), isStranger: isUnknownToBroker });
      return LOOKUP_MS;
    },
    forget: (id) => void results.delete(id),
  };
}
