import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../../evaluation-test.ts";
import { baselineText, eachOf, sideBySide } from "./side-by-side.ts";

const BASELINE = { url: "https://10.0.0.7:8443", certificates: "certs" };

async function contextWith(
  more: Partial<Context>,
): Promise<{ context: Context; reported: [number, string][] }> {
  const folder = await mkdtemp(join(tmpdir(), "side-by-side-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const reported: [number, string][] = [];
  const silent = (): void => undefined;
  return {
    reported,
    context: {
      size: "smoke",
      seed: 1,
      folder,
      cores: { broker: [], load: [] },
      programs: { broker: "", agent: "", agentNodeFlags: [], cli: "" },
      progress: (share, doing) => void reported.push([share, doing]),
      signal: new AbortController().signal,
      log: { info: silent, warn: silent, error: silent },
      ...more,
    },
  };
}

const measure = async ({ baseline, progress }: Context): Promise<string> => {
  progress(0.5, "half done");
  return baseline?.url ?? "ours";
};

test("without a baseline only our broker is measured", async () => {
  const { context, reported } = await contextWith({});
  const result = await sideBySide(context, measure);
  expect(eachOf(result)).toEqual(["ours"]);
  expect(reported).toEqual([[0.5, "half done"]]);
});

test("with one, ours is measured first, and each is half of the way", async () => {
  const { context, reported } = await contextWith({ baseline: BASELINE });
  const result = await sideBySide(context, measure);
  expect(eachOf(result)).toEqual(["ours", BASELINE.url]);
  expect(reported).toEqual([
    [0.25, "this system: half done"],
    [0.75, "baseline: half done"],
  ]);
});

test("a baseline that fails is a result: ours is kept, and the report says what happened", async () => {
  const { context } = await contextWith({ baseline: BASELINE });
  const result = await sideBySide(context, async (given) => {
    if (given.baseline !== undefined) throw new Error("paris cannot advertise: 500");
    return "ours";
  });
  expect(result).toEqual({ ours: "ours", baselineFailed: "paris cannot advertise: 500" });
  expect(baselineText(result, () => []).join("\n")).toContain("paris cannot advertise: 500");
});

test("our own failure is none, nor is a run that was broken off", async () => {
  const { context } = await contextWith({ baseline: BASELINE });
  const fail = () => Promise.reject(new Error("no broker"));
  await expect(sideBySide(context, fail)).rejects.toThrow("no broker");
  const ending = new AbortController();
  const broken = await contextWith({ baseline: BASELINE, signal: ending.signal });
  const measured = sideBySide(broken.context, async (given) => {
    if (given.baseline === undefined) return "ours";
    ending.abort();
    throw new Error("broken off");
  });
  await expect(measured).rejects.toThrow("broken off");
});

test("what a baseline did wrong is told, the first ten of it", () => {
  const faults = Array.from({ length: 12 }, (_, at) => `fault ${at}`);
  const lines = baselineText({ ours: "", baseline: "other" }, (each) => (each === "other" ? faults : []));
  expect(lines.filter((line) => line.startsWith("- "))).toHaveLength(11);
  expect(lines.join("\n")).toContain("and 2 more");
  expect(baselineText({ ours: "", baseline: "other" }, () => [])).toEqual([]);
});
