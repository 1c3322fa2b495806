/** The request that is first of those that wait for capacity alone, and when it is planned to start. */
export interface FirstInQueue {
  readonly id: string;
  /** Absent: nothing is planned for it (yet). */
  readonly from?: number;
}

export interface LateStart {
  readonly id: string;
  readonly promisedAt: number;
  readonly promised: number;
  /** Absent: it has not started at all. */
  readonly started?: number;
}

interface StartPromise {
  readonly at: number;
  readonly from: number;
}

/**
 * No request starts later than the start that was computed when it became first. The promise ends when another rightly goes
 * before it, by priority or because its tenant has less: then it is no longer first, and gets a new promise when it is again.
 */
export class StartPromises {
  /** The promise of the first request was not kept. */
  readonly late: LateStart[] = [];
  /** Later than when it was first for the first time, because others rightly went before it. */
  readonly gaveWay: LateStart[] = [];
  readonly #earliest = new Map<string, StartPromise>();
  #first: string | undefined;
  #current: StartPromise | undefined;

  /** How many requests were told when they start. */
  get made(): number {
    return this.#earliest.size;
  }

  /** Before and after each look at the queue. */
  isFirst(first: FirstInQueue | undefined, now: number): void {
    if (first?.id !== this.#first) this.#current = undefined;
    this.#first = first?.id;
    if (first?.from === undefined || this.#current !== undefined) return;
    this.#current = { at: now, from: first.from };
    if (!this.#earliest.has(first.id)) this.#earliest.set(first.id, this.#current);
  }

  /** Another was granted that rightly goes before the first, without having waited. */
  overtaken(): void {
    this.#current = undefined;
  }

  started(id: string, now: number): void {
    this.#judge(id, now, { started: now });
  }

  /** It has left the queue, or the trace is over. */
  neverStarted(id: string, now: number): void {
    this.#judge(id, now, {});
  }

  #judge(id: string, now: number, started: Pick<LateStart, "started">): void {
    const earliest = this.#earliest.get(id);
    const current = this.#first === id ? this.#current : undefined;
    if (current !== undefined && now > current.from) this.late.push(lateStart(id, current, started));
    else if (earliest !== undefined && now > earliest.from)
      this.gaveWay.push(lateStart(id, earliest, started));
    if (this.#first === id) this.isFirst(undefined, now);
  }
}

function lateStart(id: string, { at, from }: StartPromise, started: Pick<LateStart, "started">): LateStart {
  return { id, promisedAt: at, promised: from, ...started };
}
