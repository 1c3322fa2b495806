/** How large the simulated cluster is. */
export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
}

/** What the bench tells the cluster's process. */
export type Order =
  | { readonly kind: "serve"; readonly size: ClusterSize }
  | { readonly kind: "change"; readonly perSecond: number }
  | { readonly kind: "rest" }
  /** A pod comes that takes one GPU; it goes. */
  | { readonly kind: "occupy" }
  | { readonly kind: "vacate" };

/** What it answers. */
export interface Answers {
  readonly listening: { readonly kubeconfig: string };
  readonly resting: { readonly changes: number; readonly allocatedMillis: number };
  readonly done: object;
}

export function answer<Kind extends keyof Answers>(kind: Kind, answer: Answers[Kind]): void {
  process.send?.({ ...answer, kind });
}

export function onOrder(act: (order: Order) => void): void {
  process.on("message", act);
}
