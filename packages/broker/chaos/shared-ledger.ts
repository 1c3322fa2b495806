import type { FaultyProxy, SeededRandom } from "@resource-broker/testkit";
import type { LedgerSnapshot } from "./booking.ts";
import type { StrikeKind } from "./target.ts";

/** How one replica reaches the ledger. */
export interface LedgerEndpoint {
  /** The value of its `--store`. */
  readonly store: string;
  readonly flags: readonly string[];
  readonly proxy: FaultyProxy;
}

/** A ledger that several replicas share, whoever keeps it. */
export interface SharedLedger {
  /** One for each replica. */
  readonly endpoints: readonly LedgerEndpoint[];
  /** What a strike against the server that keeps it is called. */
  readonly serverKind: StrikeKind;
  /** Harms that server, and lets it come back; says how. */
  readonly strikeServer: (random: SeededRandom) => Promise<string>;
  /** What it holds; nobody may be using it. */
  readonly snapshot: () => Promise<LedgerSnapshot>;
  readonly dispose: () => Promise<void>;
}
