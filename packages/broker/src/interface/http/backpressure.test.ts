import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { Backpressure } from "./backpressure.ts";

class Line extends EventEmitter {
  isRead = true;
  destroyed = false;
  readonly pause = (): void => {
    this.isRead = false;
  };
  readonly resume = (): void => {
    this.isRead = true;
  };
}

/** Lines whose requests were turned away, in this order. */
function turnedAway(holdBack: Backpressure, count: number): Line[] {
  return Array.from({ length: count }, () => {
    const line = new Line();
    const response = Object.assign(new EventEmitter(), { socket: line });
    holdBack.pauseAfter(response as unknown as ServerResponse);
    expect(line.isRead).toBe(true);
    response.emit("close");
    return line;
  });
}

const readIn = (lines: readonly Line[]): boolean[] => lines.map(({ isRead }) => isRead);

test("who was turned away is read again when others were served, the first first", () => {
  const holdBack = new Backpressure(fakeClock().after);
  const lines = turnedAway(holdBack, 3);
  expect(readIn(lines)).toEqual([false, false, false]);
  for (let each = 0; each < 11; each++) holdBack.served();
  expect(readIn(lines)).toEqual([true, false, false]);
  for (let each = 0; each < 11; each++) holdBack.served();
  expect(readIn(lines)).toEqual([true, true, false]);
});

test("when nobody is served for a moment, everybody is read again", async () => {
  const time = fakeClock();
  const holdBack = new Backpressure(time.after);
  const lines = turnedAway(holdBack, 3);
  await time.advance(40);
  holdBack.served();
  await time.advance(40);
  expect(readIn(lines)).toEqual([false, false, false]);
  await time.advance(20);
  expect(readIn(lines)).toEqual([true, true, true]);
});

test("a connection that ends is not kept, and at the end nobody is held", () => {
  const holdBack = new Backpressure(fakeClock().after);
  const [gone, stays] = turnedAway(holdBack, 2);
  gone?.emit("close");
  expect(holdBack.size).toBe(1);
  holdBack.stop();
  expect([holdBack.size, stays?.isRead]).toEqual([0, true]);
});
