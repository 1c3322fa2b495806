import { expect, test } from "vitest";
import { costText, isLive, reasonText, timelineView, usageViews } from "./reservation-view.ts";
import { isFiltered, readReservationsQuery, reservationsPath } from "./reservations-query.ts";

const read = (search: string) => readReservationsQuery(new URLSearchParams(search));

test.each([
  ["", "/ui/reservations?sort=created&order=desc&limit=50", false],
  [
    "phase=live&provider=paris",
    "/ui/reservations?phase=live&provider=paris&sort=created&order=desc&limit=50",
    true,
  ],
  ["sort=cpu&offset=50", "/ui/reservations?sort=cpu&order=asc&offset=50&limit=50", false],
  ["phase=Odd&sort=odd&q=k3", "/ui/reservations?q=k3&sort=created&order=desc&limit=50", true],
])("the address ?%s asks %s", (search, path, hasFilter) => {
  expect(reservationsPath(read(search))).toBe(path);
  expect(isFiltered(read(search))).toBe(hasFilter);
});

test("only what has not ended is live", () => {
  const phases = ["Pending", "Reserved", "Active", "Released", "Failed"] as const;
  expect(phases.filter((phase) => isLive({ phase }))).toEqual(["Pending", "Reserved", "Active"]);
});

test("reasons and prices read as people say them", () => {
  expect(reasonText("ReleasedByRequester")).toBe("Released by requester");
  expect(reasonText(null)).toBe("");
  expect(costText({ costPerHour: { amount: 0.336, currency: "EUR" } })).toBe("€0.336");
  expect(costText({ costPerHour: null })).toBeNull();
});

const AT = "2026-07-01T10:00:00.000Z";
const LATER = "2026-07-01T10:00:00.120Z";

test("a timeline shows what is done, what is waited for, and what is to come", () => {
  const timeline = [
    { step: "requested", at: AT, text: "asked" },
    { step: "reserved", at: AT, text: "locked" },
    { step: "told", at: LATER, text: "told" },
    { step: "enforced", at: null, text: "waits" },
    { step: "active", at: null, text: "waits" },
  ] as const;
  const steps = timelineView({ timeline, phase: "Reserved" });
  expect(steps.map(({ state }) => state)).toEqual(["done", "done", "done", "current", "waiting"]);
  expect(steps.map(({ since }) => since)).toEqual(["", "", "+120 ms", "", ""]);
});

test("what an ended reservation never reached is not waited for", () => {
  const timeline = [
    { step: "active", at: null, text: "never used" },
    { step: "end", at: LATER, text: "expired" },
  ] as const;
  expect(timelineView({ timeline, phase: "Released" }).map(({ state }) => state)).toEqual([
    "skipped",
    "done",
  ]);
});

test("use is reported against what was granted, also where it is more", () => {
  const granted = { cpu: 4, memory: 2 ** 33, gpu: 0 };
  expect(usageViews(granted, null).map(({ text }) => text)).toEqual([
    "4 held; use not reported",
    "8 GiB held; use not reported",
  ]);
  const over = usageViews(granted, { cpu: 6, memory: 2 ** 32, gpu: 0 });
  expect(over.map(({ share }) => share)).toEqual([1.5, 0.5]);
  expect(over[0]?.text).toBe("6 of 4 used (150 %)");
});
