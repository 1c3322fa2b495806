import type { NodeShape } from "../advertisement/advertisement.ts";
import type { ReservationId } from "../reservation/ids.ts";
import { equals, fits, type ResourceVector } from "../resources/resource-vector.ts";
import { type BoundPod, boundPods, entryFor, isAlike, type NodeEntry, newNodeEntry } from "./bound-pods.ts";
import type { ClusterView, LiveReservation, NodeKind } from "./classify-pod.ts";
import { type NodeVerdict, nodeVerdict } from "./counted-node.ts";
import { countedShapes } from "./counted-shapes.ts";
import { listedMap } from "./listed-map.ts";
import type { NodeFacts } from "./node.ts";
import { vectorKey } from "./node-shapes.ts";
import { type PendingGroup, pendingPods } from "./pending-pods.ts";
import type { PodFacts } from "./pod.ts";
import { type PodTotals, podTotals } from "./pod-totals.ts";
import { addTimes, readTotal, runningTotal } from "./running-total.ts";
import type { ToleratedTaint } from "./tolerated-taint.ts";

export interface ClusterSumsOptions {
  readonly toleratedTaints?: readonly ToleratedTaint[];
}

export interface ClusterTotals extends PodTotals {
  readonly capacity: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly nodeShapes: readonly NodeShape[];
}

export interface ObservedNode {
  readonly facts: NodeFacts;
  readonly verdict: NodeVerdict;
}

/**
 * The cluster's sums, kept up to date event by event. Events may come in any order and more than once; each costs
 * the same however many pods there are, and a pod leaves only a few numbers behind. What is listed anew is put between
 * `begin…` and `end…`: what was not put is gone, and the sums are right at every moment in between.
 */
export interface ClusterSums extends ClusterView {
  putNode(node: NodeFacts): void;
  removeNode(name: string): void;
  beginNodes(): void;
  endNodes(): void;
  putPod(pod: PodFacts): void;
  /** `key` is the pod's `namespace/name`. */
  removePod(key: string): void;
  beginPods(): void;
  endPods(): void;
  putReservation(reservation: LiveReservation): void;
  removeReservation(id: ReservationId): void;
  totals(): ClusterTotals;
  /** Every node seen, with the reason when it is not counted. */
  nodes(): Iterable<ObservedNode>;
}

