import { fakeClock, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { startPolling } from "./polling.ts";
import type { DemoUpdate } from "./update.ts";

function looking(poll: () => Promise<void>) {
  const clock = fakeClock();
  const published: DemoUpdate[] = [];
  const { stop } = startPolling({ poll, clock, onUpdate: (update) => void published.push(update) });
  return { clock, published, stop };
}

test("a problem is reported once, and once when it is over", async () => {
  let isDown = false;
  const { clock, published, stop } = looking(async () => {
    if (isDown) throw new Error("connect ECONNREFUSED");
  });
  await clock.advance(2000);
  expect(published).toEqual([]);
  isDown = true;
  await clock.advance(3000);
  expect(published.splice(0)).toEqual([
    { kind: "trouble", text: "The broker does not answer: connect ECONNREFUSED" },
  ]);
  isDown = false;
  await clock.advance(3000);
  expect(published).toEqual([{ kind: "trouble", text: "" }]);
  await stop();
});

test("one look is over before the next begins, and none begins after the end", async () => {
  let features = 0;
  let finish = (): void => undefined;
  const { clock, stop } = looking(async () => {
    features++;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await clock.advance(5000);
  expect(features).toBe(1);
  finish();
  await settle();
  await clock.advance(500);
  expect(features).toBe(2);
  const stopped = stop();
  finish();
  await stopped;
  await clock.advance(5000);
  expect(features).toBe(2);
});
