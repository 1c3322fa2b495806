import { clusterSums, nodeFacts } from "@resource-broker/accounting";
import type { ProviderInstruction } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { providerInstruction } from "../manifests/instructions.ts";
import { availableOf } from "../publish/advertisement.ts";
import { GRACE_MS } from "../reservations/expiry.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { aReservation, ended } from "../testing/samples.ts";
import {
  checkCapacity,
  type ProviderInstructionState,
  planProviderInstruction,
} from "./plan-provider-instruction.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");
const fits = { kind: "fits" } as const;
const FEW = { pods: 50, ephemeralStorage: "5Gi" };

function entry(reservation: Reservation, changes: Partial<CachedReservation> = {}): CachedReservation {
  const endedAt = reservation.endReason === undefined ? undefined : NOW;
  return { role: "provider", reservation, syncState: "confirmed", endedAt, ...changes };
}

function state(changes: Partial<ProviderInstructionState> = {}): ProviderInstructionState {
  return {
    entry: entry(aReservation()),
    instruction: undefined,
    namespace: "default",
    capacity: fits,
    acknowledged: undefined,
    broker: { now: NOW, isSilent: false },
    wallMs: NOW,
    ...changes,
  };
}

const kinds = (changes: Partial<ProviderInstructionState>) =>
  planProviderInstruction(state(changes)).actions.map(({ kind }) => kind);

/** The object as it is after a plan was carried out. */
function carriedOut(changes: Partial<ProviderInstructionState> = {}): ProviderInstruction {
  let instruction = providerInstruction(changes.entry?.reservation ?? aReservation(), "default");
  for (const action of planProviderInstruction(state(changes)).actions) {
    if (action.kind === "apply") instruction = { ...instruction, ...action.instruction };
    if (action.kind === "status") instruction = { ...instruction, status: action.status };
  }
  return instruction;
}

describe("a reservation made here", () => {
  test("is held, shown and acknowledged", () => {
    expect(kinds({})).toEqual(["apply", "status", "acknowledge"]);
    expect(carriedOut()).toMatchObject({
      metadata: { name: "rsv-rome-k3u7dq2hvmx5b4ta-provider", namespace: "default" },
      spec: { requesterClusterID: "rome", requestedCPU: "4", requestedMemory: "8Gi", generation: 1 },
      status: { enforced: true },
    });
  });

  test("is left in peace when everything is as it should be", () => {
    expect(kinds({ instruction: carriedOut(), acknowledged: 1 })).toEqual([]);
  });

  test("is refused with a reason when there is no room", () => {
    const plan = planProviderInstruction(state({ capacity: { kind: "short", reason: "2 CPU less" } }));
    expect(plan.actions).toEqual([{ kind: "refuse", reason: "2 CPU less" }]);
  });

  test("waits while the cluster is not observed yet", () => {
    expect(planProviderInstruction(state({ capacity: { kind: "unknown" } }))).toMatchObject({ actions: [] });
    expect(planProviderInstruction(state({ capacity: { kind: "unknown" } })).requeueAfterMs).toBeGreaterThan(
      0,
    );
  });

  test.each([
    ["it was acknowledged", { acknowledged: 1 }],
    ["its instruction exists", { instruction: carriedOut() }],
    [
      "it comes from this cluster's own memory",
      { entry: entry(aReservation(), { syncState: "unconfirmed" }) },
    ],
  ] as const)("is never refused later: %s", (_, held) => {
    expect(kinds({ ...held, capacity: { kind: "short", reason: "" } })).not.toContain("refuse");
  });

  test("is written again when its instruction was deleted by hand", () => {
    expect(kinds({ acknowledged: 1 })).toEqual(["apply", "status"]);
  });

  test("is updated and acknowledged again when it was renewed", () => {
    const renewed = aReservation({
      generation: 2,
      status: { phase: "Active", message: "Hold", expiresAt: "2026-07-01T12:00:00Z" },
    });
    const changes = { entry: entry(renewed), instruction: carriedOut(), acknowledged: 1 };
    expect(kinds(changes)).toEqual(["apply", "status", "acknowledge"]);
    expect(carriedOut(changes).spec.expiresAt).toBe("2026-07-01T12:00:00Z");
  });

  test.each([
    ["none", aReservation({ sliceDefaults: FEW }), aReservation()],
    ["those of an earlier policy", aReservation(), aReservation({ sliceDefaults: FEW })],
  ])(
    "keeps the slice defaults of an instruction that is there, since nobody can change them: %s",
    (_, known, first) => {
      const instruction = carriedOut({ entry: entry(first) });
      expect(kinds({ entry: entry(known), instruction, acknowledged: 1 })).toEqual([]);
    },
  );
});

