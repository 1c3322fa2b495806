import type { KubeConfig } from "@resource-broker/kube";
import type { ClusterSize, Encoding } from "./cluster/size.ts";

/** What the bench tells its processes. */
export type Order =
  | {
      readonly kind: "serve";
      readonly size: ClusterSize;
      readonly encoding: Encoding;
      readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
    }
  | { readonly kind: "change"; readonly perSecond: number }
  | { readonly kind: "rest" }
  | { readonly kind: "follow"; readonly config: KubeConfig }
  | { readonly kind: "report" };

/** What they tell it. */
export interface Answers {
  readonly listening: { readonly port: number; readonly podBytes: number };
  readonly resting: { readonly sent: number };
  readonly ready: object;
  readonly synced: Report;
  readonly report: Report;
}

/** What the follower has seen so far. */
export interface Report {
  /** Pods put and removed. */
  readonly events: number;
  readonly allocatableMillis: number;
  readonly allocatedMillis: number;
}

export function tell<Kind extends keyof Answers>(kind: Kind, answer: Answers[Kind]): void {
  process.send?.({ ...answer, kind });
}

export function onOrder(act: (order: Order) => void): void {
  process.on("message", act);
}
