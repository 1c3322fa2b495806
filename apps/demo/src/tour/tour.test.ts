import { fakeClock, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { type Line, line } from "../text.ts";
import { check, type TourStep } from "./step.ts";
import { createTour, NO_PAUSES, readingPauses } from "./tour.ts";
import type { TourEnvironment } from "./tour-environment.ts";

/** These steps look at nothing. */
const EMPTY_ENVIRONMENT = {} as TourEnvironment;

function tourOf(steps: Parameters<typeof createTour>[0], time = fakeClock()) {
  const published: string[] = [];
  let closed = 0;
  const pauses = readingPauses(time);
  const print = (rows: readonly Line[]): void => {
    published.push(...rows.map((row) => row.map(({ text }) => text).join("")));
  };
  const startEnvironment = async () => ({ environment: EMPTY_ENVIRONMENT, close: async () => void closed++ });
  const deps = { clock: time, startEnvironment, print };
  return {
    paced: createTour(steps, { ...deps, pauses }),
    fast: createTour(steps, { ...deps, pauses: NO_PAUSES }),
    pauses,
    published,
    time,
    closed: () => closed,
  };
}

const GOOD: TourStep = {
  title: "good",
  narration: "It works.",
  run: async () => [line("saw 7")],
};
const LIE: TourStep = {
  title: "a lie",
  narration: "Pigs fly.",
  run: async () => {
    check(Number("1") > 1, "they stand on the ground");
    return [];
  },
};

test("a claim that is not so ends the tour, and names the step", async () => {
  const { fast, published, closed } = tourOf([GOOD, LIE, GOOD]);
  await expect(fast.run()).rejects.toThrow('the step "a lie" failed: they stand on the ground');
  expect(published.filter((text) => text.includes("3/3"))).toEqual([]);
  await fast.stop();
  expect(closed()).toBe(1);
});

test("a person is given time to read, and a key takes it away", async () => {
  const { paced, pauses, published, time } = tourOf([GOOD]);
  const running = paced.run();
  await settle();
  expect(published.at(-1)).toContain("It works.");
  await time.advance(699);
  expect(published.at(-1)).toContain("It works.");
  await time.advance(1);
  expect(published.at(-1)).toContain("saw 7");
  pauses.skip();
  await running;
});
