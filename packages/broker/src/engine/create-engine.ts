import { type Clock, Fault } from "@resource-broker/base";
import {
  type Command,
  type DecisionId,
  type Instant,
  type Outcome,
  type Policy,
  type Reply,
} from "@resource-broker/domain";
import { withAdoptionWindow } from "../store/common/adoption-window.ts";
import { type CommitBatch, type Store, StoreFailure } from "../store/store.ts";
import { Admission, admitWaiting, LOOKED } from "./admission.ts";
import { batchOf, CommandQueue, type Decided, type Pending, receivedIn, refusedIn } from "./batch.ts";
import type { Committed, Engine, EngineHealth, RefusedCommand } from "./engine.ts";
import { type EngineObserver, timed } from "./engine-observer.ts";
import { startLedgerClock } from "./ledger-clock.ts";
import { LedgerPair } from "./ledger-pair.ts";
import { Listeners } from "./listeners.ts";
import { asError, commitFault, isFatal, overloaded, persist } from "./persist.ts";
import { RecordedRefusals } from "./recorded-refusals.ts";
import { Sweeper } from "./sweeper.ts";
import { WriteBehind } from "./write-behind.ts";

/** The event loop is blocked while a batch is decided and committed: larger batches gain little and add latency. */
const MAX_BATCH = 256;

export interface EngineOptions {
  readonly policy: Policy;
  /** Requests beyond this many waiting commands are turned away; renewals and releases beyond twice as many. */
  readonly maxWaiting: number;
}

export interface EngineDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  /** Runs a task once the requests that have already arrived were read, so that they join the same commit. */
  readonly defer: (task: () => void) => void;
  /** Names the decision about a request that waited. */
  readonly newDecisionId: () => DecisionId;
  /** Why this replica may not answer for the ledger right now. Absent: one process alone has the store. */
  readonly notLeading?: () => Fault | undefined;
  /** Called once when the store is corrupt: the process should end. */
  readonly onFatal: (failure: StoreFailure) => void;
}

export function createEngine(options: EngineOptions, deps: EngineDeps): Engine {
  return new SingleWriter(options, { ...deps, store: withAdoptionWindow(deps.store, deps.clock) });
}

/**
 * Decides commands on the tentative ledger, one batch at a time, with one commit in flight. Events reach the committed
 * ledger after the commit is durable; then callers get their replies and listeners are called.
 */
class SingleWriter implements Engine {
  readonly #options: EngineOptions;
  readonly #deps: EngineDeps;
  readonly #queue = new CommandQueue();
  readonly #ledgers = new LedgerPair();
  readonly #commits: Listeners<Committed>;
  readonly #refused: Listeners<RefusedCommand>;
  readonly onCommit: Engine["onCommit"];
  readonly onRefused: Engine["onRefused"];
  readonly #refusals: RecordedRefusals;
  readonly #sweeper: Sweeper;
  readonly #admission: Admission;
  readonly #writeBehind: WriteBehind;
  #policy: Policy;
  #ledgerTime: () => Instant;
  #commitNumber = 0;
  #ledgerId = "";
  #health: EngineHealth = { state: "starting" };
  #isStopping = false;
  /** Set while batches are being processed. */
  #running: Promise<void> | undefined;

