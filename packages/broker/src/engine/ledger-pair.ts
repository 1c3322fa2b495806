import {
  apply,
  type Command,
  cloneLedger,
  type DecisionContext,
  decide,
  emptyLedger,
  type Instant,
  isSettledAt,
  isSoft,
  type Ledger,
  type LedgerEvent,
  ledgerFrom,
  type LedgerRecords,
  type LedgerView,
  type Outcome,
  type Policy,
  spareFor,
  unsettle,
  utcDay,
} from "@resource-broker/domain";

/** The committed ledger, and the tentative ledger as it is when the commit in flight succeeds. */
export class LedgerPair {
  #committed: Ledger = emptyLedger();
  #tentative: Ledger = emptyLedger();

  get committed(): LedgerView {
    return this.#committed;
  }

  /** Loads the stored ledger. */
  load(records: LedgerRecords, { now, policy }: DecisionContext): void {
    this.#committed = ledgerFrom(records, now, sparedMs(policy));
    this.#tentative = cloneLedger(this.#committed);
  }

  /** True when no waiting request can be granted, as far as is known. */
  isSettledAt(now: Instant): boolean {
    return isSettledAt(this.#tentative, now);
  }

  /** It may let a waiting request in, and spares for another time what was read at the start. */
  policyChanged(policy: Policy): void {
    for (const ledger of [this.#committed, this.#tentative]) {
      spareFor(ledger, sparedMs(policy));
      unsettle(ledger);
    }
  }

  /** Decides on the tentative ledger and applies the events to it. Soft events are also applied to the committed ledger. */
  decide(command: Command, moment: DecisionContext): Outcome {
    const outcome = decide(this.#tentative, command, moment);
    for (const event of outcome.events) {
      apply(this.#tentative, event);
      if (isSoft(event)) apply(this.#committed, event);
    }
    return outcome;
  }

  /** Decides on the committed ledger without changing anything, as if no look at the queue were due. */
  evaluate(command: Command, moment: DecisionContext): Outcome {
    return decide({ ...this.#committed, isSettled: true, settledOn: utcDay(moment.now) }, command, moment);
  }

  /** These events are durable now. */
  confirm(events: readonly LedgerEvent[]): void {
    for (const event of events) apply(this.#committed, event);
  }

  /** Rebuilds the tentative ledger from the committed one and the events that may still be committed. */
  rebuildTentative(expected: readonly LedgerEvent[]): void {
    // What was found of the queue was true of the events that are given up.
    unsettle(this.#committed);
    this.#tentative = cloneLedger(this.#committed);
    for (const event of expected) if (!isSoft(event)) apply(this.#tentative, event);
  }
}

/** For so long after a start no request that waits fails, and nothing ends after a notice: the clusters have to speak first. */
function sparedMs({ stalenessMs }: Policy): number {
  return 2 * stalenessMs;
}
