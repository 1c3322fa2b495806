import type { NodeVerdict } from "./counted-node.ts";
import type { NodeFacts } from "./node.ts";
import type { GuestFacts } from "./node-accounting.ts";
import type { PodGroup } from "./pod-groups.ts";
import { addTimes, addTotal, type RunningTotal, runningTotal } from "./running-total.ts";

/** A node and the sums of the pods bound to it. `facts` is undefined while only its pods have been seen. */
export interface NodeEntry {
  readonly number: number;
  readonly name: string;
  facts: NodeFacts | undefined;
  verdict: NodeVerdict | undefined;
  pods: number;
  /** Number of these pods whose request could not be parsed. */
  unreadablePods: number;
  readonly own: RunningTotal;
  /** Created with the first guest pod: most nodes have none. */
  guests: Map<string, GuestTotal> | undefined;
}

interface GuestTotal {
  readonly guest: GuestFacts;
  pods: number;
  readonly total: RunningTotal;
}

export function newNodeEntry(name: string, number: number): NodeEntry {
  return {
    number,
    name,
    facts: undefined,
    verdict: undefined,
    pods: 0,
    unreadablePods: 0,
    own: runningTotal(),
    guests: undefined,
  };
}

export type BoundPods = ReturnType<typeof boundPods>;

/** Sums of bound pods: of each node, and of all counted nodes together. */
export function boundPods() {
  const own = runningTotal();
  const guests = new Map<string, GuestTotal>();
  return {
    /** The cluster's own pods on counted nodes. */
    own,
    /** Guest pods on counted nodes, by guest. */
    guests,
    /** Adds or removes one pod of this group on the node. */
    change(node: NodeEntry, { request, guest, unreadable }: PodGroup, by: 1 | -1): void {
      node.pods += by;
      if (unreadable) node.unreadablePods += by;
      const counted = node.verdict?.counted === true;
      if (guest === undefined) {
        addTimes(node.own, request, by);
        if (counted) addTimes(own, request, by);
        return;
      }
      node.guests ??= new Map();
      changeGuest(node.guests, guest, { pods: by, add: (total) => addTimes(total, request, by) });
      if (counted) changeGuest(guests, guest, { pods: by, add: (total) => addTimes(total, request, by) });
    },
    /** Adds a node's pods to the totals of counted nodes, or removes them. The cost depends on the number of guests, not of pods. */
    changeNode(node: NodeEntry, by: 1 | -1): void {
      addTotal(own, node.own, by);
      for (const { guest, pods, total } of node.guests?.values() ?? []) {
        changeGuest(guests, guest, { pods: pods * by, add: (sum) => addTotal(sum, total, by) });
      }
    },
  };
}

function changeGuest(
  guests: Map<string, GuestTotal>,
  guest: GuestTotal["guest"],
  change: { readonly pods: number; readonly add: (total: RunningTotal) => void },
): void {
  const key = guestKey(guest);
  const entry = guests.get(key) ?? { guest, pods: 0, total: runningTotal() };
  entry.pods += change.pods;
  change.add(entry.total);
  if (entry.pods > 0) guests.set(key, entry);
  else guests.delete(key);
}

function guestKey({ reservationId, origin }: GuestTotal["guest"]): string {
  return `${origin}/${reservationId}`;
}
