import type { StoreFailure } from "../store.ts";

/** The leadership state of a replica, as far as the replica can know. */
export type LeadershipState =
  | { readonly role: "leader" }
  /** Waits to become the leader. */
  | { readonly role: "standby"; readonly leader: string; readonly problem?: string }
  /** Was the leader but may have lost the lease: it could not renew in time, or its clocks disagree. */
  | { readonly role: "unsure" }
  /** Another replica leads: this process never leads again. */
  | { readonly role: "deposed"; readonly leader: string };

/** Leadership in a store that several replicas share. One replica leads, the others are standby. A process waits, leads, and ends; it never goes back. */
export interface Leadership {
  /** Connects to the store and creates missing tables or objects. Rejects with a problem that an operator must fix. */
  readonly prepare: () => Promise<void>;
  /** Resolves with true when this replica leads, with false when the store was closed before. */
  readonly acquire: () => Promise<boolean>;
  /**
   * Returns `leader` while no other replica can have written, by this machine's own clocks; this also holds right after a
   * pause. If the clocks disagree, the machine was suspended or its clock was set: then `unsure`, and the store is asked.
   */
  readonly state: () => LeadershipState;
  /** The last known leader before this replica; empty if unknown. */
  readonly predecessor: () => string;
  /** Called once, when another replica has taken over. */
  readonly onLost: (listener: (failure: StoreFailure) => void) => void;
}
