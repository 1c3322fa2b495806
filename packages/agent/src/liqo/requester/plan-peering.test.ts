import { describe, expect, test } from "vitest";
import { type PeeringState, planUnpeer, UNREACHABLE_MS } from "./plan-peering.ts";
import { aForeignCluster, aMarker, FAILED, ID_A, ID_B, NOW } from "./testing/samples.ts";

const SILENT = { isReachable: false, silentSince: new Date(NOW - UNREACHABLE_MS).toISOString() };
const GONE = aForeignCluster("Unknown", { hasIdentity: false });
const failed = (times: number, retryInMs: number) =>
  ({ ...FAILED, job: "unpeer", times, retryInMs }) as const;
const NONE = { kind: "none" } as const;
const ENDING: PeeringState = {
  marker: aMarker([ID_A], { isEnding: true }),
  slices: 0,
  slicesFrom: 0,
  foreignCluster: aForeignCluster("Provider", SILENT),
  job: failed(1, 5000),
  wallMs: NOW,
};
const UPDATE = { writes: [{ verb: "update" }] };
const DROP = { job: { kind: "forget" }, writes: [{ verb: "delete" }] };
const [UNPEER, FORCE] = [{ job: { kind: "unpeer" } }, { job: { kind: "force-unpeer" } }];

describe("a peering that is being ended", () => {
  test.each<[string, Partial<PeeringState>, object]>([
    ["is given up by force after an hour of silence", {}, FORCE],
    ["is not a moment before", { wallMs: NOW - 1 }, { reason: FAILED.obstacle.reason, isStalled: true }],
    [
      "is not where Liqo says that the provider borrows here, though no slice of it is seen",
      { foreignCluster: aForeignCluster("ConsumerAndProvider", SILENT) },
      {
        reason: "ForceRefused",
        message: expect.stringContaining("delete Tenant calm-paris in liqo-tenant-calm-paris"),
      },
    ],
    ["is not where a slice of the provider is seen here", { slicesFrom: 1 }, { reason: "ForceRefused" }],
    [
      "is not given up again before the pause after a failed attempt is over",
      { job: { ...FAILED, job: "force-unpeer" } },
      { kind: "wait", reason: FAILED.obstacle.reason },
    ],
    ["stays when a slice came that can use it", { slices: 1, job: NONE }, DROP],
    ["is ended though a slice came that cannot", { slices: 1, job: NONE, foreignCluster: GONE }, UNPEER],
    ["is ended though liqoctl only said so", { job: { kind: "done", job: "unpeer", forMs: 60_000 } }, UNPEER],
    ["has time to go", { job: { kind: "done", job: "unpeer", forMs: 1 } }, { reason: "AwaitingUnpeering" }],
    ["is told to a provider that is away", { job: failed(13, 0), foreignCluster: GONE }, UNPEER],
    ["is told with pauses", { job: failed(3, 60_000), foreignCluster: GONE }, { isStalled: true }],
    ["is told for about an hour", { job: failed(14, 60_000), foreignCluster: GONE }, DROP],
    ["is marked first", { marker: aMarker([ID_A]), job: NONE }, UPDATE],
    ["is left to others", { marker: aMarker([ID_A, ID_B]), job: NONE }, UPDATE],
  ])("%s", (_, changes, expected) => {
    expect(planUnpeer(ID_A, { ...ENDING, ...changes })).toMatchObject(expected);
  });
});
