import { add, fits, NO_RESOURCES, type ResourceVector, resourceVector, sum } from "@resource-broker/base";
import fc from "fast-check";
import { type ClusterView, type LiveReservation, pendingReason, reservationOf } from "../classify-pod.ts";
import type { ClusterSums, ClusterTotals } from "../cluster-sums.ts";
import { nodeVerdict } from "../counted-node.ts";
import type { NodeFacts } from "../node.ts";
import { countedShapes } from "../node-shapes.ts";
import type { PodFacts } from "../pod.ts";
import { aGuest, aNode, aPod } from "./facts.ts";

/** What the accumulator must agree with: everything kept, everything counted again. */
export interface Model {
  readonly nodes: Map<string, NodeFacts>;
  readonly pods: Map<string, PodFacts>;
  readonly reservations: Map<string, LiveReservation>;
}

/** One event, told to the accumulator and to the model. */
export type Step = (sums: ClusterSums, model: Model) => void;

export const emptyModel = (): Model => ({ nodes: new Map(), pods: new Map(), reservations: new Map() });

export function recount({ nodes, pods, reservations }: Model): ClusterTotals {
  const unreadableOn = (name: string) =>
    [...pods.values()].filter((pod) => pod.unreadable && !pod.terminal && pod.nodeName === name).length;
  const counted = [...nodes.values()].filter(
    (node) => nodeVerdict(node, [], unreadableOn(node.name)).counted,
  );
  const isCounted = (name: string) => counted.find((node) => node.name === name);
  const view: ClusterView = {
    nodeKind: (name) => {
      const node = nodes.get(name);
      if (node === undefined) return undefined;
      if (node.virtual) return "virtual";
      return isCounted(name) ? "counted" : "uncounted";
    },
    fitsSomeCountedNode: (request) => counted.some((node) => fits(request, node.allocatable)),
    fitsNode: (name, request) => fits(request, isCounted(name)?.allocatable ?? NO_RESOURCES),
  };
  const live = [...pods.values()].filter(({ terminal }) => !terminal);
  const reasonOf = (pod: PodFacts) => (pod.nodeName === undefined ? pendingReason(pod, view) : undefined);
  const isWaitingOrCounted = ({ nodeName }: PodFacts) =>
    nodeName === undefined || isCounted(nodeName) !== undefined;
  const shown = live.filter((pod) => reasonOf(pod) !== undefined);
  const counting = live.filter((pod) => isWaitingOrCounted(pod) && reasonOf(pod) === undefined);
  const requests = (of: readonly PodFacts[]): ResourceVector => sum(of.map((pod) => pod.request));
  /** Undefined: the cluster's own load. */
  const heldFor = (id: string | undefined): ResourceVector =>
    requests(counting.filter(({ guest }) => (guest && reservationOf(guest, reservations)?.id) === id));
  const reasons: Record<string, number> = {};
  for (const pod of shown) reasons[reasonOf(pod) ?? ""] = (reasons[reasonOf(pod) ?? ""] ?? 0) + 1;
  const shapes = countedShapes();
  for (const { allocatable } of counted) shapes.add(allocatable);
  return {
    capacity: sum(counted.map((node) => node.capacity)),
    allocatable: sum(counted.map((node) => node.allocatable)),
    nodeShapes: shapes.advertised(),
    allocated: heldFor(undefined),
    usage: [...reservations.keys()].sort().map((id) => ({ reservationId: id, used: heldFor(id) })),
    pendingShown: { pods: shown.length, request: requests(shown), reasons },
  };
}

// Few names and few amounts, so that events meet: the same pod again, two pods alike, a node that returns.
const NODE_NAMES = ["n1", "n2", "n3"];
const nodeName = fc.constantFrom(...NODE_NAMES);
const podKey = fc.constantFrom(
  "p1",
  "p2",
  "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
  "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4e",
  "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
);
const slice = fc.constantFrom("rsv-a", "rsv-b");
const origin = fc.constantFrom("rome", "oslo");
const rarely = fc.nat(5).map((n) => n === 0);
const often = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const size = fc
  .record({ cpu: fc.nat(3), memory: fc.nat(2), fpga: fc.nat(1) })
  .map(({ cpu, memory, fpga }) =>
    resourceVector({ cpuMillis: cpu, memoryBytes: memory, extended: { "example.com/fpga": fpga } }),
  );
