import type { Command, Outcome, Reply } from "@resource-broker/domain";

/** A command and the caller who waits for its answer. */
export interface Pending {
  readonly command: Command;
  /** Of an advertisement, which was decided when it came: only its commit is waited for. */
  readonly outcome?: Outcome;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** Commands that wait for the next batch. Other commands go first, in order of arrival; requests follow by priority. */
export class CommandQueue {
  #waiting: Pending[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  push(pending: Pending): void {
    this.#waiting.push(pending);
  }

  /** Takes the next batch, at most `limit` commands, the most urgent first. */
  take(limit: number): Pending[] {
    const ordered = this.#waiting.length > 1 ? byUrgency(this.#waiting) : this.#waiting;
    this.#waiting = ordered.slice(limit);
    return ordered.slice(0, limit);
  }
}

/** Sorting is stable: equals keep the order of arrival. */
function byUrgency(waiting: readonly Pending[]): Pending[] {
  return waiting.toSorted((a, b) => urgency(b.command) - urgency(a.command));
}

/** Releases and renewals go before requests: they need no capacity and may free some. */
function urgency(command: Command): number {
  return command.kind === "reserve" ? command.request.priority : Number.MAX_VALUE;
}
