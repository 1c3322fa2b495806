import type { Clock, Log } from "@resource-broker/base";
import type { ClusterApi } from "./api/cluster-api.ts";
import type { JsonObject } from "./json.ts";

export interface KubeSimDeps {
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly log?: Log;
}

/** Many simulated clusters in one process. */
export interface KubeSim {
  readonly addCluster: (options: ClusterOptions) => Promise<SimCluster>;
  readonly clusters: () => readonly SimCluster[];
  /** Ends every cluster. */
  readonly stop: () => Promise<void>;
}

export interface ClusterOptions {
  readonly name: string;
  /** Absent: a free one. */
  readonly port?: number;
  /** Pods with a node become Running, pending ones are bound to nodes that fit. Absent: true. */
  readonly behaves?: boolean;
  /** Applied before the cluster answers: CustomResourceDefinitions, namespaces, nodes, pods … */
  readonly objects?: readonly JsonObject[];
}

export interface SimCluster {
  readonly name: string;
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** YAML text of a kubeconfig with full rights; its context has the cluster's name. */
  readonly kubeconfig: string;
  /** A bearer token with full rights, for clients that read one from a file. */
  readonly token: string;
  /** The verbs, without HTTP: for seeding and for looking. */
  readonly api: ClusterApi;
  /** Creates or replaces, status included, whatever kind: for seeding. */
  readonly seed: (objects: readonly JsonObject[]) => void;
  readonly faults: SimFaults;
  readonly stop: () => Promise<void>;
}

/** What can be made to go wrong. */
export interface SimFaults {
  /** The next requests that match get this status instead: `{ times: 3, status: 500 }`, `{ …, verb: "list", plural: "pods" }`. */
  readonly failNext: (failure: FailNext) => void;
  /** Breaks every open connection. */
  readonly cut: () => void;
  /** Accepts connections but answers nothing, and sends nothing on open watches, until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Stops listening and breaks every connection; objects are kept. */
  readonly down: () => Promise<void>;
  /** Listens again on the same port. */
  readonly up: () => Promise<void>;
  /** Old versions are forgotten: watches that lag get 410. */
  readonly compact: () => void;
}

export interface FailNext {
  readonly times: number;
  readonly status: number;
  readonly reason?: string;
  readonly retryAfterSeconds?: number;
  readonly verb?: "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";
  readonly plural?: string;
}
