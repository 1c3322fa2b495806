import { fits } from "@resource-broker/base";
import type { Kept, Waiting } from "@resource-broker/domain";
import { barredBy, inOrder } from "@resource-broker/domain/testing";
import { type FleetSimulation, requestOf } from "./fleet-simulation.ts";
import type { Job } from "./job-trace.ts";
import { type FirstInQueue, StartPromises } from "./start-promises.ts";

/** The engine looks at the queue this often, whatever happens. */
const LOOK_EVERY_MS = 30_000;
const CHECK_EVERY_MS = 10 * 60_000;

export interface LedgerQueueOptions {
  readonly waitForMs: number;
  /** How long the commands that look at the queue take; absent: not measured. */
  readonly clock?: () => number;
}

/** A request that waits though a provider that keeps nothing for others has room for it. */
export interface IdleWait {
  readonly id: string;
  readonly provider: string;
  readonly at: number;
}

/** Requests wait in the ledger's queue, which is looked at as the engine does. */
export class LedgerQueue {
  readonly promises = new StartPromises();
  readonly idleWaits: IdleWait[] = [];
  /** Of each look for one that fits, in milliseconds. */
  readonly lookMs: number[] = [];
  /** Not even let wait. */
  readonly refused: string[] = [];
  mostWaiting = 0;
  readonly #fleet: FleetSimulation;
  readonly #options: LedgerQueueOptions;
  #lookedAt = 0;
  #checkedAt = 0;

  constructor(fleet: FleetSimulation, options: LedgerQueueOptions) {
    this.#fleet = fleet;
    this.#options = options;
    fleet.afterStep = () => this.#lookIfDue();
    fleet.onUnqueued = (id) => this.promises.neverStarted(id, fleet.now);
  }

  arrive(job: Job): void {
    const { id, requester, tenant } = job;
    this.#look();
    const reply = this.#fleet.perform({
      kind: "reserve",
      requester,
      request: requestOf(job),
      key: id,
      wait: { forMs: this.#options.waitForMs },
      namespace: tenant,
      protocol: 3,
      reservationId: id,
      decisionId: this.#fleet.newDecisionId(),
    });
    if (reply.kind === "rejected") this.refused.push(id);
    if (reply.kind === "granted" && job.priority > (this.#first()?.priority ?? 0)) this.promises.overtaken();
    this.mostWaiting = Math.max(this.mostWaiting, this.#fleet.ledger.waiting.pendingCount);
  }

  #lookIfDue(): void {
    const { now } = this.#fleet;
    if (now - this.#lookedAt >= LOOK_EVERY_MS) this.#admit();
    else this.#look();
    if (now - this.#checkedAt >= CHECK_EVERY_MS) this.#check();
  }

  /** Whoever waits comes before a newcomer. */
  #look(): void {
    if (!this.#fleet.ledger.isSettled) this.#admit();
  }

  #admit(): void {
    const fleet = this.#fleet;
    this.#lookedAt = fleet.now;
    for (let hasMore = fleet.ledger.waiting.pendingCount > 0; hasMore; ) {
      // Its plan is that of the last look: no promise is made by it.
      const first = this.#first();
      this.promises.isFirst(first && { id: first.id }, fleet.now);
      const before = this.#options.clock?.();
      const reply = fleet.perform({ kind: "admit", decisionId: fleet.newDecisionId() });
      if (before !== undefined) this.lookMs.push((this.#options.clock?.() ?? before) - before);
      if (reply.kind !== "admitted") throw new Error(`no look at the queue: ${reply.kind}`);
      if (reply.granted !== undefined) this.promises.started(reply.granted.id, fleet.now);
      hasMore = reply.hasMore;
    }
    this.promises.isFirst(this.#first(), fleet.now);
  }

  /** Whoever is nominated goes before the others of its priority. */
  #first(): (FirstInQueue & { readonly priority: number }) | undefined {
    const { ledger, policy } = this.#fleet;
    const inTurn = this.#firstInTurn();
    if (inTurn === undefined) return undefined;
    const { priority } = inTurn.request;
    const isNominated = ({ from, ...kept }: Kept): boolean =>
      from === undefined && kept.priority === priority;
    const nomination = ledger.candidateTable.candidates.find(({ kept }) => kept && isNominated(kept))?.kept;
    const { id = inTurn.id, roomBy } = nomination ?? {};
    const from = roomBy === undefined ? ledger.plans.get(id)?.from : roomBy + policy.queue.turnaroundMs;
    return { id, priority, ...(from === undefined ? {} : { from }) };
  }

  #firstInTurn(): Waiting | undefined {
    const { ledger, policy } = this.#fleet;
    if (ledger.waiting.pendingCount === 0) return undefined;
    for (const queued of inOrder(ledger, policy))
      if (barredBy(ledger, queued, this.#fleet) === undefined) return queued.entry;
    return undefined;
  }

  /** Looks through all that wait, without the ledger's own rules. */
  #check(): void {
    const { ledger, now } = this.#fleet;
    this.#checkedAt = now;
    for (const { entries } of ledger.waiting.lines()) {
      for (const entry of entries) {
        const provider = this.#roomFor(entry);
        if (provider !== undefined) this.idleWaits.push({ id: entry.id, provider, at: now });
      }
    }
  }

  #roomFor({ requester, request }: Waiting): string | undefined {
    return this.#fleet.ledger.candidateTable.candidates.find(
      ({ clusterId, kept, available }) =>
        clusterId !== requester && kept === undefined && fits(request.resources, available),
    )?.clusterId;
  }
}
