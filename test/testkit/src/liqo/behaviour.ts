import type { ResourceList } from "@resource-broker/agent/liqo";

/** Finalizers that can be made to stay for ever. */
export type StuckFinalizer = "slice" | "virtual-node" | "offloading";

/** How the fake Liqo treats one slice. Defaults are Liqo's own behaviour. */
export interface LiqoBehaviour {
  /** False: the slice never comes to the provider, or its changes do not. */
  readonly replicates: boolean;
  /**
   * True: the provider's API server refuses the replica, as a server does that has just started. The replicator does not
   * retry until the slice changes.
   */
  readonly isRefused: boolean;
  readonly authenticates: "Accepted" | "Denied" | "Never";
  /**
   * Plays the provider's agent for classes that Liqo leaves alone: what it grants, or that it denies. Undefined: nobody
   * answers. Absent: a real agent is there for that.
   */
  readonly grants?: (asked: ResourceList) => ResourceList | "Denied" | undefined;
  /** False: a slice that was granted gets no VirtualNode. */
  readonly makesVirtualNode: boolean;
  /** `Absent`: the VirtualNode runs, and its Node never comes. */
  readonly node: "Ready" | "NotReady" | "Absent";
  /** What the Node says it has; right is what was granted. */
  readonly allocatable: (granted: ResourceList) => ResourceList;
  readonly stuck: readonly StuckFinalizer[];
}

const DEFAULT_BEHAVIOUR: LiqoBehaviour = {
  replicates: true,
  isRefused: false,
  authenticates: "Accepted",
  makesVirtualNode: true,
  node: "Ready",
  allocatable: (granted) => granted,
  stuck: [],
};

/** What is in force: for every slice, and changed for some by their name. */
export interface Behaviours {
  readonly of: (slice: string) => LiqoBehaviour;
  /** Adds to what was changed before. */
  readonly change: (change: Partial<LiqoBehaviour>, slice?: string) => void;
  /** Everything is right again. */
  readonly reset: () => void;
}

export function behaviours(): Behaviours {
  let all = DEFAULT_BEHAVIOUR;
  const single = new Map<string, Partial<LiqoBehaviour>>();
  return {
    of: (slice) => ({ ...all, ...single.get(slice) }),
    change: (change, slice) => {
      if (slice === undefined) all = { ...all, ...change };
      else single.set(slice, { ...single.get(slice), ...change });
    },
    reset: () => {
      all = DEFAULT_BEHAVIOUR;
      single.clear();
    },
  };
}
