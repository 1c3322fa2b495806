import type { ReconcileResult } from "@resource-broker/kube";
import type { KubernetesOptions, PartDeps } from "../ports.ts";
import type { WriteQueue } from "./pace.ts";

export type ViewsOptions = Pick<KubernetesOptions, "namespace" | "objects">;

/** What each of the two kinds is given. */
export interface ViewsDeps
  extends Pick<PartDeps, "engine" | "client" | "known" | "recorder" | "sliceDefaults"> {
  readonly queue: WriteQueue;
  /** Aborted when the views stop, so that a hanging server does not delay the stop. */
  readonly signal: AbortSignal;
}

/** The views of one kind. */
export interface ViewController {
  /** Makes the object of this name match the ledger. */
  readonly reconcile: (name: string) => Promise<ReconcileResult>;
  readonly stop: () => void;
}
