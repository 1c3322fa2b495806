import { equals, fits, type ResourceVector } from "@resource-broker/base";
import type { NodeShape, ReservationId } from "@resource-broker/domain";
import { boundPods, type NodeEntry, newNodeEntry } from "./bound-pods.ts";
import type { ClusterView, LiveReservation, NodeKind } from "./classify-pod.ts";
import { type NodeVerdict, nodeVerdict, type ToleratedTaint } from "./counted-node.ts";
import type { NodeFacts } from "./node.ts";
import { countedShapes, vectorKey } from "./node-shapes.ts";
import type { PodFacts } from "./pod.ts";
import { type PodGroup, podGroups } from "./pod-groups.ts";
import { type PodTotals, podTotals } from "./pod-totals.ts";
import { relistMap } from "./relist-map.ts";
import { addTimes, readTotal, runningTotal } from "./running-total.ts";
import { slotTable } from "./slot-table.ts";
import { uidTable } from "./uid-table.ts";

const MAX_INTERNED = 4096;
/** Where a pod could be scheduled no longer matters once it is bound. */
const BOUND = { gated: false, selectsVirtualNode: false, pinnedNode: undefined };

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
 * The cluster's sums, updated with every event. Events may arrive in any order and more than once. The cost of an event
 * does not depend on the number of pods, and a pod is kept as a few numbers. A relist puts its objects between `begin…`
 * and `end…`; objects that were not put are removed at the end. The sums are correct at any time during a relist.
 */
export interface ClusterSums extends Pick<ClusterView, "nodeKind"> {
  putNode(node: NodeFacts): void;
  removeNode(name: string): void;
  beginNodes(): void;
  endNodes(): void;
  putPod(pod: PodFacts): void;
  /** `key` is that of the pod's facts. */
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
  const nodes = relistMap<NodeEntry>();
  const nodeNumbers = slotTable<NodeEntry>();
  /** Where each pod is counted, as `placeOf` writes it. */
  const pods = uidTable();
  const reservations = new Map<ReservationId, LiveReservation>();
  const capacity = runningTotal();
  const allocatable = runningTotal();
  const shapes = countedShapes();
  const bound = boundPods();
  const groups = podGroups();
  const pending = podGroups();
  const intern = vectorInterner();

  const view: ClusterView = {
    nodeKind: (name) => kindOf(nodes.get(name)),
    fitsSomeCountedNode: (request) => shapes.fitsSome(request),
    fitsNode(name, request) {
      const node = nodes.get(name);
      return isCounted(node) && fits(request, node.facts.allocatable);
    },
  };

