import type { ResourceVector } from "@resource-broker/base";
import type { Phase } from "@resource-broker/domain";

/** One reservation as the broker has it, wherever it was read. */
export interface LedgerReservation {
  readonly id: string;
  readonly requester: string;
  readonly provider: string;
  readonly phase: Phase;
  readonly granted: ResourceVector;
  readonly key: string | undefined;
  /** Why it ended. */
  readonly reason: string | undefined;
}

/** A request that waits, or has left the queue without a reservation. */
export interface LedgerWaiting {
  readonly id: string;
  readonly requester: string;
  readonly phase: Phase;
  readonly reason: string | undefined;
  readonly asked: ResourceVector;
  readonly key: string | undefined;
  readonly until: number;
  readonly endedAt: number | undefined;
  /** The provider whose free capacity is kept for it. */
  readonly nominatedTo: string | undefined;
}

/** A provider as the broker sees it. */
export interface ProviderTotals {
  readonly clusterId: string;
  readonly allocatable: ResourceVector;
  /** The broker's own sum. */
  readonly reserved: ResourceVector;
  /** What the broker may still lend. */
  readonly available: ResourceVector;
}

/** All that the broker knows at one moment. */
export interface LedgerSnapshot {
  readonly reservations: readonly LedgerReservation[];
  readonly waiting: readonly LedgerWaiting[];
  readonly providers: readonly ProviderTotals[];
}
