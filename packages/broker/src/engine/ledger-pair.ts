import {
  apply,
  type Command,
  cloneLedger,
  decide,
  emptyLedger,
  isSoft,
  type Ledger,
  type LedgerEvent,
  type LedgerView,
  type Moment,
  type Outcome,
} from "@resource-broker/domain";

/** What is durable, and beside it what will be when the commit under way succeeds. */
export class LedgerPair {
  #committed: Ledger = emptyLedger();
  #tentative: Ledger = emptyLedger();

  get committed(): LedgerView {
    return this.#committed;
  }

  /** Begins with what the store holds. */
  load(ledger: Ledger): void {
    this.#committed = ledger;
    this.#tentative = cloneLedger(ledger);
  }

  /** Decides on the tentative ledger and makes it so there; what is soft is true at once. */
  decide(command: Command, moment: Moment): Outcome {
    const outcome = decide(this.#tentative, command, moment);
    for (const event of outcome.events) {
      apply(this.#tentative, event);
      if (isSoft(event)) apply(this.#committed, event);
    }
    return outcome;
  }

  /** What would come of it; nothing changes. */
  consider(command: Command, moment: Moment): Outcome {
    return decide(this.#committed, command, moment);
  }

  /** These events are durable now. */
  confirm(events: readonly LedgerEvent[]): void {
    for (const event of events) apply(this.#committed, event);
  }

  /** Draws the tentative ledger anew: what is committed, plus what may still become so. */
  redraw(expected: readonly LedgerEvent[]): void {
    this.#tentative = cloneLedger(this.#committed);
    for (const event of expected) if (!isSoft(event)) apply(this.#tentative, event);
  }
}
