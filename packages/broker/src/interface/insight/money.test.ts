import { DEFAULT_POLICY } from "@resource-broker/domain";
import { HOUR_MS, NOON, reservation } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { type MoneyFacts, spendingOf } from "./money.ts";

const PRICES = { ...DEFAULT_POLICY.prices, rates: { USD: 0.5 } };

interface Row {
  readonly id?: string;
  readonly requester?: string;
  readonly provider?: string;
  /** Hours before now. */
  readonly from: number;
  readonly to?: number;
  readonly perHour?: number;
  readonly currency?: string;
}

function reservationOf({ from, to, perHour, currency = "EUR", ...parties }: Row, index: number) {
  return reservation({
    id: `rsv-${index}`,
    ...parties,
    createdAt: NOON - from * HOUR_MS,
    ...(to === undefined ? {} : { phase: "Released", endedAt: NOON - to * HOUR_MS }),
    ...(perHour === undefined ? {} : { cost: { perHour, currency } }),
  });
}

function reportOf(
  rows: readonly Row[],
  window: "hour" | "day" | "week" = "day",
  means: Record<string, number> = {},
) {
  const facts: MoneyFacts = {
    reservations: rows.map(reservationOf),
    meanPriceOf: (id) => means[id],
    prices: PRICES,
    now: NOON,
  };
  return spendingOf(window, facts);
}

describe("spent is counted for the time inside the window:", () => {
  test.each([
    { name: "all of a live reservation", row: { from: 2, perHour: 3 }, spent: 6 },
    { name: "all of an ended one", row: { from: 5, to: 1, perHour: 3 }, spent: 12 },
    { name: "the part of one that began before", row: { from: 30, to: 20, perHour: 3 }, spent: 12 },
    { name: "one longer than the window", row: { from: 1000, perHour: 3 }, spent: 72 },
    { name: "nothing of one that ended before", row: { from: 30, to: 24, perHour: 3 }, spent: 0 },
    { name: "one that began this very moment", row: { from: 0, perHour: 3 }, spent: 0 },
    { name: "another currency at its rate", row: { from: 2, perHour: 3, currency: "USD" }, spent: 3 },
  ])("$name", ({ row, spent }) => {
    expect(reportOf([row]).spent).toBeCloseTo(spent, 9);
  });
});

test("who spends and who earns, the largest first; what has no price is counted apart", () => {
  const rows: Row[] = [
    { from: 2, perHour: 1, requester: "rome", provider: "paris" },
    { from: 4, perHour: 1, requester: "tokyo", provider: "paris" },
    { from: 1, perHour: 1, requester: "rome", provider: "oslo" },
    { from: 1, requester: "rome", provider: "oslo" },
    { from: 1, perHour: 1, currency: "XXX" },
    { from: 99, to: 98, requester: "rome" },
  ];
  expect(reportOf(rows)).toEqual({
    window: "day",
    currency: "EUR",
    spent: 7,
    saved: 0,
    byRequester: [
      { id: "tokyo", spent: 4, saved: 0, reservations: 1 },
      { id: "rome", spent: 3, saved: 0, reservations: 2 },
    ],
    byProvider: [
      { id: "paris", spent: 6, saved: 0, reservations: 2 },
      { id: "oslo", spent: 1, saved: 0, reservations: 1 },
    ],
    unpriced: 2,
  });
});

test("saved is the difference to the mean price, for the same time; below zero where the choice was dear", () => {
  const rows: Row[] = [
    { id: "cheap", from: 2, perHour: 1 },
    { id: "dear", from: 3, perHour: 5, requester: "tokyo" },
    { id: "unknown", from: 3, perHour: 5 },
    { id: "dollars", from: 2, perHour: 2, currency: "USD" },
  ];
  const report = reportOf(rows, "day", { cheap: 1.5, dear: 4, dollars: 4 });
  expect(report.saved).toBeCloseTo(0.5 * 2 - 1 * 3 + 2 * 0.5 * 2, 9);
  expect(report.byRequester.find(({ id }) => id === "tokyo")?.saved).toBeCloseTo(-3, 9);
});
