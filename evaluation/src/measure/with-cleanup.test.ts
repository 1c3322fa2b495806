import { expect, test } from "vitest";
import { withCleanup } from "./with-cleanup.ts";

test("what was begun last ends first, also when something fails on the way", async () => {
  const ended: string[] = [];
  const run = withCleanup(async (onCleanup) => {
    onCleanup(() => ended.push("broker"));
    onCleanup(() => {
      ended.push("agent");
      throw new Error("it has ended already");
    });
    throw new Error("measuring failed");
  });
  await expect(run).rejects.toThrow("measuring failed");
  expect(ended).toEqual(["agent", "broker"]);
});

test("the outcome is handed on, after everything has ended", async () => {
  let isEnded = false;
  const outcome = await withCleanup(async (onCleanup) => {
    onCleanup(async () => {
      await Promise.resolve();
      isEnded = true;
    });
    return 7;
  });
  expect([outcome, isEnded]).toEqual([7, true]);
});
