import { clusterSums, nodeFacts } from "@resource-broker/accounting";
import type { ProviderInstruction } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { providerInstruction } from "../manifests/instructions.ts";
import { availableOf } from "../publish/advertisement.ts";
import { aReservation, cachedOf, ended, NOW } from "../testing/samples.ts";
import {
  checkCapacity,
  type ProviderInstructionState,
  planProviderInstruction,
} from "./plan-provider-instruction.ts";

const fits = { kind: "fits" } as const;
const FEW = { pods: 50, ephemeralStorage: "5Gi" };

function state(changes: Partial<ProviderInstructionState> = {}): ProviderInstructionState {
  return {
    entry: cachedOf("provider", aReservation()),
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

  test("is not refused at once because of reservations whose end may not have been heard", () => {
    const capacity = { kind: "short", reason: "", isHeld: true } as const;
    const plan = (ageMs: number) => {
      const reservedAt = new Date(NOW - ageMs).toISOString();
      const reservation = aReservation({ status: { phase: "Reserved", message: "", reservedAt } });
      return planProviderInstruction(state({ capacity, entry: cachedOf("provider", reservation) }));
    };
    expect(plan(4999)).toEqual({ actions: [], requeueAfterMs: 250 });
    expect(plan(5000).actions).toEqual([{ kind: "refuse", reason: "" }]);
  });

  test("waits while the cluster is not observed yet", () => {
    const plan = planProviderInstruction(state({ capacity: { kind: "unknown" } }));
    expect(plan).toEqual({ actions: [], requeueAfterMs: 100 });
  });

  test.each([
    ["it was acknowledged", { acknowledged: 1 }],
    ["its instruction exists", { instruction: carriedOut() }],
    [
      "it comes from this cluster's own memory",
      { entry: cachedOf("provider", aReservation(), { syncState: "unconfirmed" }) },
    ],
  ] as const)("is never refused later: %s", (_, held) => {
    expect(kinds({ ...held, capacity: { kind: "short", reason: "" } })).not.toContain("refuse");
  });
});

const renewed = cachedOf(
  "provider",
  aReservation({
    generation: 2,
    status: { phase: "Active", message: "Hold", expiresAt: "2026-07-01T12:00:00Z" },
  }),
);
const noticed = cachedOf(
  "provider",
  aReservation({ generation: 2, preempting: { at: "2026-07-01T10:05:00Z", byPriority: 50 } }),
);
const drained = cachedOf(
  "provider",
  aReservation({ generation: 2, preempting: { at: "2026-07-01T10:05:00Z" } }),
);
const withDefaults = cachedOf("provider", aReservation({ sliceDefaults: FEW }));
const over = cachedOf("provider", ended("Expired"));
const forgotten = cachedOf("provider", aReservation(), { syncState: "unknown" });
const SHORT = { kind: "short", reason: "2 CPU less" } as const;

test.each<[string, Partial<ProviderInstructionState>, string[]]>([
  ["is left in peace when everything is as it should be", { instruction: carriedOut(), acknowledged: 1 }, []],
  ["is refused when there is no room", { capacity: SHORT }, ["refuse"]],
  ["is written again when its instruction was deleted by hand", { acknowledged: 1 }, ["apply", "status"]],
  [
    "is updated and acknowledged again when it was renewed",
    { entry: renewed, instruction: carriedOut(), acknowledged: 1 },
    ["apply", "status", "acknowledge"],
  ],
  [
    "is kept and acknowledged again when it is under notice",
    { entry: noticed, instruction: carriedOut(), acknowledged: 1 },
    ["apply", "status", "acknowledge"],
  ],
  [
    "keeps that its instruction has no slice defaults",
    { entry: withDefaults, instruction: carriedOut(), acknowledged: 1 },
    [],
  ],
  [
    "keeps the slice defaults of an earlier policy",
    { instruction: carriedOut({ entry: withDefaults }), acknowledged: 1 },
    [],
  ],
  ["ends when the broker says so", { entry: over, instruction: carriedOut() }, ["remove"]],
  ["that ended before it was held leaves nothing to do", { entry: over }, []],
  ["never ends because a list lacks it", { entry: undefined, instruction: carriedOut() }, []],
  [
    "that the broker has forgotten is kept",
    { entry: forgotten, instruction: carriedOut({ entry: forgotten }) },
    [],
  ],
])("a hold %s", (_, changes, expected) => {
  expect(kinds(changes)).toEqual(expected);
});

test("a hold under notice says so, and that it is reprieved", () => {
  const shown = carriedOut({ entry: noticed });
  const stateOf = ({ status }: ProviderInstruction) =>
    status?.conditions?.filter(({ type }) => type === "Preempting").map((each) => each.reason);
  expect(shown.status?.enforced).toBe(true);
  expect(stateOf(shown)).toEqual(["Notice"]);
  const messages = (carriedOut({ entry: drained }).status?.conditions ?? []).map(({ message }) => message);
  expect(messages).toContain("ends at 2026-07-01T10:05:00Z: paris is drained");
  expect(stateOf(carriedOut({ instruction: shown }))).toEqual(["Reprieved"]);
  expect(stateOf(carriedOut())).toEqual([]);
});

test("a hold that the broker has forgotten says so", () => {
  const { status } = carriedOut({ entry: forgotten });
  expect(status?.enforced).toBe(true);
  expect(status?.conditions?.find(({ type }) => type === "UnknownToBroker")?.status).toBe("True");
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

test("a reservation that lacks room only because of others says so", () => {
  const large = aReservation({ id: "rsv-rome-other", requestedResources: { cpu: "62", memory: "1Gi" } });
  expect(checkCapacity(aReservation(), observed(), [large])).toMatchObject({ kind: "short", isHeld: true });
  const tooLarge = aReservation({ requestedResources: { cpu: "65", memory: "1Gi" } });
  expect(checkCapacity(tooLarge, observed(), [large])).toMatchObject({ kind: "short", isHeld: false });
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
