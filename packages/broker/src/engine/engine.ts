import type {
  ClusterId,
  Command,
  Instant,
  LedgerEvent,
  LedgerView,
  Policy,
  Reply,
  ReservationRequest,
} from "@resource-broker/domain";

/** The single writer: every change passes through `submit`, every reader sees only what is durable. */
export interface Engine {
  /** Opens the store and begins to serve. */
  readonly start: () => Promise<void>;
  /** Finishes what was taken in, writes behind what is soft, closes the store. Later submits are refused. */
  readonly stop: () => Promise<void>;
  /**
   * Answers when the state the answer rests on is durable. Rejects with a Fault: `store-unavailable` (nothing was
   * booked), `not-leader` (another replica leads, or may; nothing was booked), `overloaded` (too much is waiting, or the
   * broker stops) or `internal` (a bug; nothing was booked).
   */
  readonly submit: (command: Command) => Promise<Reply>;
  /** What would happen: the same deciding on the committed state; nothing is written. */
  readonly quote: (requester: ClusterId, request: ReservationRequest) => Reply;
  /** The committed state. Read it at once, do not keep it across an await. */
  readonly ledger: LedgerView;
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly now: () => Instant;
  readonly policy: Policy;
  readonly setPolicy: (policy: Policy) => void;
  /** Called after each commit, in order, when its events are in `ledger`; the returned function ends it. */
  readonly onCommit: (listener: (commit: Committed) => void) => () => void;
  readonly health: EngineHealth;
}

export interface Committed {
  readonly number: number;
  readonly at: Instant;
  readonly events: readonly LedgerEvent[];
}

export type EngineHealth =
  | { readonly state: "starting" | "ready" | "stopped" }
  /** `degraded`: readable, writes fail for now. `failed`: the store contradicts itself; only a person can help. */
  | { readonly state: "degraded" | "failed"; readonly reason: string };
