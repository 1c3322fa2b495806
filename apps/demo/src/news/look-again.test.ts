import { fakeClock, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { lookAgain } from "./look-again.ts";
import type { News } from "./news.ts";

function looking(look: () => Promise<void>) {
  const clock = fakeClock();
  const told: News[] = [];
  const { stop } = lookAgain({ look, clock, tell: (news) => void told.push(news) });
  return { clock, told, stop };
}

test("trouble is told once, and once when it is over", async () => {
  let isDown = false;
  const { clock, told, stop } = looking(async () => {
    if (isDown) throw new Error("connect ECONNREFUSED");
  });
  await clock.advance(2000);
  expect(told).toEqual([]);
  isDown = true;
  await clock.advance(3000);
  expect(told.splice(0)).toEqual([
    { kind: "trouble", text: "The broker does not answer: connect ECONNREFUSED" },
  ]);
  isDown = false;
  await clock.advance(3000);
  expect(told).toEqual([{ kind: "trouble", text: "" }]);
  await stop();
});

test("one look is over before the next begins, and none begins after the end", async () => {
  let looks = 0;
  let finish = (): void => undefined;
  const { clock, stop } = looking(async () => {
    looks++;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await clock.advance(5000);
  expect(looks).toBe(1);
  finish();
  await settle();
  await clock.advance(500);
  expect(looks).toBe(2);
  const stopped = stop();
  finish();
  await stopped;
  await clock.advance(5000);
  expect(looks).toBe(2);
});
