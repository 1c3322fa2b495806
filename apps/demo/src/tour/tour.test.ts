import { fakeClock, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { line, type Line } from "../view/line.ts";
import { NO_PAUSES, readingPace } from "./pace.ts";
import type { Stage } from "./stage.ts";
import { claim, step } from "./step.ts";
import { STORY } from "./story.ts";
import { createTour } from "./tour.ts";

/** These steps look at nothing. */
const EMPTY_STAGE = {} as Stage;

function tourOf(steps: Parameters<typeof createTour>[0]["steps"], time = fakeClock()) {
  const told: string[] = [];
  let closed = 0;
  const pace = readingPace(time);
  const tell = (rows: readonly Line[]): void => {
    told.push(...rows.map((row) => row.map(({ text }) => text).join("")));
  };
  const openStage = async () => ({ stage: EMPTY_STAGE, close: async () => void closed++ });
  const deps = { clock: time, openStage, tell };
  return {
    paced: createTour({ steps, columns: 100 }, { ...deps, pace }),
    fast: createTour({ steps, columns: 100 }, { ...deps, pace: NO_PAUSES }),
    pace,
    told,
    time,
    closed: () => closed,
  };
}

const GOOD = step({
  title: "good",
  says: "It works.",
  act: async () => 7,
  shows: (seen) => [line(`saw ${seen}`)],
});
const LIE = step({
  title: "a lie",
  says: "Pigs fly.",
  act: async () => claim(Number("1") > 1, "they stand on the ground"),
  shows: () => [],
});

test("each step is told, done and shown, in order", async () => {
  const { fast, told, closed } = tourOf([GOOD, GOOD]);
  await fast.run();
  const story = told.filter((text) => /good|works|saw|Finished/.test(text)).map((text) => text.trim());
  expect(story).toEqual([
    "1/2  good",
    "It works.",
    "saw 7",
    "2/2  good",
    "It works.",
    "saw 7",
    "Finished: 2 steps in 0 s, each checked while it ran.",
  ]);
  await fast.stop();
  expect(closed()).toBe(1);
});

test("a claim that is not so ends the tour, and names the step", async () => {
  const { fast, told } = tourOf([GOOD, LIE, GOOD]);
  await expect(fast.run()).rejects.toThrow('the step "a lie" failed: they stand on the ground');
  expect(told.filter((text) => text.includes("3/3"))).toEqual([]);
});

test("a person is given time to read, and a key takes it away", async () => {
  const { paced, pace, told, time } = tourOf([GOOD]);
  const running = paced.run();
  await settle();
  expect(told.at(-1)).toContain("It works.");
  await time.advance(699);
  expect(told.at(-1)).toContain("It works.");
  await time.advance(1);
  expect(told.at(-1)).toContain("saw 7");
  pace.skip();
  await running;
});

test("the story has a title and words for each step", () => {
  const titles = STORY.map(({ title }) => title);
  expect(new Set(titles).size).toBe(STORY.length);
  for (const { says } of STORY) expect(says).toMatch(/[.:]$/);
});
