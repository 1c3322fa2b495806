import { describe, expect, test } from "vitest";
import { UNREACHABLE_MS } from "./foreign-cluster-state.ts";
import { type PeeringState, planUnpeer } from "./plan-unpeer.ts";
import { aForeignCluster, aMarker, FAILED, NOW } from "./testing/samples.ts";

const ID = "rsv-rome-a";
const SILENT = { isReachable: false, silentSince: new Date(NOW - UNREACHABLE_MS).toISOString() };
const ENDING: PeeringState = {
  marker: aMarker([ID], { isEnding: true }),
  slices: 0,
  slicesFrom: 0,
  foreignCluster: aForeignCluster("Provider", SILENT),
  job: { ...FAILED, job: "unpeer" },
  wallMs: NOW,
};

describe("a peering that is being ended", () => {
  test.each<[string, Partial<PeeringState>, object]>([
    ["is given up by force after an hour of silence", {}, { kind: "unpeer", isForced: true }],
    [
      "is not when Liqo says that the provider borrows here, though no slice of it is seen",
      { foreignCluster: aForeignCluster("ConsumerAndProvider", SILENT) },
      { kind: "wait", reason: "ForceRefused" },
    ],
    [
      "is not given up again before the pause after a failed attempt is over",
      { job: { ...FAILED, job: "force-unpeer" } },
      { kind: "wait", reason: FAILED.obstacle.reason },
    ],
    ["stays when a slice came that can use it", { slices: 1, job: { kind: "none" } }, { kind: "unclaim" }],
    [
      "is ended though a slice came, where nothing is left that the slice could use",
      { slices: 1, job: { kind: "none" }, foreignCluster: aForeignCluster("Unknown") },
      { kind: "unpeer", isForced: false },
    ],
  ])("%s", (_, changes, expected) => {
    expect(planUnpeer(ID, { ...ENDING, ...changes })).toMatchObject(expected);
  });
});
