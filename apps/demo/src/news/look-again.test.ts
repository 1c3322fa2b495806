import { fakeTime, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { lookAgain } from "./look-again.ts";
import type { News } from "./news.ts";

function looking(look: () => Promise<void>) {
  const machine = fakeTime();
  const told: News[] = [];
  const { stop } = lookAgain({ look, machine, tell: (news) => void told.push(news) });
  return { machine, told, stop };
}

test("trouble is told once, and once when it is over", async () => {
  let isDown = false;
  const { machine, told, stop } = looking(async () => {
    if (isDown) throw new Error("connect ECONNREFUSED");
  });
  await machine.advance(2000);
  expect(told).toEqual([]);
  isDown = true;
  await machine.advance(3000);
  expect(told.splice(0)).toEqual([
    { kind: "trouble", text: "The broker does not answer: connect ECONNREFUSED" },
  ]);
  isDown = false;
  await machine.advance(3000);
  expect(told).toEqual([{ kind: "trouble", text: "" }]);
  await stop();
});

test("one look is over before the next begins, and none begins after the end", async () => {
  let looks = 0;
  let finish = (): void => undefined;
  const { machine, stop } = looking(async () => {
    looks++;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await machine.advance(5000);
  expect(looks).toBe(1);
  finish();
  await settle();
  await machine.advance(500);
  expect(looks).toBe(2);
  const stopped = stop();
  finish();
  await stopped;
  await machine.advance(5000);
  expect(looks).toBe(2);
});
