import type { KubeClient } from "@resource-broker/kube";
import type { Behaviours } from "./behaviour.ts";

/** A cluster with Liqo in it. */
export interface LiqoSite {
  /** Liqo's ID of it, which is not the broker's. */
  readonly id: string;
  readonly client: KubeClient;
  /** The node that pods of other clusters run on. Absent: wherever a scheduler puts them, if there is one. */
  readonly guestsRunOn?: string;
}

/** What the parts of Liqo know of each other. */
export interface LiqoState {
  readonly sites: readonly LiqoSite[];
  readonly site: (id: string) => LiqoSite | undefined;
  readonly behaviours: Behaviours;
  /** False: its API server is gone, for Liqo. */
  readonly isReachable: (id: string) => boolean;
  /** Slices that the provider has refused, by their version then. */
  readonly refusedVersions: Map<string, string | undefined>;
  /** Secrets that are gone without Liqo having heard of it: `consumer provider`. */
  readonly missedDeletions: Set<string>;
  /** RFC 3339. */
  readonly now: () => string;
}

export const LIQO_NAMESPACE = "liqo";
