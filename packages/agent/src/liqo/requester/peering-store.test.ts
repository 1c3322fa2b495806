import { describe, expect, test } from "vitest";
import { changedMarker, type MarkerChange, markerManifest, readMarker } from "./peering-store.ts";

const made = markerManifest({
  namespace: "default",
  liqoId: "calm-paris",
  clusterId: "paris",
  claim: "rsv-a",
});
const change = (by: MarkerChange, from = made) => {
  const marker = readMarker(from);
  if (marker === undefined) throw new Error("no marker");
  return readMarker(changedMarker(marker, by));
};

describe("the memory of a peering", () => {
  test("names the pair and the reservations that need it", () => {
    expect(readMarker(made)).toMatchObject({
      liqoId: "calm-paris",
      clusterId: "paris",
      claims: ["rsv-a"],
      isEnding: false,
    });
    expect(change({ claim: "rsv-b" })?.claims).toEqual(["rsv-a", "rsv-b"]);
    expect(change({ unclaim: "rsv-a" })?.claims).toEqual([]);
  });

  test("keeps that liqoctl was run for it, unless it was not", () => {
    const begun = change({ isBegun: true });
    expect(begun && change({ claim: "rsv-b" }, begun.object)?.isBegun).toBe(true);
    expect(begun && change({ isBegun: false }, begun.object)?.isBegun).toBe(false);
  });

  test("keeps its version, and that it is ending, until it is said otherwise", () => {
    const versioned = { ...made, metadata: { ...made.metadata, resourceVersion: "7" } };
    const ending = change({ isEnding: true }, versioned);
    expect(ending?.object.metadata.resourceVersion).toBe("7");
    expect(ending && change({ claim: "rsv-b" }, ending.object)?.isEnding).toBe(true);
    expect(ending && change({ isEnding: false }, ending.object)?.isEnding).toBe(false);
  });

  test.each([
    ["without its label", { ...made, metadata: { ...made.metadata, labels: {} } }],
    ["of another name", { ...made, metadata: { ...made.metadata, name: "liqo-peering-oslo" } }],
    ["with a flag for an ID", { ...made, data: { ...made.data, liqoID: "--force" } }],
    ["without data", { ...made, data: {} }],
  ])("is not believed %s", (_, object) => {
    expect(readMarker(object)).toBeUndefined();
  });
});
