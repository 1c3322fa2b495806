import { describe, expect, test } from "vitest";
import { creatorUserOf, sliceOf } from "./liqo-informers.ts";

describe("the user of a slice", () => {
  test("is its name and twelve hex digits of the consumer's digest, as Liqo writes it", () => {
    expect(creatorUserOf("mypool", "rome-liqo")).toBe("mypool-8930a094bab8");
    expect(creatorUserOf("mypool", "mallory-liqo")).toBe("mypool-6919841d73c2");
  });

  test.each([
    ["mypool-8930a094bab8", "mypool"],
    ["rsv-rome-k3u7dq2hvmx5b4ta-8930a094bab8", "rsv-rome-k3u7dq2hvmx5b4ta"],
    ["system-serviceaccount-liqo-x", undefined],
    ["-8930a094bab8", undefined],
    ["mypool-8930a094bab", undefined],
    ["", undefined],
  ])("%j acts for the slice %j", (user, slice) => {
    expect(sliceOf(user)).toBe(slice);
  });
});
