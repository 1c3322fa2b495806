import { expect, test } from "vitest";
import { brokerTime } from "./broker-time.ts";

function timeAt(start: number) {
  let monotonic = start;
  const time = brokerTime({ monotonicMs: () => monotonic });
  return { time, pass: (ms: number) => (monotonic += ms) };
}

test("nothing is known before the broker has answered", () => {
  expect(timeAt(0).time.now()).toBeUndefined();
});

test("the broker's time continues by the monotonic clock", () => {
  const { time, pass } = timeAt(500);
  time.observe(10_000);
  pass(750);
  expect(time.now()).toBe(10_750);
});

test("answers in whole seconds come closer to the truth with each that proves a later moment", () => {
  const { time, pass } = timeAt(0);
  // The broker's clock reads 10.900 now and shows 10.
  time.observe(10_000);
  pass(200);
  time.observe(11_000);
  expect(time.now()).toBe(11_000);
  pass(500);
  time.observe(11_000);
  expect(time.now()).toBe(11_500);
});

test("a broker whose clock was set back is believed", () => {
  const { time, pass } = timeAt(0);
  time.observe(3_600_000);
  pass(1000);
  time.observe(60_000);
  expect(time.now()).toBe(60_000);
});