  constructor(options: EngineOptions, deps: EngineDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#policy = options.policy;
    const { store, clock, observer } = deps;
    this.#commits = new Listeners(observer.listenerFailed);
    this.#refused = new Listeners(observer.listenerFailed);
    this.onCommit = this.#commits.add;
    this.onRefused = this.#refused.add;
    this.#refusals = new RecordedRefusals(observer.refusalNotRecorded);
    this.#ledgerTime = startLedgerClock(clock, 0);
    this.#sweeper = new Sweeper({
      clock,
      now: this.now,
      nextDeadline: () => this.ledger.deadlines.earliest?.at,
      isSweepNeeded: () => this.#policy.requesterLostMs !== undefined || this.#health.state === "degraded",
      sweep: () => this.submit({ kind: "expire-due" }),
    });
    this.#admission = new Admission({
      clock,
      isSettled: () => this.#ledgers.isSettledAt(this.now()),
      isAnyoneWaiting: () => this.ledger.waiting.pendingCount > 0,
      admit: () => this.submit({ kind: "admit", decisionId: deps.newDecisionId() }),
    });
    const { saveAdvertisements: save } = store;
    this.#writeBehind = new WriteBehind({ clock, save, onError: observer.advertisementsNotSaved });
  }

  readonly start = async (): Promise<void> => {
    const { ledgerId, commitNumber, records } = await this.#deps.store.open();
    this.#ledgerTime = startLedgerClock(this.#deps.clock, records.time);
    this.#ledgers.load(records, this.#moment());
    this.#commitNumber = commitNumber;
    this.#ledgerId = ledgerId;
    this.#health = { state: "ready" };
    this.#sweeper.arm();
    this.#admission.batchCommitted();
  };

  readonly stop = async (): Promise<void> => {
    this.#isStopping = true;
    this.#sweeper.stop();
    this.#admission.stop();
    while (this.#running !== undefined) await this.#running;
    await this.#writeBehind.stop();
    if (this.#health.state !== "failed") this.#health = { state: "stopped" };
    await this.#deps.store.close();
  };

  readonly submit = (command: Command): Promise<Reply> => {
    const refusal = this.#refusalFor(command);
    if (refusal !== undefined) return Promise.reject(refusal);
    return command.kind === "advertise" ? this.#advertise(command) : this.#enqueue(command);
  };

  readonly quote: Engine["quote"] = (requester, request, options = {}) => {
    const { weights = this.#policy.weights, namespace } = options;
    const asked = { requester, request, ...(namespace === undefined ? {} : { namespace }) };
    const command = { kind: "reserve", ...asked, reservationId: "quote", decisionId: "quote" } as const;
    return this.#ledgers.evaluate(command, { now: this.now(), policy: { ...this.#policy, weights } }).reply;
  };

  readonly now = (): number => this.#ledgerTime();

  readonly setPolicy = (policy: Policy): void => {
    this.#policy = policy;
    this.#ledgers.policyChanged(policy);
    this.#admission.policyChanged();
  };

  get ledger(): Engine["ledger"] {
    return this.#ledgers.committed;
  }

  get ledgerId(): string {
    return this.#ledgerId;
  }

  get commitNumber(): number {
    return this.#commitNumber;
  }

  get policy(): Policy {
    return this.#policy;
  }

  get health(): EngineHealth {
    return this.#health;
  }

  #refusalFor(command: Command): Fault | undefined {
    const notLeading = this.#deps.notLeading?.();
    if (notLeading !== undefined) return notLeading;
    if (this.#health.state === "failed") return new Fault("store-unavailable", this.#health.reason);
    if (this.#health.state === "starting") return overloaded("the broker is starting");
    if (this.#isStopping) return overloaded("the broker is stopping");
    const limit = command.kind === "reserve" ? this.#options.maxWaiting : 2 * this.#options.maxWaiting;
    return this.#queue.size < limit ? undefined : overloaded(`${this.#queue.size} calls are waiting already`);
  }

  #enqueue(command: Command, outcome?: Outcome): Promise<Reply> {
    const decided = outcome === undefined ? {} : { outcome };
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, ...decided, resolve: timed(command, resolve, this.#deps), reject });
      this.#running ??= this.#runNextBatch();
    });
  }

  /** Applied at once to both ledgers and written later. The caller waits only if the advertisement must survive a crash. */
  #advertise(command: Extract<Command, { kind: "advertise" }>): Promise<Reply> {
    try {
      const before = receivedIn(this.ledger, command)?.advertisement;
      const outcome = this.#ledgers.decide(command, this.#moment());
      const received = outcome.reply.kind === "advertised" ? receivedIn(this.ledger, command) : undefined;
      this.#admission.advertised();
      const isDone = received === undefined || this.#writeBehind.add(received, before);
      return isDone ? Promise.resolve(outcome.reply) : this.#enqueue(command, outcome);
    } catch (error) {
      return Promise.reject(this.#internalFault(command, error));
    }
  }

  async #runNextBatch(): Promise<void> {
    await new Promise<void>((resolve) => this.#deps.defer(resolve));
    await this.#runBatch(this.#queue.take(MAX_BATCH));
    this.#running = this.#queue.size > 0 ? this.#runNextBatch() : undefined;
  }

  async #runBatch(waiting: readonly Pending[]): Promise<void> {
    if (waiting.some(({ outcome }) => outcome !== undefined)) await this.#writeBehind.idle();
    const decided = this.#decideAll(waiting);
    const about = { number: this.#commitNumber + 1, at: this.now(), ledger: this.ledger };
    const batch = batchOf(decided, { ...about, refusals: this.#refusals });
    const isEmpty = batch.entries.length === 0 && batch.advertisements.length === 0;
    try {
      // After a failure an empty commit is also written: it shows whether the store works again.
      if (!isEmpty || this.#health.state === "degraded") await this.#commit(batch);
      else this.#requireLeadership();
    } catch (error) {
      this.#fail(decided, error);
      return;
    }
    for (const { pending, outcome } of decided) pending.resolve(outcome.reply);
    const { number, at, entries } = batch;
    const events = entries.flatMap((entry) => entry.events);
    if (entries.length > 0) this.#commits.notify({ number, at, events });
    for (const refused of refusedIn(decided)) this.#refused.notify(refused);
    this.#sweeper.arm();
    this.#admission.batchCommitted();
  }

  /** Without a commit, leadership has to be checked explicitly: the state behind the reply may be outdated. */
  #requireLeadership(): void {
    const notLeading = this.#deps.notLeading?.();
    if (notLeading !== undefined) throw notLeading;
  }

  #decideAll(waiting: readonly Pending[]): Decided[] {
    const { clock, observer } = this.#deps;
    const startedAt = clock.monotonicMs();
    const decided: Decided[] = [];
    let mayLook = true;
    for (const pending of waiting) {
      try {
        // Whoever waits for what this batch has freed comes before a newcomer.
        const isLookDue = pending.command.kind === "reserve" && !this.#ledgers.isSettledAt(this.now());
        const isLook = pending.command.kind === "admit";
        if ((isLookDue && mayLook) || isLook) {
          decided.push(...admitWaiting(this.#ledgers, this.#moment(), this.#deps));
          // If there is more to grant, it is the turn of others: newcomers wait, or come again.
          mayLook = this.#ledgers.isSettledAt(this.now());
        }
        const decideNow = () => this.#refusals.recall(this.#ledgers.decide(pending.command, this.#moment()));
        decided.push({ pending, outcome: pending.outcome ?? (isLook ? LOOKED : decideNow()) });
      } catch (error) {
        pending.reject(this.#internalFault(pending.command, error));
        this.#ledgers.rebuildTentative(decided.flatMap(({ outcome }) => outcome.events));
      }
    }
    observer.decided(waiting.length, clock.monotonicMs() - startedAt);
    return decided;
  }

  async #commit(batch: Required<CommitBatch>): Promise<void> {
    const { store, observer, clock } = this.#deps;
    const startedAt = clock.monotonicMs();
    const onFailure = (failure: StoreFailure) => {
      observer.commitFailed(failure.kind, failure);
      this.#health = { state: "degraded", reason: failure.message };
    };
    await persist(batch, { store, clock, onFailure });
    this.#writeBehind.committed(batch.advertisements);
    this.#ledgers.confirm(batch.entries.flatMap(({ events }) => events));
    this.#refusals.committed(batch);
    this.#commitNumber = batch.number;
    this.#health = { state: "ready" };
    observer.committed(batch.entries.length, clock.monotonicMs() - startedAt);
  }

  /** Nothing of the batch was committed: discard the tentative state and reject every caller. */
  #fail(decided: readonly Decided[], cause: unknown): void {
    if (isFatal(cause)) {
      const reason = asError(cause).message;
      this.#health = { state: "failed", reason };
      const isKnown = cause instanceof StoreFailure;
      this.#deps.onFatal(isKnown ? cause : new StoreFailure("corrupt", reason, { cause }));
    }
    this.#ledgers.rebuildTentative([]);
    const fault = commitFault(cause);
    for (const { pending } of decided) pending.reject(fault);
  }

  #internalFault(command: Command, cause: unknown): Fault {
    this.#deps.observer.commandFailed(command.kind, asError(cause));
    return new Fault("internal", "the broker failed to decide this; nothing was reserved", { cause });
  }

  #moment() {
    return { now: this.now(), policy: this.#policy };
  }
}
