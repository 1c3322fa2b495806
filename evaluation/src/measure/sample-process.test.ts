import { expect, test } from "vitest";
import { coreShare, coreShares, sampleProcess } from "./sample-process.ts";

/** Elsewhere there is nothing to read. */
const HAS_PROC = process.platform === "linux";

const looks = (...pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([atMs, cpuMs]) => ({ atMs, cpuMs }));

test("the share of a core is CPU time over wall time, whatever was used before", () => {
  expect(coreShare(looks([0, 500], [1000, 510], [2000, 520]))).toBe(1);
});

test("one look is no share", () => {
  expect(coreShare(looks([0, 500]))).toBeUndefined();
  expect(coreShare([])).toBeUndefined();
});

test("each window has its own share, and what is left at the end is none", () => {
  const samples = looks([0, 0], [1000, 10], [2000, 20], [3001, 50], [4001, 80], [5000, 90]);
  expect(coreShares(samples, 2000).map((share) => Math.round(10 * share) / 10)).toEqual([1, 3]);
});

test.skipIf(!HAS_PROC)("a process is looked at in the beginning and in the end", async () => {
  const seen: number[] = [];
  const samples = await sampleProcess(process.pid, {
    everyMs: 2,
    forMs: 5,
    signal: AbortSignal.timeout(60_000),
    onSample: ({ atMs }) => void seen.push(atMs),
  });
  expect(samples).toHaveLength(4);
  expect(seen).toEqual(samples.map(({ atMs }) => atMs));
});

test.skipIf(!HAS_PROC)("who is told to stop looks no further", async () => {
  const stopping = new AbortController();
  const sampling = sampleProcess(process.pid, {
    everyMs: 60_000,
    forMs: 600_000,
    signal: stopping.signal,
    onSample: () => stopping.abort(),
  });
  await expect(sampling).rejects.toThrow(/abort/i);
});