describe("a hold ends", () => {
  test("when the broker says so", () => {
    const instruction = carriedOut();
    expect(kinds({ entry: entry(ended("Expired")), instruction })).toEqual(["remove"]);
    expect(kinds({ entry: entry(ended("Expired")) })).toEqual([]);
  });

  test("never because a list lacks it", () => {
    expect(kinds({ entry: undefined, instruction: carriedOut() })).toEqual([]);
  });

  test("not when the broker has forgotten it: it is kept, and says so", () => {
    const forgotten = entry(aReservation(), { syncState: "unknown" });
    const instruction = carriedOut({ entry: forgotten });
    expect(instruction.status?.enforced).toBe(true);
    const unknown = instruction.status?.conditions?.find(({ type }) => type === "UnknownToBroker");
    expect(unknown?.status).toBe("True");
    expect(kinds({ entry: forgotten, instruction })).toEqual([]);
  });
});

describe("a hold whose time is over", () => {
  const timed = aReservation({
    status: { phase: "Reserved", message: "", expiresAt: "2026-07-01T10:00:00Z" },
  });
  const instruction = carriedOut({ entry: entry(timed) });
  const at = (now: number, isSilent: boolean, syncState: CachedReservation["syncState"] = "confirmed") =>
    planProviderInstruction(
      state({
        entry: entry(timed, { syncState }),
        instruction,
        acknowledged: 1,
        broker: { now, isSilent },
      }),
    );

  test("is looked at again when grace is over", () => {
    expect(at(NOW - 5000, true)).toEqual({ actions: [], requeueAfterMs: 5000 + GRACE_MS });
  });

  test("ends a minute later by itself if the broker is silent", () => {
    expect(at(NOW + GRACE_MS - 1, true).actions).toEqual([]);
    expect(at(NOW + GRACE_MS, true).actions.map(({ kind }) => kind)).toEqual(["expire-locally", "remove"]);
  });

  test("waits for the broker's word if the broker can be heard", () => {
    expect(at(NOW + 10 * GRACE_MS, false).actions).toEqual([]);
  });

  test("ends if the broker does not know it", () => {
    expect(at(NOW + GRACE_MS, false, "unknown").actions.map(({ kind }) => kind)).toContain("remove");
  });
});

function observed() {
  const sums = clusterSums();
  const allocatable = { cpu: "64", memory: "256Gi" };
  const conditions = [{ type: "Ready", status: "True" }];
  sums.putNode(nodeFacts({ metadata: { name: "one" }, status: { allocatable, conditions } }).facts);
  return { totals: sums.totals(), labels: {}, gpus: [] };
}

const UNREADABLE = aReservation({ id: "rsv-odd", requestedResources: { cpu: "1e18", memory: "1Gi" } });

test.each([
  ["cpu", { cpu: "65", memory: "1" }],
  ["memory", { cpu: "1", memory: "1Pi" }],
  ["gpu", { cpu: "1", memory: "1", gpu: "1000" }],
  ["storage", { cpu: "1", memory: "1", storage: "1Pi" }],
  ["example.com/fpga", { cpu: "1", memory: "1", extended: { "example.com/fpga": "1" } }],
])("a reservation finds no room where only one resource is short: %s", (_, requestedResources) => {
  expect(checkCapacity(aReservation({ requestedResources }), observed(), [])).toMatchObject({
    kind: "short",
  });
});

describe("a reservation whose amounts cannot be read", () => {
  test("finds no room", () => {
    expect(checkCapacity(aReservation(), observed(), [])).toEqual({ kind: "fits" });
    expect(checkCapacity(UNREADABLE, observed(), [])).toEqual({
      kind: "short",
      reason: "the amounts of the reservation cannot be read",
    });
  });

  test("takes all that the cluster has once it is held", () => {
    expect(availableOf(observed(), [])).toMatchObject({ cpuMillis: 64_000 });
    expect(availableOf(observed(), [UNREADABLE])).toMatchObject({ cpuMillis: 0, memoryBytes: 0 });
    expect(checkCapacity(aReservation(), observed(), [UNREADABLE])).toMatchObject({ kind: "short" });
  });
});
