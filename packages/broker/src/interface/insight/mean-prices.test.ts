import { emptyLedger } from "@resource-broker/domain";
import { reservation } from "@resource-broker/domain/testing";
import { expect, test } from "vitest";
import { createMeanPrices } from "./money.ts";
import { NO_DECISION } from "./testing/arbitrary-ledger.ts";

const cost = { currency: "EUR", perHour: 1 };

const decisionAt = (meanPrice: number) => ({ ...NO_DECISION, market: { medianRatings: {}, meanPrice } });

test("older decisions are read off the store once, newer ones as they fall, forgotten ones go", async () => {
  const older = Array.from({ length: 120 }, (_, count) =>
    reservation({ id: `old-${count}`, decisionId: `dec-${count}`, cost }),
  );
  const adopted = reservation({ id: "adopted", cost });
  const ledger = {
    ...emptyLedger(),
    reservations: new Map([...older, adopted].map((each) => [each.id, each])),
  };
  let reads = 0;
  const findDecision = (id: string) => {
    reads++;
    return Promise.resolve(id === "dec-7" ? undefined : decisionAt(Number(id.slice(4))));
  };
  const prices = createMeanPrices({ findDecision }, () => ledger);
  const made = reservation({ id: "new", decisionId: "dec-new", cost });
  prices.add({
    number: 1,
    at: 0,
    events: [{ kind: "granted", at: 0, reservation: made, decision: decisionAt(3.5) }],
  });
  await Promise.all([prices.complete(), prices.complete()]);
  expect(["old-5", "old-7", "adopted", "new"].map(prices.of)).toEqual([5, undefined, undefined, 3.5]);
  expect(reads).toBe(120);
  prices.add({ number: 2, at: 0, events: [{ kind: "forgotten", at: 0, id: "new" }] });
  expect(prices.of("new")).toBeUndefined();
});
