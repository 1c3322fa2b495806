import { describe, expect, test } from "vitest";
import { changedMarker, type MarkerChange, markerManifest, readMarker } from "./peering-marker.ts";

const made = markerManifest("default", { liqoId: "calm-paris", clusterId: "paris" }, ["rsv-a"]);
const change = (by: MarkerChange, from = made) => {
  const marker = readMarker(from);
  if (marker === undefined) throw new Error("no marker");
  return readMarker(changedMarker(marker, by));
};

describe("the memory of a peering", () => {
  test.each<[MarkerChange, object]>([
    [{}, { liqoId: "calm-paris", clusterId: "paris", claims: ["rsv-a"], isBegun: false, isEnding: false }],
    [{ claims: ["rsv-b"] }, { claims: ["rsv-a", "rsv-b"] }],
    [{ unclaim: "rsv-a" }, { claims: [] }],
  ])("after %j names the pair and the reservations that need it", (by, expected) => {
    expect(change(by)).toMatchObject(expected);
  });

  test.each(["isBegun", "isEnding"])("keeps %s, and its version, until it is said otherwise", (flag) => {
    const versioned = { ...made, metadata: { ...made.metadata, resourceVersion: "7" } };
    const set = change({ [flag]: true }, versioned)?.object;
    expect(set?.metadata.resourceVersion).toBe("7");
    expect(change({ claims: ["rsv-b"] }, set)).toMatchObject({ [flag]: true });
    expect(change({ [flag]: false }, set)).toMatchObject({ [flag]: false });
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
