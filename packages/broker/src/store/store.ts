import type {
  Decision,
  DecisionId,
  Instant,
  LedgerEvent,
  LedgerRecords,
  ReceivedAdvertisement,
} from "@resource-broker/domain";

/**
 * Where the ledger survives. One process writes at a time; the store makes sure of it. A batch is committed whole or
 * not at all, and `commit` resolves only when the disk has it.
 */
export interface Store {
  /** Takes the store for this process, migrates it and checks it. */
  open: () => Promise<StoreContents>;
  /** Rejects with a StoreFailure. Numbers follow each other without a gap. */
  commit: (batch: CommitBatch) => Promise<void>;
  /** The number of the last stored commit. It settles a commit of unknown outcome. */
  lastCommit: () => Promise<number>;
  /** Saves the newest advertisement of each cluster. Not durable: it may be lost in a crash. */
  saveAdvertisements: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
  findDecision: (id: DecisionId) => Promise<Decision | undefined>;
  readAudit: (query: AuditQuery) => Promise<readonly AuditEntry[]>;
  close: () => Promise<void>;
}

export interface StoreContents {
  /** Created with the store and never changed. Another ID means that the ledger was replaced. */
  readonly ledgerId: string;
  readonly commitNumber: number;
  readonly records: LedgerRecords;
}

export interface CommitBatch {
  readonly number: number;
  readonly at: Instant;
  /** One for each command that changed something, in the order they were decided. */
  readonly entries: readonly CommitEntry[];
  /** Those that must not be lost: they replace what is stored of their clusters, whatever that is. At most one each. */
  readonly advertisements?: readonly ReceivedAdvertisement[];
}

export interface CommitEntry {
  /** Cluster ID of the caller, or `broker` for actions of a timer. */
  readonly by: string;
  /** The command's kind. */
  readonly action: string;
  readonly events: readonly LedgerEvent[];
}

/** One line of the audit log, chained to the one before it. */
export interface AuditEntry {
  readonly sequence: number;
  readonly at: Instant;
  readonly commitNumber: number;
  readonly by: string;
  readonly action: string;
  /** What the line is about: a reservation, decision or cluster. */
  readonly subject: string;
  /** Why, in words. */
  readonly detail: string;
  /** SHA-256 over the previous line's hash and this line, in hex. */
  readonly hash: string;
}

export interface AuditQuery {
  /** Only lines after this sequence number. */
  readonly after: number;
  readonly limit: number;
}

/**
 * `not-committed`: nothing was written; a retry may succeed. `unknown`: read `lastCommit` before the next commit.
 * `corrupt`: the store is inconsistent; stop. `deposed`: another process leads; nothing was written, and this process must
 * not write again.
 */
export type FailureKind = "not-committed" | "unknown" | "corrupt" | "deposed";

export class StoreFailure extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreFailure";
    this.kind = kind;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** History is kept up to a number and up to an age, whichever is reached first. */
export interface Keep {
  readonly atMost: number;
  readonly forMs: number;
}

export interface Retention {
  readonly decisions: Keep;
  readonly audit: Keep;
}

/** For callers that name none, such as tests. The broker's own limits come from its flags: choose-store.ts. */
export const DEFAULT_RETENTION: Retention = {
  decisions: { atMost: 50_000, forMs: 30 * DAY_MS },
  audit: { atMost: 1_000_000, forMs: 90 * DAY_MS },
};
