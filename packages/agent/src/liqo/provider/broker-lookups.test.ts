import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import type { Reservation } from "../../reservations/reservation.ts";
import type { ReservationCache } from "../../reservations/reservation-cache.ts";
import { brokerLookups } from "./broker-lookups.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const STRANGE = "rsv-strange";

test("who is known to be a stranger stays one while the broker does not answer", async () => {
  const clock = fakeClock();
  let answer = (): Promise<Reservation | undefined> => Promise.resolve(undefined);
  const asking = brokerLookups({
    cache: { learn: () => "new" } as unknown as ReservationCache,
    communicator: { fetchReservation: () => answer() },
    link: { isCurrent: () => true },
    clock,
    log,
  });
  expect(asking.isUnknownToBroker(STRANGE)).toBe(false);
  const askAgainMs = await asking.lookUp(STRANGE);
  expect(asking.isUnknownToBroker(STRANGE)).toBe(true);
  answer = () => Promise.reject(new Fault("unreachable", "away"));
  await clock.advance(askAgainMs);
  await asking.lookUp(STRANGE);
  expect(asking.isUnknownToBroker(STRANGE)).toBe(true);
  asking.forget(STRANGE);
  await asking.lookUp(STRANGE);
  expect(asking.isUnknownToBroker(STRANGE)).toBe(false);
});
