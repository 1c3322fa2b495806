/** How much of one resource there is, and who has it. In milli-CPU, bytes or pieces. */
export interface ResourceShare {
  readonly all: number;
  /** Requests of the cluster's own pods. */
  readonly inUse: number;
  /** Held for other clusters. */
  readonly lent: number;
  /** What can still be lent. */
  readonly free: number;
}

export interface ClusterState {
  readonly name: string;
  readonly state: "starting" | "ready" | "cordoned" | "down";
  readonly region: string | undefined;
  readonly cpuMillis: ResourceShare;
  readonly memoryBytes: ResourceShare;
  readonly gpus: ResourceShare;
  /** One CPU for one hour; undefined: not priced. */
  readonly cpuPrice: string | undefined;
  readonly currency: string | undefined;
}

export interface DecisionUpdate {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly requester: string;
  /** Undefined: nothing fitted. */
  readonly winner: string | undefined;
  /** What was decided, in one sentence. */
  readonly headline: string;
  /** Why, in one more. */
  readonly why: string;
  /** Such as `0.162 EUR/h`. */
  readonly price: string | undefined;
}

export interface EventUpdate {
  /** RFC 3339. */
  readonly at: string;
  /** `broker`, or the agent's cluster. */
  readonly source: string;
  readonly level: "info" | "warn" | "error";
  readonly text: string;
}

/** A command to try next. */
export interface Step {
  readonly says: string;
  /** To be pasted into a shell as it is. */
  readonly command: string;
}

export interface BrokerUpdate {
  readonly url: string;
  /** Where the ledger is, for people. */
  readonly store: string;
  readonly folder: string;
  /** False: the folder is removed at the end. */
  readonly isKept: boolean;
}

export interface DashboardUpdate {
  /** Signs one browser in, once. */
  readonly url: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** What prints another link. */
  readonly command: string;
}

/** One change to show. */
export type DemoUpdate =
  | { readonly kind: "broker"; readonly broker: BrokerUpdate }
  | { readonly kind: "dashboard"; readonly dashboard: DashboardUpdate }
  | { readonly kind: "cluster"; readonly cluster: ClusterState }
  | { readonly kind: "decision"; readonly decision: DecisionUpdate }
  | { readonly kind: "event"; readonly event: EventUpdate }
  | {
      readonly kind: "ready";
      readonly afterMs: number;
      readonly notes: readonly string[];
      readonly steps: readonly Step[];
    }
  /** What keeps the view from being true right now; "": nothing any more. */
  | { readonly kind: "trouble"; readonly text: string }
  | { readonly kind: "ending" }
  | { readonly kind: "ended" };

export type OnUpdate = (news: DemoUpdate) => void;

const NOTHING = { all: 0, inUse: 0, lent: 0, free: 0 };

export function startingCluster(name: string): ClusterState {
  return {
    name,
    state: "starting",
    region: undefined,
    cpuMillis: NOTHING,
    memoryBytes: NOTHING,
    gpus: NOTHING,
    cpuPrice: undefined,
    currency: undefined,
  };
}
