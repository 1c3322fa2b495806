import { expect, test } from "vitest";
import { fakeTimers } from "../testing/fake-timers.ts";
import { createBrokerClock, createTicker } from "./clock.ts";

function ticking() {
  const timers = fakeTimers();
  const changed: (() => void)[] = [];
  const page = { isHidden: false };
  const ticker = createTicker(5000, timers, {
    isHidden: () => page.isHidden,
    onChange: (listener) => void changed.push(listener),
  });
  const hide = (isHidden: boolean): void => {
    page.isHidden = isHidden;
    for (const listener of changed) listener();
  };
  return { timers, ticker, hide };
}

test("no timer runs while nobody listens", async () => {
  const { timers, ticker } = ticking();
  expect(timers.pending()).toBe(0);
  let ticks = 0;
  const stop = ticker.subscribe(() => void (ticks += 1));
  await timers.advance(15_000);
  expect(ticks).toBe(3);
  stop();
  expect(timers.pending()).toBe(0);
});

test("a hidden page stands still, and is right again as soon as it is looked at", async () => {
  const { timers, ticker, hide } = ticking();
  let ticks = 0;
  ticker.subscribe(() => void (ticks += 1));
  hide(true);
  await timers.advance(60_000);
  expect(ticks).toBe(0);
  hide(false);
  expect(ticks).toBe(1);
});

test("the broker's clock continues from what it said last", async () => {
  const timers = fakeTimers();
  const clock = createBrokerClock(timers);
  await timers.advance(1000);
  clock.set("2026-07-01T10:00:00Z");
  await timers.advance(2500);
  expect(clock.now()).toBe(Date.parse("2026-07-01T10:00:02.500Z"));
});
