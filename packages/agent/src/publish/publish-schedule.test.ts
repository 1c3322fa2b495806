import { resourceVector } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import {
  changeSince,
  delayBefore,
  MIN_INTERVAL_MS,
  type PublishState,
  untilTick,
} from "./publish-schedule.ts";

const GB = 1_000_000_000;
const allocatable = resourceVector({ cpuMillis: 100_000, memoryBytes: 400 * GB, gpus: 4 });

function publishState(
  allocated: Parameters<typeof resourceVector>[0],
  changes: Partial<PublishState> = {},
): PublishState {
  const used = resourceVector(allocated);
  const available = resourceVector({
    cpuMillis: 100_000 - used.cpuMillis,
    memoryBytes: 400 * GB - used.memoryBytes,
    gpus: 4 - used.gpus,
  });
  const guestPods = resourceVector({});
  return { allocatable, allocated: used, available, guestPods, otherInputs: "", ...changes };
}

const before = publishState({ cpuMillis: 50_000, memoryBytes: 100 * GB });

describe("a change", () => {
  test.each([
    ["nothing", publishState({ cpuMillis: 50_000, memoryBytes: 100 * GB }), "none"],
    ["less than a hundredth", publishState({ cpuMillis: 50_999, memoryBytes: 100 * GB }), "none"],
    ["a hundredth of the CPU", publishState({ cpuMillis: 51_000, memoryBytes: 100 * GB }), "material"],
    [
      "a hundredth of the CPU given back",
      publishState({ cpuMillis: 49_000, memoryBytes: 100 * GB }),
      "material",
    ],
    ["a hundredth of the memory", publishState({ cpuMillis: 50_000, memoryBytes: 104 * GB }), "material"],
    ["one GPU taken", publishState({ cpuMillis: 50_000, memoryBytes: 100 * GB, gpus: 1 }), "urgent"],
    [
      "another price",
      publishState({ cpuMillis: 50_000, memoryBytes: 100 * GB }, { otherInputs: "x" }),
      "material",
    ],
    ["guests that came", { ...before, guestPods: resourceVector({ cpuMillis: 1000 }) }, "material"],
    [
      "a tenth of what is free, exactly",
      publishState({ cpuMillis: 55_000, memoryBytes: 100 * GB }),
      "material",
    ],
    [
      "more than a tenth of what is free",
      publishState({ cpuMillis: 55_001, memoryBytes: 100 * GB }),
      "urgent",
    ],
    [
      "a lost node",
      { ...before, allocatable: resourceVector({ cpuMillis: 90_000, memoryBytes: 400 * GB, gpus: 4 }) },
      "material",
    ],
  ] as const)("of %s", (_, now, expected) => {
    expect(changeSince(before, now)).toBe(expected);
  });

  test("of one GPU out of many is told, though it is less than a hundredth", () => {
    const many = (gpus: number): PublishState => ({
      ...before,
      allocatable: resourceVector({ gpus: 1000 }),
      allocated: resourceVector({ gpus }),
      available: resourceVector({ gpus: 1000 - gpus }),
    });
    expect(changeSince(many(500), many(501))).toBe("material");
  });

  test("from nothing said yet is reported at once", () => {
    expect(changeSince(undefined, before)).toBe("urgent");
  });
});

describe("the next advertisement", () => {
  const moment = { toTickMs: 20_000, sinceLastMs: 2000 };

  test("falls on the next multiple of the interval by the wall clock", () => {
    expect(untilTick(Date.parse("2026-07-01T10:00:12Z"), 30_000)).toBe(18_000);
    expect(untilTick(Date.parse("2026-07-01T10:00:30Z"), 30_000)).toBe(30_000);
    expect(delayBefore("none", moment)).toBe(20_000);
  });

  test("comes earlier with a material change, but not more often than every five seconds", () => {
    expect(delayBefore("material", moment)).toBe(MIN_INTERVAL_MS - 2000);
    expect(delayBefore("material", { ...moment, sinceLastMs: 9000 })).toBe(0);
    expect(delayBefore("material", { toTickMs: 1000, sinceLastMs: 0 })).toBe(1000);
  });

  test("comes at once when much less is available", () => {
    expect(delayBefore("urgent", moment)).toBe(0);
  });
});
