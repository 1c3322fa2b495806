import { Fault, type ReservationDTO } from "@resource-broker/contract";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import type { ReservationBook } from "../../reservations/reservation-book.ts";
import { inquiries } from "./inquiries.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const STRANGE = "rsv-strange";

test("who is known to be a stranger stays one while the broker does not answer", async () => {
  const clock = fakeClock();
  let answer = (): Promise<ReservationDTO | undefined> => Promise.resolve(undefined);
  const asking = inquiries({
    book: { learn: () => "new" } as unknown as ReservationBook,
    communicator: { fetchReservation: () => answer() },
    link: { isCurrent: () => true },
    clock,
    log,
  });
  expect(asking.isStranger(STRANGE)).toBe(false);
  const askAgainMs = await asking.ask(STRANGE);
  expect(asking.isStranger(STRANGE)).toBe(true);
  answer = () => Promise.reject(new Fault("unreachable", "away"));
  await clock.advance(askAgainMs);
  await asking.ask(STRANGE);
  expect(asking.isStranger(STRANGE)).toBe(true);
  asking.forget(STRANGE);
  await asking.ask(STRANGE);
  expect(asking.isStranger(STRANGE)).toBe(false);
});
