import { failureReporter, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { BrokerLink } from "../../broker/broker-link.ts";
import type { ReservationBook } from "../../reservations/reservation-book.ts";
import type { BrokerCommunicator } from "../../transport/broker-communicator.ts";

/** How long a result is used before the broker is asked again. */
const ASK_EVERY_MS = 60_000;

export interface InquiryDeps {
  readonly book: ReservationBook;
  readonly communicator: Pick<BrokerCommunicator, "fetchReservation">;
  readonly link: Pick<BrokerLink, "isCurrent">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looks up reservations at the broker that have objects here and are not in the cache. */
export interface Inquiries {
  /** True: the broker knows no such reservation of this cluster. */
  readonly isStranger: (id: string) => boolean;
  /** Resolves with the time until the next lookup; the result is in the cache. */
  readonly ask: (id: string) => Promise<number>;
  readonly forget: (id: string) => void;
}

export function inquiries({ book, communicator, link, clock, log }: InquiryDeps): Inquiries {
  const asking = failureReporter({
    log,
    clock,
    fields: {},
    what: "asking the broker about reservations",
  });
  const asked = new Map<string, { at: number; isStranger: boolean }>();

  /** Undefined: no answer, so nothing is revoked. */
  const answer = async (id: string): Promise<boolean | undefined> => {
    try {
      const reservation = await communicator.fetchReservation(id);
      asking.recovered();
      if (reservation !== undefined) return book.learn("provider", reservation) === "not-ours";
      // Older brokers return not-found for every ID.
      return link.isCurrent() === true ? true : undefined;
    } catch (error) {
      asking.failed(toFault(error));
      return undefined;
    }
  };

  return {
    isStranger: (id) => asked.get(id)?.isStranger === true,
    ask: async (id) => {
      const before = asked.get(id);
      const sinceMs = clock.monotonicMs() - (before?.at ?? Number.NEGATIVE_INFINITY);
      if (sinceMs < ASK_EVERY_MS) return ASK_EVERY_MS - sinceMs;
      const isStranger = (await answer(id)) ?? before?.isStranger ?? false;
      asked.set(id, { at: clock.monotonicMs(), isStranger });
      return ASK_EVERY_MS;
    },
    forget: (id) => void asked.delete(id),
  };
}
