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
  /** The number of the last commit that is really there: settles what became of a commit of unknown outcome. */
  lastCommit: () => Promise<number>;
  /** Written behind, and may be lost: the newest advertisement of each cluster named. */
  saveAdvertisements: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
  findDecision: (id: DecisionId) => Promise<Decision | undefined>;
  readAudit: (query: AuditQuery) => Promise<readonly AuditEntry[]>;
  close: () => Promise<void>;
}

export interface StoreContents {
  /** Made with the store and never changed: another one means the broker lost its memory. */
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
  /** Cluster ID of who asked, or `broker` for what the clock did. */
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
 * `not-committed`: surely nothing was written, later tries may work. `unknown`: ask `lastCommit` before going on.
 * `corrupt`: the store contradicts itself; go no further. `deposed`: another process leads now; nothing was written, and
 * this process will never write again.
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