export function clusterSums({ toleratedTaints = [] }: ClusterSumsOptions = {}): ClusterSums {
  const nodes = listedMap<NodeEntry>();
  const pods = listedMap<BoundPod | PendingGroup>();
  const reservations = new Map<ReservationId, LiveReservation>();
  const capacity = runningTotal();
  const allocatable = runningTotal();
  const shapes = countedShapes();
  const bound = boundPods();
  const pending = pendingPods();
  const share = sharedVectors();

  const view: ClusterView = {
    nodeKind: (name) => kindOf(nodes.get(name)),
    fitsSomeCountedNode: (request) => shapes.fitsSome(request),
    fitsNode(name, request) {
      const node = nodes.get(name);
      return isCounted(node) && fits(request, node.facts.allocatable);
    },
    reservation: (id) => reservations.get(id),
  };

  function entryOf(name: string): NodeEntry {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const entry = newNodeEntry(name);
    nodes.set(name, entry);
    return entry;
  }

  function account(node: NodeEntry, by: 1 | -1): void {
    if (!isCounted(node)) return;
    addTimes(capacity, node.facts.capacity, by);
    addTimes(allocatable, node.facts.allocatable, by);
    if (by === 1) shapes.add(node.facts.allocatable);
    else shapes.remove(node.facts.allocatable);
    bound.changeNode(node, by);
  }

  function observe(node: NodeEntry, observed: Partial<ObservedNode>): void {
    account(node, -1);
    node.facts = observed.facts;
    node.verdict = observed.verdict;
    account(node, 1);
  }

  function forgetWhenEmpty(node: NodeEntry): void {
    if (node.pods === 0 && node.facts === undefined) nodes.delete(node.name);
  }

  function removeNode(name: string): void {
    const node = nodes.get(name);
    if (node === undefined) return;
    observe(node, {});
    forgetWhenEmpty(node);
  }

  function removePod(key: string): void {
    const pod = pods.get(key);
    if (pod === undefined) return;
    pods.delete(key);
    if (!("node" in pod)) return pending.remove(pod);
    bound.change(pod, -1);
    forgetWhenEmpty(pod.node);
  }

  function place(pod: PodFacts): BoundPod | PendingGroup {
    if (pod.nodeName === undefined) return pending.add(pod);
    const placed = entryFor(entryOf(pod.nodeName), pod.request, pod.guest);
    bound.change(placed, 1);
    return placed;
  }

  return {
    ...view,
    putNode(facts) {
      const node = entryOf(facts.name);
      nodes.set(facts.name, node); // seen, should a list be under way
      const verdict = nodeVerdict(facts, toleratedTaints);
      // A node reports in every few seconds and seldom differs in what is counted.
      if (isSameAccount(node, facts, verdict)) Object.assign(node, { facts, verdict });
      else observe(node, { facts, verdict });
    },
    removeNode,
    beginNodes: () => nodes.beginList(),
    endNodes: () => nodes.endList().forEach(removeNode),
    putPod(seen) {
      const pod = { ...seen, request: share(seen.request) };
      // Most events of a running pod change nothing that is counted.
      const before = pods.get(pod.key);
      if (before !== undefined && isSamePlace(before, pod)) return pods.set(pod.key, before);
      removePod(pod.key);
      if (!pod.terminal) pods.set(pod.key, place(pod));
    },
    removePod,
    beginPods: () => pods.beginList(),
    endPods: () => pods.endList().forEach(removePod),
    putReservation: (reservation) => void reservations.set(reservation.id, reservation),
    removeReservation: (id) => void reservations.delete(id),
    totals: () => ({
      capacity: readTotal(capacity),
      allocatable: readTotal(allocatable),
      nodeShapes: shapes.advertised(),
      ...podTotals({ bound, pending: pending.groups(), reservations: reservations.values(), view }),
    }),
    *nodes() {
      for (const { facts, verdict } of nodes.values()) {
        if (facts !== undefined && verdict !== undefined) yield { facts, verdict };
      }
    },
  };
}

type SeenNode = NodeEntry & { facts: NodeFacts; verdict: NodeVerdict };

function isCounted(node: NodeEntry | undefined): node is SeenNode {
  return node?.facts !== undefined && node.verdict?.counted === true;
}

function isSameAccount(node: NodeEntry, facts: NodeFacts, verdict: NodeVerdict): boolean {
  if (node.facts === undefined || node.verdict?.counted !== verdict.counted) return false;
  return equals(node.facts.capacity, facts.capacity) && equals(node.facts.allocatable, facts.allocatable);
}

function isSamePlace(placed: BoundPod | PendingGroup, pod: PodFacts): boolean {
  if (!("node" in placed) || pod.terminal) return false;
  return placed.node.name === pod.nodeName && isAlike(placed, pod.request, pod.guest);
}

function kindOf(node: NodeEntry | undefined): NodeKind | undefined {
  if (node?.facts === undefined) return undefined;
  if (node.facts.virtual) return "virtual";
  return isCounted(node) ? "counted" : "uncounted";
}

const SHARED_VECTORS_MAX = 4096;

/** Pods of one workload ask for the same: one vector serves them all. */
function sharedVectors(): (vector: ResourceVector) => ResourceVector {
  const vectors = new Map<string, ResourceVector>();
  return (vector) => {
    const key = vectorKey(vector);
    const known = vectors.get(key);
    if (known !== undefined) return known;
    if (vectors.size >= SHARED_VECTORS_MAX) vectors.clear();
    vectors.set(key, vector);
    return vector;
  };
}
