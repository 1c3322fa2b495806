import { randomUUID } from "node:crypto";
import {
  type AuditEntry,
  type CommitBatch,
  type FailureKind,
  type Store,
  type StoreContents,
  StoreFailure,
} from "@resource-broker/broker";
import {
  apply,
  type ClusterId,
  type Decision,
  type DecisionId,
  emptyLedger,
  headline,
  isSoft,
  type Ledger,
  type LedgerEvent,
  type ReceivedAdvertisement,
} from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";
import { expectedLink, NO_LINK } from "./audit-chain.ts";

/** How a planned commit goes wrong. After `unknown-but-committed` the batch is there, though the caller cannot know. */
export type CommitFailure = "not-committed" | "unknown-but-committed" | "unknown-not-committed" | "corrupt";

/** Calls that can be made to fail once with a StoreFailure. */
export type FailingCall = "open" | "lastCommit" | "saveAdvertisements" | "findDecision" | "readAudit";

/** A store without a disk, whose failures the test chooses. */
export interface MemoryStore extends Store {
  /** The next commit fails like this; planned failures queue up, and what follows them works again. */
  failNextCommit: (failure: CommitFailure) => void;
  failNextCall: (call: FailingCall, kind?: FailureKind) => void;
  /** Every commit fails as `not-committed` until the returned function is called: a full disk. */
  fill: () => () => void;
  /** Commits wait at this gate until the returned function is called. */
  blockCommits: () => () => void;
  /** Resolves when a commit waits at the gate. */
  untilBlocked: () => Promise<void>;
  /** The process dies: what is not committed is lost, and calls in flight are never answered. */
  kill: () => void;
  /** Everything committed so far, over all processes. */
  readonly commits: readonly CommitBatch[];
}

/** What survives a process: give it to the next `memoryStore` to restart. */
export interface MemoryDisk {
  readonly ledgerId: string;
  ledger: Ledger;
  readonly commits: CommitBatch[];
  readonly advertisements: Map<ClusterId, ReceivedAdvertisement>;
  readonly decisions: Map<DecisionId, Decision>;
  readonly audit: AuditEntry[];
  isTaken: boolean;
}

export function memoryDisk(ledgerId: string = randomUUID()): MemoryDisk {
  return {
    ledgerId,
    ledger: emptyLedger(),
    commits: [],
    advertisements: new Map(),
    decisions: new Map(),
    audit: [],
    isTaken: false,
  };
}

export function memoryStore(disk: MemoryDisk = memoryDisk()): MemoryStore {
  const commitFailures: CommitFailure[] = [];
  const callFailures = new Map<FailingCall, FailureKind>();
  let state: "new" | "open" | "closed" | "dead" = "new";
  let isFull = false;
  let gate: Gate | undefined;

  const call = async <T>(name: FailingCall, read: () => T): Promise<T> => {
    await Promise.resolve();
    if (state === "dead") return forever();
    if (name !== "open" && state !== "open") throw new StoreFailure("not-committed", "the store is not open");
    const kind = callFailures.get(name);
    callFailures.delete(name);
    if (kind !== undefined) throw new StoreFailure(kind, `${name} was planned to fail`);
    return read();
  };

  const open = (): StoreContents => {
    if (state !== "new") throw new StoreFailure("not-committed", `the store is ${state}`);
    if (disk.isTaken)
      throw new StoreFailure("not-committed", "another broker uses this store; stop it first");
    disk.isTaken = true;
    state = "open";
    return {
      ledgerId: disk.ledgerId,
      commitNumber: disk.commits.length,
      records: { ...recordsOf(disk.ledger), advertisements: [...disk.advertisements.values()] },
    };
  };

  const commit = async (batch: CommitBatch): Promise<void> => {
    if (state !== "open") throw new StoreFailure("not-committed", "the store is not open");
    // Through JSON, as a real store does: what JSON cannot carry must not seem to work in tests.
    const stored = viaJson(batch);
    await Promise.resolve();
    if (gate !== undefined) await gate.wait();
    if (state !== "open") return forever();
    const failure = commitFailures.shift() ?? (isFull ? "not-committed" : undefined);
    if (failure === undefined || failure === "unknown-but-committed") write(disk, stored);
    if (failure !== undefined) throw new StoreFailure(kindOf(failure), `planned: ${failure}`);
  };

  return {
    open: () => call("open", open),
    commit,
    lastCommit: () => call("lastCommit", () => disk.commits.length),
    saveAdvertisements: (advertisements) =>
      call("saveAdvertisements", () => {
        for (const received of advertisements) {
          const { clusterId } = received.advertisement;
          const isOlder = received.receivedAt < (disk.advertisements.get(clusterId)?.receivedAt ?? 0);
          if (!isOlder) disk.advertisements.set(clusterId, viaJson(received));
        }
      }),
    findDecision: (id) => call("findDecision", () => disk.decisions.get(id)),
    readAudit: ({ after, limit }) => call("readAudit", () => disk.audit.slice(after, after + limit)),
    close: async () => {
      await Promise.resolve();
      if (state === "open") disk.isTaken = false;
      if (state !== "dead") state = "closed";
    },
    failNextCommit: (failure) => void commitFailures.push(failure),
    failNextCall: (name, kind = "not-committed") => void callFailures.set(name, kind),
    fill: () => {
      isFull = true;
      return () => {
        isFull = false;
      };
    },
    blockCommits: () => {
      const held = new Gate();
      gate = held;
      return () => {
        if (gate === held) gate = undefined;
        held.open();
      };
    },
    untilBlocked: () =>
      gate?.reached ?? Promise.reject(new Error("no gate holds this store: call hold() first")),
    kill: () => {
      if (state === "open") disk.isTaken = false;
      state = "dead";
    },
    commits: disk.commits,
  };
}

