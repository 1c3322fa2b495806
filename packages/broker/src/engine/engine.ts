import type {
  ClusterId,
  Command,
  Decision,
  Instant,
  LedgerEvent,
  LedgerView,
  Policy,
  Reply,
  Reserve,
  ReservationRequest,
} from "@resource-broker/domain";

/** The single writer: every change passes through `submit`, every reader sees only what is durable. */
export interface Engine {
  /** Opens the store and begins to serve. */
  readonly start: () => Promise<void>;
  /** Finishes accepted commands, saves pending advertisements and closes the store. Later submits are refused. */
  readonly stop: () => Promise<void>;
  /**
   * Resolves when the state behind the reply is durable. Rejects with a Fault: `store-unavailable` (nothing was
   * committed), `not-leader` (another replica leads or may lead; nothing was committed), `overloaded` (the queue is full or the
   * broker stops) or `internal` (a bug; nothing was committed).
   */
  readonly submit: (command: Command) => Promise<Reply>;
  /** Decides the same way on the committed state, without writing anything. */
  readonly quote: (requester: ClusterId, request: ReservationRequest, options?: QuoteOptions) => Reply;
  /** The committed state. Read it at once, do not keep it across an await. */
  readonly ledger: LedgerView;
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly now: () => Instant;
  readonly policy: Policy;
  readonly setPolicy: (policy: Policy) => void;
  /** Called after each commit, in order, when its events are in `ledger`; the returned function ends it. */
  readonly onCommit: (listener: (commit: Committed) => void) => () => void;
  /** Called for each request that was refused, also where that repeats a recorded refusal; the returned function ends it. */
  readonly onRefused: (listener: (refused: RefusedCommand) => void) => () => void;
  readonly health: EngineHealth;
}

export interface RefusedCommand {
  readonly command: Reserve;
  readonly decision: Decision;
}

export interface QuoteOptions {
  /** Instead of the policy's. */
  readonly weights?: Policy["weights"];
  /** Namespace of the request in the requester's cluster: its tenant's quota applies. */
  readonly namespace?: string | undefined;
}

export interface Committed {
  readonly number: number;
  readonly at: Instant;
  readonly events: readonly LedgerEvent[];
}

export type EngineHealth =
  | { readonly state: "starting" | "ready" | "stopped" }
  /** `degraded`: reads work, writes fail. `failed`: the store is corrupt; an operator must act. */
  | { readonly state: "degraded" | "failed"; readonly reason: string };
