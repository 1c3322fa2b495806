import type { FaultyProxy, SeededRandom } from "@resource-broker/testkit";
import type { Books } from "./booking.ts";
import type { StrikeKind } from "./target.ts";

/** How one replica reaches the ledger. */
export interface LedgerPlace {
  /** The value of its `--store`. */
  readonly store: string;
  readonly flags: readonly string[];
  readonly way: FaultyProxy;
}

/** A ledger that several replicas share, whoever keeps it. */
export interface SharedLedger {
  /** One for each replica. */
  readonly places: readonly LedgerPlace[];
  /** What a strike against the server that keeps it is called. */
  readonly serverKind: StrikeKind;
  /** Harms that server, and lets it come back; says how. */
  readonly strikeServer: (random: SeededRandom) => Promise<string>;
  /** What it holds; nobody may be using it. */
  readonly books: () => Promise<Books>;
  readonly dispose: () => Promise<void>;
}
