import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  NAMESPACE_OFFLOADINGS,
  RESERVATION_NODES,
  RESERVATION_PODS,
  RESOURCE_SLICES,
  VIRTUAL_NODES,
} from "../objects.ts";
import { DEADLINE_MS, planTeardown, type ReservationObjects } from "./plan-teardown.ts";
import { type LiqoTestEnvironment, liqoTestEnvironment, MINUTE_MS } from "./testing/liqo-test-environment.ts";
import {
  aDeliverySpec,
  aDesiredVirtualNode,
  aNode,
  aSlice,
  aStuckPod,
  ID_A,
  ID_B,
} from "./testing/samples.ts";

const STUCK = ["pods", "virtualNode", "node", "slice", "offloading"] as const;
type Stuck = (typeof STUCK)[number];
const OFFLOADED = aDeliverySpec({ id: ID_A }, { namespaces: ["shop"] });
const LONGEST_MS = 2 * Object.values(DEADLINE_MS).reduce((sum, ms) => sum + ms, 0) + 5 * MINUTE_MS;

/** One delivery, of which these do not go by themselves. */
async function delivered(stuck: readonly Stuck[], hasOther = false): Promise<LiqoTestEnvironment> {
  const made = liqoTestEnvironment();
  await made.ready(OFFLOADED);
  if (hasOther) await made.ready(aDeliverySpec({ id: ID_B }));
  if (stuck.includes("pods")) made.cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
  for (const name of stuck) made.liqo.faults.stuck.add(name);
  return made;
}

describe("a reservation that goes", () => {
  test("goes in the order that hurts nobody, and the peering with the last", async () => {
    const { clean, cluster } = await delivered([]);
    cluster.put(RESERVATION_PODS, {
      ...aStuckPod("web", ID_A),
      metadata: { name: "web", namespace: "shop" },
    });
    const { reasons } = await clean(ID_A);
    expect(reasons).toEqual([
      "Cordoned",
      "Unoffloading",
      "Draining",
      "Unoffloading",
      "VirtualNodeLeaving",
      "SliceLeaving",
      "Unpeering",
    ]);
  });

  test("ends clean within its deadlines, whatever is stuck, and never hurts others", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...STUCK]), fc.boolean(), async (stuck, hasOther) => {
        const { clean, cluster, left, commands } = await delivered(stuck, hasOther);
        cluster.onCall(({ verb, plural, name }) => {
          if (verb !== "delete" || name !== ID_A) return;
          if (plural === VIRTUAL_NODES.plural) expect(cluster.all(RESERVATION_PODS)).toEqual([]);
          if (plural !== RESOURCE_SLICES.plural) return;
          expect(cluster.find(VIRTUAL_NODES, { name, namespace: "liqo-tenant-calm-paris" })).toBeUndefined();
          expect(cluster.find(RESERVATION_NODES, { name })).toBeUndefined();
        });
        expect((await clean(ID_A, LONGEST_MS)).last).toEqual({ kind: "clean" });
        expect(left().filter((name) => name === ID_A)).toEqual([]);
        expect(commands()).toEqual(hasOther ? ["peer"] : ["peer", "unpeer"]);
        expect(cluster.all(NAMESPACE_OFFLOADINGS)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  const DELETED = { name: ID_A, deletionTimestamp: "2026-07-01T10:00:00Z", finalizers: ["example.com/dns"] };
  const desired = aDesiredVirtualNode({ id: ID_A });
  const slice = aSlice(desired);
  const bare: ReservationObjects = {
    id: ID_A,
    slices: [slice],
    virtualNodes: [],
    node: { ...aNode(desired), spec: { unschedulable: true } },
    pods: [],
    offloadings: [],
    peering: undefined,
    waitedMs: () => 1e9,
  };
  const leavingNode = { ...aNode(desired), metadata: DELETED, spec: { unschedulable: true } };
  const deleting = (resource: object) => ({ writes: [{ verb: "delete", resource }] });
  test.each<[string, Partial<ReservationObjects>, object]>([
    ["waits for its node", { node: leavingNode, waitedMs: () => 0 }, { kind: "wait", reason: "NodeLeaving" }],
    ["gives the resources back though its node stays", { node: leavingNode }, deleting(RESOURCE_SLICES)],
    ["also though its node came back", {}, deleting(RESOURCE_SLICES)],
    ["then deletes the node that came back", { slices: [] }, deleting(RESERVATION_NODES)],
    [
      "is not clean while its node stays",
      { node: leavingNode, slices: [] },
      { reason: "NodeLeaving", isStalled: true, message: expect.stringContaining("example.com/dns") },
    ],
    [
      "waits for finalizers of others, and says whose they are",
      { node: undefined, slices: [{ ...slice, metadata: { ...slice.metadata, ...DELETED } }] },
      { reason: "SliceLeaving", isStalled: true, message: expect.stringContaining("example.com/dns") },
    ],
  ])("%s", (_, changes, expected) => {
    expect(planTeardown({ ...bare, ...changes })).toMatchObject(expected);
  });
});
