import { expect, test } from "vitest";
import { createProgress, durationText, progressLine, secondsLeft } from "./progress.ts";

test("a line has a bar, a share, the time left and what is being done, and fits the terminal", () => {
  const state = { share: 0.5, secondsLeft: 700, test: "1a Broker CPU", doing: "20 agents" };
  const line = progressLine(state, 120);
  expect(line).toBe(
    `[${"█".repeat(12)}${"─".repeat(12)}] 50 %, about 12 min left · 1a Broker CPU: 20 agents`,
  );
  expect(progressLine(state, 40)).toHaveLength(39);
});

test.each([
  [3, "a moment"],
  [41, "about 50 s"],
  [89, "about 90 s"],
  [95, "about 2 min"],
  [3600, "about 60 min"],
])("%d seconds are %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  { name: "at first it is what was expected", done: 0, left: 100, elapsed: 0, expected: 100 },
  { name: "a run that is slow stays slow", done: 50, left: 100, elapsed: 100, expected: 200 },
  { name: "a run that is fast stays fast", done: 50, left: 100, elapsed: 25, expected: 50 },
  { name: "one slow start says little yet", done: 1, left: 100, elapsed: 4, expected: 115 },
])("of the time left: $name", ({ done, left, elapsed, expected }) => {
  expect(secondsLeft({ expectedDone: done, expectedLeft: left, elapsed })).toBeCloseTo(expected);
});

interface Shown {
  readonly text: () => string;
  readonly pass: (ms: number) => void;
  readonly progress: ReturnType<typeof createProgress>;
}

function shown(isTTY: boolean): Shown {
  let written = "";
  let now = 0;
  const screen = { isTTY, columns: 100, write: (text: string) => void (written += text) };
  return {
    text: () => written,
    pass: (ms) => void (now += ms),
    progress: createProgress({ screen, totalSeconds: 100, now: () => now }),
  };
}

test("a terminal has one line that is drawn again; it is gone in the end", () => {
  const { text, progress } = shown(true);
  progress.begin("4 Latency", 50);
  progress.end("measured");
  progress.close();
  expect(text()).toContain("\r\u001b[K[");
  expect(text().split("\n")).toHaveLength(2);
  expect(text().endsWith("\r\u001b[K")).toBe(true);
});

test("where nobody looks there are plain lines, and not too many", () => {
  const { text, pass, progress } = shown(false);
  progress.begin("4 Latency", 50);
  for (let second = 0; second < 30; second++) {
    pass(1000);
    progress.update(second / 30, `trial ${second}`);
  }
  progress.end("measured");
  expect(text()).not.toContain("\r");
  expect(text().trimEnd().split("\n")).toHaveLength(5);
  expect(text()).toContain("trial 29");
});

test("finished tests count for the whole", () => {
  const { text, pass, progress } = shown(false);
  progress.begin("4 Latency", 50);
  pass(50_000);
  progress.end("measured");
  progress.begin("5 Concurrency", 50);
  expect(text()).toContain("50 %, about 50 s left · 5 Concurrency");
});
