import type { Clock } from "@resource-broker/base";
import type { DecisionContext, DecisionId, Outcome } from "@resource-broker/domain";
import type { Decided } from "./batch.ts";
import type { EngineObserver } from "./engine-observer.ts";
import type { LedgerPair } from "./ledger-pair.ts";

/** A look at the queue ends after so many grants or milliseconds, so that other calls go on between. */
const MAX_ADMITTED = 64;
const MAX_ADMITTING_MS = 5;

interface AdmitDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Names the decision about a request that waited. */
  readonly newDecisionId: () => DecisionId;
  readonly observer: Pick<EngineObserver, "planned">;
}

/** Nobody waits for a reply to the engine's own commands. */
const NO_CALLER = { resolve: () => {}, reject: () => {} };

/** Of the command that asks for a look: what the look finds is decided by commands of its own. */
export const LOOKED: Outcome = { events: [], reply: { kind: "admitted", hasMore: false } };

/** Grants waiting requests, one after the other, until no other fits or it is somebody else's turn. */
export function admitWaiting(
  ledgers: LedgerPair,
  moment: DecisionContext,
  { clock, newDecisionId, observer }: AdmitDeps,
): Decided[] {
  const decided: Decided[] = [];
  const endsAt = clock.monotonicMs() + MAX_ADMITTING_MS;
  for (let count = 0; count < MAX_ADMITTED && clock.monotonicMs() < endsAt; count++) {
    const command = { kind: "admit", decisionId: newDecisionId() } as const;
    const outcome = ledgers.decide(command, moment);
    for (const event of outcome.events) if (event.kind === "settled") observer.planned(event.plans);
    if (outcome.events.length > 0) decided.push({ pending: { command, ...NO_CALLER }, outcome });
    if (outcome.reply.kind !== "admitted" || !outcome.reply.hasMore) break;
  }
  return decided;
}

/** Advertisements come often, and each may offer a little more: the queue is looked at this often because of them. */
const AFTER_ADVERTISEMENT_MS = 250;
/** What lets a request in without an event: a refusal that is forgotten, a requester that speaks again, a new policy. */
const LOOK_EVERY_MS = 30_000;
/** After a look that failed: the store does not work, or another replica leads. */
const LOOK_AGAIN_MS = 1000;

export interface AdmissionDeps {
  readonly clock: Pick<Clock, "after">;
  /** True when no waiting request can be granted, as far as is known. */
  readonly isSettled: () => boolean;
  readonly isAnyoneWaiting: () => boolean;
  /** Looks at the queue, in the next batch. */
  readonly admit: () => Promise<unknown>;
}

/** Decides when the queue is looked at. At most one look is under way. */
export class Admission {
  readonly #deps: AdmissionDeps;
  #cancel: (() => void) | undefined;
  #isLooking = false;
  /** The next look comes earlier than its turn. */
  #isSoon = false;
  #isStopped = false;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** A batch was committed: what it freed is given on at once. */
  batchCommitted(): void {
    if (!this.#deps.isAnyoneWaiting()) return this.#sleep(undefined);
    if (!this.#deps.isSettled()) return this.#sleep(0);
    // The next look is not put off: on a busy broker it would never come.
    if (this.#cancel === undefined || this.#isSoon) this.#sleep(LOOK_EVERY_MS);
  }

  /** An advertisement came, outside of any batch. */
  advertised(): void {
    if (this.#deps.isAnyoneWaiting() && !this.#deps.isSettled() && !this.#isSoon)
      this.#sleep(AFTER_ADVERTISEMENT_MS);
  }

  /** The rules have changed. */
  policyChanged(): void {
    if (this.#deps.isAnyoneWaiting()) this.#sleep(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #sleep(milliseconds: number | undefined): void {
    if (this.#isStopped || this.#isLooking) return;
    this.#cancel?.();
    this.#isSoon = milliseconds !== undefined && milliseconds < LOOK_EVERY_MS;
    this.#cancel =
      milliseconds === undefined ? undefined : this.#deps.clock.after(milliseconds, () => void this.#look());
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    this.#cancel = undefined;
    let hasFailed = false;
    try {
      await this.#deps.admit();
    } catch {
      hasFailed = true; // already reported to the observer
    }
    this.#isLooking = false;
    if (hasFailed) this.#sleep(LOOK_AGAIN_MS);
    else this.batchCommitted();
  }
}
