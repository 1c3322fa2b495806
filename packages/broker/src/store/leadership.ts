import type { StoreFailure } from "./store.ts";

/** What a replica is right now, as far as it can know. */
export type Standing =
  | { readonly role: "leader" }
  /** Waits for its turn. */
  | { readonly role: "standby"; readonly leader: string; readonly problem?: string }
  /** Has led, and could not renew its lease in time, or cannot tell how long ago that was: another one may lead by now. */
  | { readonly role: "unsure" }
  /** Another one leads: this replica will never lead again. */
  | { readonly role: "deposed"; readonly leader: string };

/** Of a store that several replicas share: one of them leads, the others stand by. It goes one way: waits, leads, ends. */
export interface Leadership {
  /** Reaches the store and makes what is missing there. Rejects with what a person must put right. */
  readonly prepare: () => Promise<void>;
  /** Resolves with true when this replica leads, with false when the store was closed before. */
  readonly win: () => Promise<boolean>;
  /**
   * `leader` as long as nobody else can have written: by this machine's own clocks, so also right after a pause. Where they
   * disagree the machine was suspended, or its clock was set: `unsure`, and the store is asked at once.
   */
  readonly standing: () => Standing;
  /** Who was seen to lead before this replica did; empty: nobody, as far as it knows. */
  readonly predecessor: () => string;
  /** Called once, when another replica has taken over. */
  readonly onLost: (listener: (failure: StoreFailure) => void) => void;
}