  function entryOf(name: string): NodeEntry {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    checkLimit(nodes.size(), "nodes");
    const entry = nodeNumbers.add((number) => newNodeEntry(name, number));
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

  function verdictOf({ unreadablePods }: NodeEntry, facts: NodeFacts): NodeVerdict {
    return nodeVerdict(facts, toleratedTaints, unreadablePods);
  }

  function changeBound(node: NodeEntry, group: PodGroup, by: 1 | -1): void {
    bound.change(node, group, by);
    const { facts } = node;
    if (group.unreadable && facts !== undefined) observe(node, { facts, verdict: verdictOf(node, facts) });
  }

  function forgetWhenEmpty(node: NodeEntry): void {
    if (node.pods > 0 || node.facts !== undefined) return;
    nodes.delete(node.name);
    nodeNumbers.remove(node.number);
  }

  function removeNode(name: string): void {
    const node = nodes.get(name);
    if (node === undefined) return;
    observe(node, {});
    forgetWhenEmpty(node);
  }

  function count(pod: PodFacts): number {
    if (pod.nodeName === undefined) return placeOf(NO_NODE, pending.add(pod).number);
    const node = entryOf(pod.nodeName);
    const group = groups.add({ ...pod, ...BOUND });
    changeBound(node, group, 1);
    return placeOf(node.number, group.number);
  }

  function uncount(place: number): void {
    const node = nodeNumbers.get(nodeIn(place));
    if (node === undefined) return void pending.remove(groupIn(place));
    changeBound(node, groups.remove(groupIn(place)), -1);
    forgetWhenEmpty(node);
  }

  function removePod(key: string): void {
    const place = pods.get(key);
    if (place === undefined) return;
    pods.delete(key);
    uncount(place);
  }

  return {
    nodeKind: (name) => view.nodeKind(name),
    putNode(seen) {
      const facts = {
        ...seen,
        capacity: intern(seen.capacity),
        allocatable: intern(seen.allocatable),
      };
      const node = entryOf(facts.name);
      nodes.set(facts.name, node); // marks it as seen for a relist
      const verdict = verdictOf(node, facts);
      // Nodes send heartbeats every few seconds; the counted amounts rarely change.
      if (isSameAccount(node, facts, verdict)) Object.assign(node, { facts, verdict });
      else observe(node, { facts, verdict });
    },
    removeNode,
    beginNodes: () => nodes.beginList(),
    endNodes: () => nodes.endList().forEach(removeNode),
    putPod(pod) {
      if (pod.terminal) return removePod(pod.key);
      const before = pods.get(pod.key);
      if (before === undefined) checkLimit(pods.size(), "pods");
      pods.set(pod.key, count(pod));
      // After the new place is counted, so that a group or node used by both is not dropped in between.
      if (before !== undefined) uncount(before);
    },
    removePod,
    beginPods: () => pods.beginList(),
    endPods: () => pods.endList(uncount),
    putReservation: (reservation) => void reservations.set(reservation.id, reservation),
    removeReservation: (id) => void reservations.delete(id),
    totals: () => ({
      capacity: readTotal(capacity),
      allocatable: readTotal(allocatable),
      nodeShapes: shapes.advertised(),
      ...podTotals({ bound, pending: pending.all(), reservations, view }),
    }),
    *nodes() {
      for (const { facts, verdict } of nodes.values()) {
        if (facts !== undefined && verdict !== undefined) yield { facts, verdict };
      }
    },
  };
}

/** More than three times the pods of the largest cluster that Kubernetes supports. */
const MAX_COUNTED = 500_000;

/** Bounds the memory when an API server returns more and more objects, also over aborted lists. */
function checkLimit(count: number, what: string): void {
  if (count >= MAX_COUNTED) throw new RangeError(`the cluster has more than ${MAX_COUNTED} ${what}`);
}

type SeenNode = NodeEntry & { facts: NodeFacts; verdict: NodeVerdict };

function isCounted(node: NodeEntry | undefined): node is SeenNode {
  return node?.facts !== undefined && node.verdict?.counted === true;
}

function isSameAccount(node: NodeEntry, facts: NodeFacts, verdict: NodeVerdict): boolean {
  if (node.facts === undefined || node.verdict?.counted !== verdict.counted) return false;
  return equals(node.facts.capacity, facts.capacity) && equals(node.facts.allocatable, facts.allocatable);
}

function kindOf(node: NodeEntry | undefined): NodeKind | undefined {
  if (node?.facts === undefined) return undefined;
  if (node.facts.virtual) return "virtual";
  return isCounted(node) ? "counted" : "uncounted";
}

/** Encodes where a pod is counted as one number: node and group of a bound pod, or no node and group of a pending pod. */
function placeOf(node: number, group: number): number {
  return node * MAX_GROUPS + group;
}

const NO_NODE = 0;
/** More than the maximum number of pods; multiplied by the maximum number of nodes it is still a safe integer. */
const MAX_GROUPS = 2 ** 26;

function nodeIn(place: number): number {
  return Math.floor(place / MAX_GROUPS);
}

function groupIn(place: number): number {
  return place % MAX_GROUPS;
}

/** Nodes of one type have the same amounts: returns one shared vector for all of them. */
function vectorInterner(): (vector: ResourceVector) => ResourceVector {
  const vectors = new Map<string, ResourceVector>();
  return (vector) => {
    const key = vectorKey(vector);
    const known = vectors.get(key);
    if (known !== undefined) return known;
    if (vectors.size >= MAX_INTERNED) vectors.clear();
    vectors.set(key, vector);
    return vector;
  };
}
