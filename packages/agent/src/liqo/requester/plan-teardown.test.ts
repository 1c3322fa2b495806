import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UNREACHABLE_MS } from "./foreign-cluster-state.ts";
import { DEADLINE_MS, planTeardown, type ReservationObjects, type TeardownStep } from "./plan-teardown.ts";
import { planUnpeer } from "./plan-unpeer.ts";
import { aDesiredVirtualNode, aForeignCluster, aMarker, aNode, ID_A, NOW } from "./testing/samples.ts";
import { NO_FAULTS, type TeardownFaults, teardownModel } from "./testing/teardown-model.ts";

const LOOK_MS = 2000;
const UNPEERING_MS = UNREACHABLE_MS + 200_000;
const LONGEST_MS = 2 * Object.values(DEADLINE_MS).reduce((sum, ms) => sum + ms, 0) + UNPEERING_MS;

/** Takes it down, looking every two seconds. */
function takeDown(
  fault: TeardownFaults,
  onStep: (step: TeardownStep, objects: ReservationObjects) => void = () => undefined,
) {
  const model = teardownModel(fault);
  while (model.nowMs() < LONGEST_MS) {
    const objects = model.objects();
    const step = planTeardown(objects);
    onStep(step, objects);
    model.apply(step);
    if (step.kind === "clean") return model;
    model.pass(LOOK_MS);
  }
  throw new Error(`not clean after ${LONGEST_MS} ms: ${JSON.stringify(model.steps.at(-1))}`);
}
const kinds = (fault: Partial<TeardownFaults>): string[] =>
  takeDown({ ...NO_FAULTS, ...fault })
    .steps.map(({ kind }) => kind)
    .filter((kind) => kind !== "wait");

const GRACEFUL = [
  "cordon",
  "close-offloading",
  "delete-pods",
  "delete-offloading",
  "stop-virtual-node",
  "delete-virtual-node",
  "delete-slice",
];
const UNPEERED = ["begin-unpeer", "unpeer", "close", "clean"];

