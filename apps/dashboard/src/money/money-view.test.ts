import type { UiMoneyReport } from "@resource-broker/contract/dashboard";
import { expect, test } from "vitest";
import { moneyView } from "./money-view.ts";

const REPORT: UiMoneyReport = {
  window: "hour",
  currency: "EUR",
  spent: 6,
  saved: 2,
  unpriced: 1,
  byRequester: [
    { id: "rome", spent: 4, saved: 2, reservations: 3 },
    { id: "milan", spent: 2, saved: 0, reservations: 1 },
  ],
  byProvider: [],
};

test.each([
  [2, "25 % less than at the mean price"],
  [-1, "20 % more than at the mean price"],
  [0, "as much as at the mean price"],
])("saved %d of 6 is %s", (saved, savedNote) => {
  expect(moneyView({ ...REPORT, saved }).savedNote).toBe(savedNote);
});

test("bars are measured against the biggest, and what has no price is reported", () => {
  const view = moneyView(REPORT);
  expect(view.byRequester.map(({ share }) => share)).toEqual([1, 0.5]);
  expect(view.byRequester[1]?.reservations).toBe("1 reservation");
  expect(view.unpriced).toBe("1 reservation without a price not counted");
});

test("without any spending there is nothing to compare", () => {
  const view = moneyView({ ...REPORT, spent: 0, saved: 0, unpriced: 0, byRequester: [] });
  expect(view).toMatchObject({ isEmpty: true, savedNote: "nothing to compare yet", unpriced: null });
});
