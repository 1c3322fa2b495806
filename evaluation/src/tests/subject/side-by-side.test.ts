import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../../evaluation-test.ts";
import { eachOf, sideBySide } from "./side-by-side.ts";

const BASELINE = { url: "https://10.0.0.7:8443", certificates: "certs" };

async function contextWith(more: Partial<Context>): Promise<{ context: Context; told: [number, string][] }> {
  const folder = await mkdtemp(join(tmpdir(), "side-by-side-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const told: [number, string][] = [];
  const silent = (): void => undefined;
  return {
    told,
    context: {
      size: "smoke",
      seed: 1,
      folder,
      cores: { broker: [], load: [] },
      programs: { broker: "", agent: "", agentNodeFlags: [], cli: "" },
      progress: (share, doing) => void told.push([share, doing]),
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
  const { context, told } = await contextWith({});
  const result = await sideBySide(context, measure);
  expect(eachOf(result)).toEqual(["ours"]);
  expect(told).toEqual([[0.5, "half done"]]);
});

test("with one, ours is measured first, and each is half of the way", async () => {
  const { context, told } = await contextWith({ baseline: BASELINE });
  const result = await sideBySide(context, measure);
  expect(eachOf(result)).toEqual(["ours", BASELINE.url]);
  expect(told).toEqual([
    [0.25, "this system: half done"],
    [0.75, "baseline: half done"],
  ]);
});
