import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { loop } from "./loop.ts";

function world(pauseMs = 1000) {
  const clock = fakeClock();
  const beganAt = clock.monotonicMs();
  const rounds: number[] = [];
  const made = loop({
    clock,
    debounceMs: 100,
    round: async () => {
      rounds.push(clock.monotonicMs() - beganAt);
      return pauseMs;
    },
  });
  return { clock, rounds, ...made };
}

test("a loop runs at once, and again after each pause", async () => {
  const { clock, rounds, start, stop } = world();
  start();
  await clock.advance(2500);
  expect(rounds).toEqual([0, 1000, 2000]);
  await stop();
  await clock.advance(5000);
  expect(rounds).toHaveLength(3);
});

test("a loop that is woken in a burst runs once, a little later", async () => {
  const { clock, rounds, start, stop, wake } = world();
  start();
  await clock.advance(500);
  wake();
  wake();
  await clock.advance(200);
  expect(rounds).toEqual([0, 600]);
  await stop();
});
