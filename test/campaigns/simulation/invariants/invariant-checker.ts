import type { Clock } from "@resource-broker/base";
import type { CommitBatch, Committed, Engine, StoreContents } from "@resource-broker/broker";
import {
  type Command,
  type LedgerEvent,
  type LedgerView,
  type Member,
  memberIn,
  type Policy,
  type Reply,
} from "@resource-broker/domain";
import {
  differsFromModel,
  keyOf,
  LedgerModel,
  ReceivedCommands,
  violationIn,
} from "@resource-broker/domain/testing";
import type { Findings } from "../environment/findings.ts";
import type { SimDisk } from "../environment/sim-disk.ts";
import { AdvertisementLog, type Post } from "./advertisement-log.ts";
import { COUNTED, differsWhenRebuilt, isCounted, requestIn, subjectOf } from "./event-facts.ts";

/** The promise is a second; commits under way and timers take their time as well. */
const LATEST_EXPIRY_MS = 1000 + 100;
/** So long after a slow or failed call of the store, or after a restart, an expiry may still be late. */
const LATE_EXPIRY_MS = 15_000;

export interface InvariantCheckerDeps {
  readonly disk: SimDisk;
  readonly findings: Findings;
  readonly policy: Policy;
}

/** Of what is kept for a request that others got notice for, the model is told. */
function isNotice({ victims }: { readonly victims?: readonly string[] }): boolean {
  return victims !== undefined;
}

/** One life of the broker, as the invariant checker expects it. */
interface Expected {
  readonly startedAt: number;
  readonly zero: number;
  readonly clock: Clock;
}

/** Checks everything that the broker reads, decides, writes and answers against its own model of the ledger. */
export class InvariantChecker {
  readonly #deps: InvariantCheckerDeps;
  readonly #model = new LedgerModel();
  readonly #advertisements: AdvertisementLog;
  readonly #asked = new ReceivedCommands();
  /** In which commit a fact came to be: `rsv-1 2` for a generation, a decision, a released key. */
  readonly #commitOf = new Map<string, number>();
  #commitNumber = 0;
  #submitted: CommitBatch | undefined;
  #engine: Engine | undefined;
  #expected: Expected | undefined;
  #isDirty = false;
  #deadline = Number.POSITIVE_INFINITY;
  #lateExpiryUntil = 0;
  #lastNotified = 0;
  #keeping: ReadonlySet<string> = new Set();
  readonly counts = {
    grants: 0,
    refusals: 0,
    ends: 0,
    queued: 0,
    admitted: 0,
    commits: 0,
    answers: 0,
    joins: 0,
    evictions: 0,
    notices: 0,
    preempted: 0,
    reprieves: 0,
  };
  /** Clusters that were evicted at some time. */
  readonly evicted = new Set<string>();

  constructor(deps: InvariantCheckerDeps) {
    this.#deps = deps;
    this.#advertisements = new AdvertisementLog(this.#model, deps.findings);
  }

  get model(): LedgerModel {
    return this.#model;
  }

