import { describe, expect, test } from "vitest";
import { MINUTE_MS, withSlice } from "./testing/provider-test-environment.ts";

describe("without Liqo", () => {
  test("nothing of it is asked for, and its going is no trouble", async () => {
    const { cluster, time, provider, log } = await withSlice();
    provider.setPresent(false);
    await time.advance(1000);
    const before = cluster.calls.length;
    await time.advance(10 * MINUTE_MS);
    expect(cluster.calls).toHaveLength(before);
    provider.setPresent(true);
    await time.advance(1000);
    expect(cluster.calls.length).toBeGreaterThan(before);
    await provider.stop();
    expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });
});