const request = fc.constantFrom(
  resourceVector({ cpuMillis: 1 }),
  resourceVector({ cpuMillis: 3, memoryBytes: 1 }),
  resourceVector({ memoryBytes: 2, extended: { "example.com/fpga": 1 } }),
);

const node: fc.Arbitrary<NodeFacts> = fc
  .record({
    name: nodeName,
    ready: rarely.map((no) => !no),
    unschedulable: rarely,
    virtual: rarely,
    taints: rarely.map((yes) => (yes ? [{ key: "k", value: "", effect: "NoExecute" }] : [])),
    allocatable: size,
    keptByNode: fc.nat(1),
  })
  .map(({ keptByNode, ...facts }) =>
    aNode({ ...facts, capacity: add(facts.allocatable, resourceVector({ cpuMillis: keptByNode })) }),
  );

const podFields = {
  nodeName: often(fc.constantFrom(...NODE_NAMES, "never-seen")),
  terminal: rarely,
  request,
  guest: often(fc.tuple(slice, origin).map(([name, from]) => aGuest(name, from))),
  unreadable: rarely,
  gated: rarely,
  selectsVirtualNode: rarely,
  pinnedNode: often(fc.constantFrom(...NODE_NAMES, "never-seen")),
};
const pod: fc.Arbitrary<PodFacts> = fc.record({ key: podKey, ...podFields }).map((facts) => aPod(facts));
const podChange = fc.record(podFields, { requiredKeys: [] });

function putPod(facts: PodFacts): Step {
  return (sums, model) => {
    sums.putPod(facts);
    model.pods.set(facts.key, facts);
  };
}

/** The pod as it was, except for a few fields: what a watch mostly brings. */
function changePod(key: string, change: Partial<PodFacts>): Step {
  return (sums, model) => {
    const before = model.pods.get(key);
    if (before !== undefined) putPod({ ...before, ...change })(sums, model);
  };
}

function putNode(facts: NodeFacts): Step {
  return (sums, model) => {
    sums.putNode(facts);
    model.nodes.set(facts.name, facts);
  };
}

function removePod(key: string): Step {
  return (sums, model) => {
    sums.removePod(key);
    model.pods.delete(key);
  };
}

/** Some pods are listed as they were or as they have become, others are gone. */
function listPods(pods: readonly PodFacts[]): Step {
  return (sums, model) => {
    sums.beginPods();
    const gone = new Set(model.pods.keys());
    for (const facts of pods) {
      putPod(facts)(sums, model);
      gone.delete(facts.key);
    }
    sums.endPods();
    for (const key of gone) model.pods.delete(key);
  };
}

function removeNode(name: string): Step {
  return (sums, model) => {
    sums.removeNode(name);
    model.nodes.delete(name);
  };
}

function putReservation(reservation: LiveReservation): Step {
  return (sums, model) => {
    sums.putReservation(reservation);
    model.reservations.set(reservation.id, reservation);
  };
}

function removeReservation(id: string): Step {
  return (sums, model) => {
    sums.removeReservation(id);
    model.reservations.delete(id);
  };
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: pod.map(putPod) },
  { weight: 4, arbitrary: fc.tuple(podKey, podChange).map(([key, change]) => changePod(key, change)) },
  { weight: 4, arbitrary: node.map(putNode) },
  { weight: 1, arbitrary: podKey.map(removePod) },
  { weight: 1, arbitrary: fc.array(pod, { maxLength: 4 }).map(listPods) },
  { weight: 1, arbitrary: nodeName.map(removeNode) },
  { weight: 2, arbitrary: fc.record({ id: slice, origin: often(origin) }).map(putReservation) },
  { weight: 1, arbitrary: slice.map(removeReservation) },
);

/** Any order of events: pods before their node, nodes replaced, pods ended, reservations made and ended. */
export const steps: fc.Arbitrary<Step[]> = fc.array(step, { maxLength: 60, size: "max" });
