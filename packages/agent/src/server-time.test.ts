import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { serverClock, serverTime } from "./server-time.ts";

const NOW = Date.UTC(2026, 6, 1, 10);
const HOUR_MS = 3_600_000;

test.each([
  { name: "an hour fast", offMs: HOUR_MS },
  { name: "an hour slow", offMs: -HOUR_MS },
])("a clock that is $name shows the server's time once the server has answered", async ({ offMs }) => {
  const local = fakeClock(NOW + offMs);
  const time = serverTime(local);
  const clock = serverClock(local, time);
  expect(clock.wallMs()).toBe(NOW + offMs);
  time.observe(NOW);
  expect(clock.wallMs()).toBe(NOW);
  await local.advance(5000);
  expect(clock.wallMs()).toBe(NOW + 5000);
});

test("a late answer does not set the time back, and a server's clock that was set back does", async () => {
  const local = fakeClock(NOW);
  const time = serverTime(local);
  time.observe(NOW);
  await local.advance(4000);
  time.observe(NOW + 1000);
  expect(time.now()).toBe(NOW + 4000);
  time.observe(NOW - HOUR_MS);
  expect(time.now()).toBe(NOW - HOUR_MS);
});
