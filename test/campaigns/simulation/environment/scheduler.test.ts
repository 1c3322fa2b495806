import { seededRandom } from "@resource-broker/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Scheduler } from "./scheduler.ts";

function runAll(scheduler: Scheduler): void {
  for (let step = scheduler.next(); step !== undefined; step = scheduler.next()) step.run();
}

test("steps come in the order of their time, without those that were taken back", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ at: fc.nat({ max: 20 }), isCancelled: fc.boolean() })), (plans) => {
      const scheduler = new Scheduler(seededRandom(1));
      const seen: number[] = [];
      for (const { at, isCancelled } of plans) {
        const cancel = scheduler.after(at, "step", () => seen.push(scheduler.now));
        if (isCancelled) cancel();
      }
      runAll(scheduler);
      const expected = plans.filter((plan) => !plan.isCancelled).map(({ at }) => at);
      expect(seen).toEqual(expected.sort((a, b) => a - b));
    }),
  );
});

test("after a leap, what was due meanwhile is late, and time does not go back", () => {
  const scheduler = new Scheduler(seededRandom(1));
  const seen: number[] = [];
  scheduler.after(5, "soon", () => seen.push(scheduler.now));
  scheduler.leap(100);
  scheduler.after(5, "later", () => seen.push(scheduler.now));
  runAll(scheduler);
  expect(seen).toEqual([100, 105]);
});
