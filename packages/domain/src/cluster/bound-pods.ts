import type { Ask } from "./asks.ts";
import type { NodeVerdict } from "./counted-node.ts";
import type { NodeFacts } from "./node.ts";
import type { GuestFacts } from "./pod.ts";
import { addTimes, addTotal, type RunningTotal, runningTotal } from "./running-total.ts";

/** A node and the sums of the pods bound to it. Pods may be seen before their node: then `facts` is missing. */
export interface NodeEntry {
  readonly number: number;
  readonly name: string;
  facts: NodeFacts | undefined;
  verdict: NodeVerdict | undefined;
  pods: number;
  /** How many of them ask for something that could not be read. */
  unreadablePods: number;
  readonly own: RunningTotal;
  /** Made with the first guest: most nodes have none. */
  guests: Map<string, GuestTotal> | undefined;
}

interface GuestTotal {
  readonly guest: Pick<GuestFacts, "sliceName" | "origin">;
  pods: number;
  readonly total: RunningTotal;
}

/** Sums of bound pods: of each node, and of all counted nodes together. */
export interface BoundPods {
  /** The cluster's own pods on counted nodes. */
  readonly own: RunningTotal;
  /** Guest pods on counted nodes, by guest. */
  readonly guests: ReadonlyMap<string, GuestTotal>;
  /** One pod of the node more or less that asks for this. */
  change(node: NodeEntry, ask: Ask, by: 1 | -1): void;
  /** Takes a node's pods into the totals of counted nodes or out of them: one step for each guest, none for a pod. */
  changeNode(node: NodeEntry, by: 1 | -1): void;
}

function guestKey({ sliceName, origin }: GuestTotal["guest"]): string {
  return `${origin}/${sliceName}`;
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

export function boundPods(): BoundPods {
  const own = runningTotal();
  const guests = new Map<string, GuestTotal>();
  return {
    own,
    guests,
    change(node, { request, guest, unreadable }, by) {
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
    changeNode(node, by) {
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
