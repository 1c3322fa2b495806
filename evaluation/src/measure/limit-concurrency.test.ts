import { expect, test } from "vitest";
import { limitConcurrency } from "./limit-concurrency.ts";

test("never more than so many are under way, all have their turn, and a failure keeps nobody waiting", async () => {
  const gate = limitConcurrency(3);
  let underWay = 0;
  let most = 0;
  const task = (number: number) => async (): Promise<number> => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    await Promise.resolve();
    underWay -= 1;
    if (number % 4 === 0) throw new Error("failed");
    return number;
  };
  const ends = await Promise.allSettled(Array.from({ length: 20 }, (_, number) => gate(task(number))));
  expect(most).toBe(3);
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(15);
  expect(await gate(task(1))).toBe(1);
});
