/** A simulated cluster: how large it is. */
export interface ClusterShape {
  readonly name: string;
  readonly nodes: number;
  readonly pods: number;
  /** Of each node; absent: 64 CPU, 256Gi. */
  readonly node?: { readonly cpu: string; readonly memory: string };
}

/** What is told to the process with the clusters. */
export type ClustersCommand =
  | { readonly kind: "add"; readonly shape: ClusterShape }
  | { readonly kind: "remove"; readonly name: string };

/** What it answers. */
export type ClustersReply =
  | { readonly kind: "added"; readonly name: string; readonly kubeconfig: string }
  | { readonly kind: "removed"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly problem: string };
