import { expect, test } from "vitest";
import { metricsOf, type Notification, notifiedShare, pushFaults, thinned } from "./results.ts";

const NOTIFICATIONS: readonly Notification[] = [
  { way: "push", answeredMs: 2, toldMs: 3 },
  { way: "push", answeredMs: 2, toldMs: 1 },
  { way: "poll", answeredMs: 2, toldMs: 4000 },
  { way: "poll", answeredMs: 2 },
];

test("each way has its own figures, and those who never heard have none", () => {
  expect(metricsOf(NOTIFICATIONS, "push")).toMatchObject({
    notified: { count: 2, mean: 2 },
    afterReply: { least: -1, most: 1 },
  });
  expect(metricsOf(NOTIFICATIONS, "poll")).toMatchObject({ notified: { count: 1, mean: 4000 } });
  expect(metricsOf([], "push")).toBeUndefined();
});

test("a curve rises with each that knows, and never reaches all where one never does", () => {
  expect(notifiedShare(NOTIFICATIONS, "push")).toEqual([
    { x: 1, y: 50 },
    { x: 3, y: 100 },
  ]);
  expect(notifiedShare(NOTIFICATIONS, "poll")).toEqual([{ x: 4000, y: 50 }]);
});

test("a reservation that its provider never heard of is a fault", () => {
  expect(pushFaults(NOTIFICATIONS)).toEqual(["poll: 1 reservations that their provider never heard of"]);
});

test("a thinned curve keeps its first and its last point", () => {
  const points = Array.from({ length: 100 }, (_, at) => at);
  expect(thinned(points, 10)).toHaveLength(11);
  expect(thinned(points, 10).at(-1)).toBe(99);
  expect(thinned([1, 2], 10)).toEqual([1, 2]);
});