  /** The store hands over what it has: at least all that anyone was told. */
  opened({ commitNumber }: StoreContents, clock: Clock): void {
    const { disk, findings } = this.#deps;
    findings.expect(
      commitNumber >= this.#commitNumber,
      () => `commit ${this.#commitNumber} was seen and is lost: the store is at ${commitNumber}`,
    );
    for (const batch of disk.commitsAfter(this.#commitNumber)) this.#applyBatch(batch);
    const startedAt = Math.max(clock.wallMs(), this.#model.time);
    this.#expected = { startedAt, zero: clock.monotonicMs(), clock };
    this.#model.lastSeen = new Map();
    const read = disk.advertisements();
    this.#model.newest = new Map(
      read.map((received) => {
        const receivedAt = Math.min(received.receivedAt, startedAt);
        return [received.advertisement.clusterId, { ...received, receivedAt }];
      }),
    );
    this.#advertisements.readBack(read, startedAt);
    this.allowLateExpiry();
  }

  started(engine: Engine): void {
    this.#engine = engine;
    this.#isDirty = true;
    this.#lastNotified = engine.commitNumber;
  }

  ended(): void {
    this.#engine = undefined;
  }

  asked(command: Command): void {
    this.#asked.add(command);
  }

  /** A batch is handed to the store: in this very moment it was decided, on what the model says. */
  decided(batch: CommitBatch): void {
    const { findings, policy } = this.#deps;
    this.#catchUp();
    this.#noteKept();
    findings.expect(batch.number === this.#commitNumber + 1, () => `commit ${batch.number} is out of turn`);
    this.#submitted = batch;
    const given = { policy, asked: this.#asked, listeningSince: this.#expected?.startedAt ?? 0 };
    const draft = this.#model.draft();
    let priority = Number.POSITIVE_INFINITY;
    for (const { action, event } of batch.entries.flatMap(({ action, events }) =>
      events.map((event) => ({ action, event })),
    )) {
      const problem = violationIn(draft, event, given);
      findings.expect(problem === undefined, () => `commit ${batch.number}: ${problem}`);
      // Those who waited go before newcomers of any priority.
      const asks = (action === "admit" ? undefined : requestIn(event)?.priority) ?? priority;
      findings.expect(asks <= priority, () => `commit ${batch.number}: priority ${asks} after ${priority}`);
      priority = asks;
      draft.apply(event);
      this.#recordCommit(event, draft, batch.number);
    }
  }

  /** An advertisement has reached the broker, and is in force if it is to be. */
  posted(command: Command, { accounts }: LedgerView): Post | undefined {
    if (command.kind !== "advertise") return undefined;
    this.#isDirty = true;
    const account = accounts.get(command.advertisement.clusterId);
    const inForce = account?.receivedAt === this.#now() ? account.advertisement : undefined;
    return this.#advertisements.post(command.advertisement, inForce, this.#now());
  }

  /** Whoever is answered must be told the truth, and one that survives anything. */
  answered(command: Command, reply: Reply, post: Post | undefined): void {
    this.counts.answers++;
    if (post !== undefined) return this.#advertisements.answer(post, reply);
    switch (reply.kind) {
      case "granted":
      case "current":
        return this.#requireDurable(`${reply.reservation.id} ${reply.reservation.generation}`, command.kind);
      case "waiting":
        return this.#requireDurable(`${reply.waiting.id} ${reply.waiting.generation}`, command.kind);
      case "refused":
        return this.#requireDurable(reply.decision.id, command.kind);
      case "key-closed":
        if (command.kind === "release-by-key")
          this.#requireDurable(keyOf(command.requester, command.key), command.kind);
        return;
      case "enrolled":
        if (command.kind === "enroll")
          this.#requireDurable(`used ${command.tokenId} ${command.key}`, command.kind);
        return;
      case "member-set":
        return this.#requireDurable(JSON.stringify(reply.member), command.kind);
      default:
        return;
    }
  }

  /** Plans are not stored: the model learns only which providers may have one, now or a moment ago. */
  #noteKept(): void {
    const accounts = this.#engine?.ledger.accounts.values() ?? [];
    const keeping = new Set(
      [...accounts].flatMap(({ clusterId, kept }) => (kept === undefined || isNotice(kept) ? [] : clusterId)),
    );
    this.#model.queue.untold = new Set([...keeping, ...this.#keeping]);
    this.#keeping = keeping;
  }

  notified({ number }: Committed): void {
    const { findings } = this.#deps;
    findings.expect(
      number > this.#lastNotified,
      () => `commit ${number} is told after ${this.#lastNotified}`,
    );
    findings.expect(number === this.#engine?.commitNumber, () => `commit ${number} is told out of turn`);
    this.#lastNotified = number;
  }

  /** Something took long or failed: the clock may act late, for a while. */
  allowLateExpiry(forMs = 0): void {
    this.#lateExpiryUntil = Math.max(this.#lateExpiryUntil, this.#now() + forMs + LATE_EXPIRY_MS);
  }

  /** To be called after every step. */
  check(): void {
    const engine = this.#engine;
    if (engine === undefined) return;
    const { findings, disk } = this.#deps;
    const { commitNumber } = engine;
    findings.expect(
      commitNumber <= disk.syncedCommit,
      () => `readers see commit ${commitNumber}, but only ${disk.syncedCommit} is on the disk`,
    );
    this.#catchUp();
    this.#noteKept();
    const now = this.#now();
    findings.expect(engine.now() === now, () => `the broker's clock says ${engine.now()}, not ${now}`);
    const latest = Math.max(this.#deadline, this.#lateExpiryUntil) + LATEST_EXPIRY_MS;
    findings.expect(now <= latest, () => `what was due at ${this.#deadline} is still there at ${now}`);
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const spare = (this.#expected?.startedAt ?? 0) + 2 * this.#deps.policy.stalenessMs;
    this.#deadline = this.#model.earliestDeadline(spare);
    const problem = differsFromModel(engine.ledger, this.#model) ?? differsWhenRebuilt(engine.ledger, now);
    findings.expect(problem === undefined, () => `at commit ${commitNumber}: ${problem}`);
  }

  #catchUp(): void {
    const { commitNumber } = this.#engine ?? { commitNumber: this.#commitNumber };
    if (commitNumber === this.#commitNumber) return;
    const batch = this.#submitted;
    this.#deps.findings.expect(
      batch?.number === commitNumber && commitNumber === this.#commitNumber + 1,
      () => `the broker went from commit ${this.#commitNumber} to ${commitNumber}`,
    );
    if (batch !== undefined) this.#applyBatch(batch);
    this.#isDirty = true;
  }

  #applyBatch({ number, entries }: CommitBatch): void {
    this.counts.commits++;
    for (const event of entries.flatMap(({ events }) => events)) {
      this.#count(event);
      this.#model.apply(event);
      this.#recordCommit(event, this.#model, number);
    }
    this.#commitNumber = number;
  }

  #count(event: LedgerEvent): void {
    if (event.kind === "granted" && this.#model.queue.waiting.has(event.reservation.id))
      this.counts.admitted++;
    if (event.kind === "ended" && event.reason === "Preempted") this.counts.preempted++;
    if (isCounted(event.kind)) this.counts[COUNTED[event.kind]]++;
  }

  /** Notes which commit made this true. */
  #recordCommit(event: LedgerEvent, model: LedgerModel, number: number): void {
    if (event.kind === "refused") this.#commitOf.set(event.decision.id, number);
    if (event.kind === "key-closed")
      this.#commitOf.set(keyOf(event.closedKey.requester, event.closedKey.key), number);
    // A reply to a later command of the same batch may tell of it when the broker stops, before its commit is seen here.
    if (event.kind === "member-evicted") this.evicted.add(event.member.clusterId);
    const member = memberIn(event);
    if (member !== undefined) this.#recordMember(member, number);
    const entry =
      model.entries.get(subjectOf(event) ?? "") ?? model.queue.waiting.get(subjectOf(event) ?? "");
    if (entry !== undefined) this.#commitOf.set(`${entry.id} ${entry.generation}`, number);
  }

  #recordMember(member: Member, number: number): void {
    this.#commitOf.set(JSON.stringify(member), number);
    const { tokenId, key } = member.invitation ?? {};
    if (key !== undefined) this.#commitOf.set(`used ${tokenId} ${key}`, number);
  }

  #requireDurable(fact: string, what: string): void {
    const { findings, disk } = this.#deps;
    const number = this.#commitOf.get(fact) ?? Number.POSITIVE_INFINITY;
    findings.expect(
      number <= disk.syncedCommit,
      () => `${what} was answered from commit ${number}, but only ${disk.syncedCommit} is on the disk`,
    );
  }

  #now(): number {
    if (this.#expected === undefined) return 0;
    const { startedAt, zero, clock } = this.#expected;
    return startedAt + Math.floor(clock.monotonicMs() - zero);
  }
}