describe("a reservation that goes", () => {
  test("goes in the order that hurts nobody, and the peering with the last", () => {
    expect(kinds({})).toEqual([...GRACEFUL, ...UNPEERED]);
  });

  test("leaves the peering to those who need it", () => {
    expect(kinds({ others: ["rsv-other"] })).toEqual([...GRACEFUL, "unclaim", "clean"]);
  });

  test.each<[string, Partial<TeardownFaults>, string]>([
    ["pods that do not end", { stuckPods: true }, "delete-pods"],
    ["a virtual node that stays", { stuckVirtualNode: true }, "strip"],
    ["a node that stays", { stuckNode: true }, "delete-node"],
    ["a slice that stays", { stuckSlice: true }, "strip"],
    ["an offloading that stays", { stuckOffloading: true }, "strip"],
  ])("is not held up by %s", (_, fault, force) => {
    const steps = kinds(fault);
    expect(steps.at(-1)).toBe("clean");
    expect(steps.filter((kind) => kind === force).length).toBeGreaterThan(force === "delete-pods" ? 1 : 0);
  });

  test("gives the peering up by force only after an hour of silence", () => {
    let forcedAt = 0;
    const { steps, isPeered } = takeDown({ ...NO_FAULTS, isProviderGone: true }, (step, { peering }) => {
      if (step.kind === "unpeer" && step.isForced) forcedAt = (peering?.wallMs ?? 0) - NOW;
    });
    expect(steps.filter((step) => step.kind === "unpeer" && step.isForced)).toHaveLength(1);
    expect(forcedAt).toBeGreaterThanOrEqual(UNREACHABLE_MS);
    expect(isPeered()).toBe(false);
  });

  test("unpeers again, and not by force, when liqoctl says that it has and has not", () => {
    const { steps } = takeDown({ ...NO_FAULTS, doesNothing: true });
    expect(steps.filter(({ kind }) => kind === "unpeer")).toMatchObject([
      { isForced: false },
      { isForced: false },
    ]);
  });

  test("never gives up by force what the provider borrows here, and says what a person can do", () => {
    const model = teardownModel({ ...NO_FAULTS, isProviderGone: true, isConsumer: true });
    let last: TeardownStep = { kind: "clean" };
    while (model.nowMs() < 2 * LONGEST_MS) {
      last = planTeardown(model.objects());
      expect(last).not.toMatchObject({ isForced: true });
      model.apply(last);
      model.pass(LOOK_MS);
    }
    expect(last).toMatchObject({
      kind: "wait",
      reason: "ForceRefused",
      isStalled: true,
      message: expect.stringContaining("delete Tenant calm-paris in liqo-tenant-calm-paris"),
    });
  });

  test("gives the provider's resources back though a node stays, and does not call that clean", () => {
    const objects = teardownModel(NO_FAULTS).objects();
    const node = {
      ...aNode(aDesiredVirtualNode()),
      metadata: {
        name: objects.id,
        deletionTimestamp: "2026-07-01T10:00:00Z",
        finalizers: ["example.com/dns"],
      },
      spec: { unschedulable: true },
    };
    const bare = { ...objects, node, pods: [], virtualNodes: [], offloadings: [] };
    expect(planTeardown({ ...bare, waitedMs: () => 0 })).toMatchObject({
      kind: "wait",
      reason: "NodeLeaving",
    });
    expect(planTeardown({ ...bare, waitedMs: () => 1e9 })).toMatchObject({ kind: "delete-slice" });
    const back = { ...node, metadata: { name: objects.id } };
    expect(planTeardown({ ...bare, node: back, waitedMs: () => 1e9 })).toMatchObject({
      kind: "delete-slice",
    });
    expect(planTeardown({ ...bare, node: back, slices: [], waitedMs: () => 1e9 })).toMatchObject({
      kind: "delete-node",
    });
    expect(planTeardown({ ...bare, slices: [], waitedMs: () => 1e9 })).toMatchObject({
      kind: "wait",
      reason: "NodeLeaving",
      isStalled: true,
      message: expect.stringContaining("example.com/dns"),
    });
  });

  test.each<[number, number, object]>([
    [3, 60_000, { kind: "wait", reason: "ProviderUnreachable", isStalled: true }],
    [13, 0, { kind: "unpeer", isForced: false }],
    [14, 60_000, { kind: "close" }],
  ])("tells a provider that is away of the end for about an hour: try %i", (times, retryInMs, expected) => {
    const obstacle = { reason: "ProviderUnreachable", message: "nobody listens there" };
    const job = { kind: "failed", job: "unpeer", obstacle, times, retryInMs } as const;
    const marker = aMarker([ID_A], { isEnding: true });
    const foreignCluster = aForeignCluster("Unknown", { hasIdentity: false });
    const peering = { marker, slices: 0, slicesFrom: 0, foreignCluster, job, wallMs: NOW };
    expect(planUnpeer(ID_A, peering)).toMatchObject(expected);
  });

  test("waits for finalizers of others, and says whose they are", () => {
    const { objects } = teardownModel({ ...NO_FAULTS, stuckSlice: true });
    const [slice] = objects().slices;
    if (slice === undefined) throw new Error("no slice");
    const metadata = {
      ...slice.metadata,
      deletionTimestamp: "2026-07-01T10:00:00Z",
      finalizers: ["example.com/backup"],
    };
    const bare = { node: undefined, pods: [], virtualNodes: [], offloadings: [] };
    const late = { ...objects(), ...bare, slices: [{ ...slice, metadata }], waitedMs: () => 1e9 };
    expect(planTeardown(late)).toMatchObject({
      kind: "wait",
      reason: "SliceLeaving",
      isStalled: true,
      message: expect.stringContaining("example.com/backup"),
    });
  });

  test("ends clean within its deadlines, whatever is stuck, and never hurts others", () => {
    const faults = fc.record({
      stuckPods: fc.boolean(),
      stuckVirtualNode: fc.boolean(),
      stuckNode: fc.boolean(),
      stuckSlice: fc.boolean(),
      stuckOffloading: fc.boolean(),
      isProviderGone: fc.boolean(),
      isConsumer: fc.constant(false),
      doesNothing: fc.boolean(),
      others: fc.constantFrom<readonly string[]>([], ["rsv-a"], ["rsv-a", "rsv-b"]),
    });
    fc.assert(
      fc.property(faults, (fault) => {
        const model = takeDown(fault, (step, { node, virtualNodes, slices, pods }) => {
          if (step.kind === "delete-virtual-node") expect(pods).toEqual([]);
          if (step.kind === "delete-slice") expect([node, ...virtualNodes]).toEqual([undefined]);
          if (step.kind === "begin-unpeer" || step.kind === "unpeer") {
            expect(fault.others).toEqual([]);
            expect(slices).toEqual([]);
          }
        });
        expect(model.left()).toBe(0);
        expect(model.isPeered()).toBe(fault.others.length > 0);
        expect(model.marker()?.claims ?? []).toEqual(fault.others);
      }),
    );
  });
});
