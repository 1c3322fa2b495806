import { expect, test } from "vitest";
import { latencyFaults, statisticsOf, type Trial, valueOf } from "./results.ts";

const trial = (reserved: number, reservationInstruction: number, providerInstruction: number): Trial => ({
  created: 1,
  reserved,
  reservationInstruction,
  providerInstruction,
});

test("the total lasts until the last of the three is there, whichever that is", () => {
  expect(valueOf(trial(10, 8, 9), "total")).toBe(10);
  expect(valueOf(trial(5, 12, 9), "total")).toBe(12);
  expect(statisticsOf({ trials: [trial(5, 12, 9), trial(1, 2, 4)] }, "total")).toMatchObject({
    mean: 8,
    most: 12,
  });
});

test("every trial that did not come to its end is a fault, and so is a run without any", () => {
  const failures = [{ trial: "latency-3", problem: "no ProviderInstruction after 20 s" }];
  expect(latencyFaults({ subject: "x", trials: [], failures })).toEqual([
    "latency-3: no ProviderInstruction after 20 s",
    "no trial came to its end",
  ]);
});
