import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { requestBackoff } from "./request-backoff.ts";

test("pauses grow with each failure, up to half a minute, and begin small again after an answer", async () => {
  const time = fakeClock();
  const pauses = requestBackoff({ clock: time, random: () => 0.999 });
  const lengths: number[] = [];
  for (let failure = 0; failure < 10; failure++) lengths.push(pauses.fail("default/more"));
  expect(lengths.slice(0, 4)).toEqual([499, 999, 1998, 3996]);
  expect(lengths.at(-1)).toBe(29_970);
  expect(pauses.remainingMs("default/more")).toBe(29_970);
  await time.advance(30_000);
  expect(pauses.remainingMs("default/more")).toBe(0);
  pauses.reset("default/more");
  expect(pauses.fail("default/more")).toBe(499);
});

test("each request has its own, and the broker may want a longer one", () => {
  const pauses = requestBackoff({ clock: fakeClock(), random: () => 0.5 });
  expect(pauses.fail("a/one", 7000)).toBe(7000);
  expect(pauses.remainingMs("a/two")).toBe(0);
});
