import type { UiAmounts, UiMoney, UiPage, UiTime } from "./common.ts";

/** Allocatable = allocated + reserved + available, but for clusters that promised more than they have. */
export interface UiCapacity {
  readonly allocatable: UiAmounts;
  readonly allocated: UiAmounts;
  readonly reserved: UiAmounts;
  readonly available: UiAmounts;
}

export interface UiCondition {
  readonly type: "Stale" | "Cordoned" | "Overcommitted" | "Overuse";
  readonly message: string;
  readonly since?: UiTime;
}

export interface UiCluster {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly capacity: UiCapacity;
  readonly gpus: readonly { readonly model: string; readonly count: number }[];
  /** When the broker last heard it. */
  readonly heardAt: UiTime;
  readonly isStale: boolean;
  readonly isCordoned: boolean;
  /** Empty: all is well. */
  readonly conditions: readonly UiCondition[];
  /** For one hour of one CPU, one GB and one GPU; null: not priced. */
  readonly price: {
    readonly cpu: number | null;
    readonly memory: number | null;
    readonly gpu: number | null;
    readonly currency: string;
  } | null;
  readonly liqoID: string | null;
  readonly lends: number;
  readonly borrows: number;
}

export const CLUSTER_SORTS = [
  "id",
  "region",
  "cpu",
  "memory",
  "gpu",
  "price",
  "heard",
  "lends",
  "borrows",
] as const;
export type ClusterSort = (typeof CLUSTER_SORTS)[number];
export const CLUSTER_STATES = ["ready", "stale", "cordoned", "overcommitted"] as const;
export type ClusterState = (typeof CLUSTER_STATES)[number];

/** `GET /ui/clusters?sort=&order=&q=&state=&offset=&limit=` (sort: ClusterSort, state: ClusterState). */
export interface UiFleet extends UiPage<UiCluster> {
  /** Of all clusters that match, not only those on this page; stale ones lend nothing and are left out of `capacity`. */
  readonly totals: {
    readonly clusters: number;
    readonly ready: number;
    readonly capacity: UiCapacity;
    readonly live: number;
    /** What all live reservations cost in one hour. */
    readonly spendPerHour: UiMoney;
  };
}

/** `GET /ui/clusters/{id}` answers one `UiCluster`. */

/** `GET /ui/flows?resource=cpu|memory|gpu`: who lends to whom now. Only clusters with a flow are in it, biggest first, at most 500 edges. */
export interface UiFlows {
  readonly commit: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly lends: UiAmounts;
    readonly borrows: UiAmounts;
    readonly isStale: boolean;
  }[];
  readonly edges: readonly UiFlow[];
  /** Edges beyond those shown. */
  readonly left: number;
}

export interface UiFlow {
  readonly provider: string;
  readonly requester: string;
  readonly amounts: UiAmounts;
  readonly reservations: number;
}
