import type { RoundEnd } from "@resource-broker/kube";
import type { KubernetesOptions, PartDeps } from "../ports.ts";
import type { Lane } from "./pace.ts";

export type ViewsOptions = Pick<KubernetesOptions, "namespace" | "objects">;

/** What each of the two kinds is given. */
export interface ViewsDeps
  extends Pick<PartDeps, "engine" | "client" | "known" | "recorder" | "sliceDefaults"> {
  readonly lane: Lane;
  /** Given when the views end: a server that does not answer must not hold that up. */
  readonly signal: AbortSignal;
}

/** The views of one kind. */
export interface KindOfView {
  /** Brings the object of this name to what the ledger says. */
  readonly reconcile: (name: string) => Promise<RoundEnd>;
  readonly stop: () => void;
}