function write(disk: MemoryDisk, batch: CommitBatch): void {
  const expected = disk.commits.length + 1;
  if (batch.number !== expected) {
    throw new StoreFailure("not-committed", `commit ${batch.number} cannot follow commit ${expected - 1}`);
  }
  const events = durableEvents(batch);
  try {
    for (const event of events) apply(disk.ledger, event);
  } catch (error) {
    // Whole or not at all: what was applied before the contradiction is undone.
    disk.ledger = emptyLedger();
    for (const event of disk.commits.flatMap(durableEvents)) apply(disk.ledger, event);
    throw new StoreFailure("corrupt", `commit ${batch.number} contradicts the store`, { cause: error });
  }
  for (const decision of events.flatMap(decisionsIn)) disk.decisions.set(decision.id, decision);
  for (const { by, action, events } of batch.entries) {
    for (const event of events.filter((each) => !isSoft(each))) {
      const commitNumber = batch.number;
      const line = {
        at: event.at,
        commitNumber,
        by,
        action,
        subject: subjectOf(event),
        detail: detailOf(event),
      };
      disk.audit.push({ ...line, ...expectedLink(disk.audit.at(-1) ?? NO_LINK, line) });
    }
  }
  replaceAdvertisements(disk, batch);
  disk.commits.push(batch);
}

function replaceAdvertisements(disk: MemoryDisk, { advertisements = [] }: CommitBatch): void {
  for (const received of advertisements) disk.advertisements.set(received.advertisement.clusterId, received);
}

function durableEvents(batch: CommitBatch): LedgerEvent[] {
  return batch.entries.flatMap(({ events }) => events).filter((event) => !isSoft(event));
}

function decisionsIn(event: LedgerEvent): Decision[] {
  return "decision" in event && event.decision !== undefined ? [event.decision] : [];
}

function subjectOf(event: LedgerEvent): string {
  if ("id" in event) return event.id;
  if ("reservation" in event) return event.reservation.id;
  if ("clusterId" in event) return event.clusterId;
  if ("decision" in event) return event.decision.id;
  return "closedKey" in event ? event.closedKey.requester : event.kind;
}

function detailOf(event: LedgerEvent): string {
  if ("decision" in event) return headline(event.decision);
  return event.kind === "ended" ? `${event.reason} ${event.message ?? ""}`.trim() : event.kind;
}

function kindOf(failure: CommitFailure): FailureKind {
  return failure === "not-committed" || failure === "corrupt" ? failure : "unknown";
}

function viaJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}

class Gate {
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #reach: () => void = () => undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  wait(): Promise<void> {
    this.#reach();
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}
