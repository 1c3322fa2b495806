import type { KubeConfig } from "@resource-broker/kube";

export type Encoding = "protobuf" | "json";

/** How large the imagined cluster is. */
export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
}

/** Versions of the objects as first listed; what changes later is newer. */
export const FIRST_VERSION = 1_000_000;

/** What the bench tells its processes. */
export type Command =
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
export interface Replies {
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

export function sendReply<Kind extends keyof Replies>(kind: Kind, reply: Replies[Kind]): void {
  process.send?.({ ...reply, kind });
}

export function onCommand(act: (order: Command) => void): void {
  process.on("message", act);
}
