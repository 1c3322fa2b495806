/** One call as its caller saw it. Moments are places in one order of all that callers saw, not times. */
export interface Call<Operation, Result> {
  readonly operation: Operation;
  readonly invokedAt: number;
  /** Absent: nobody answered. It may have taken effect at any moment since, or never. */
  readonly returned?: { readonly at: number; readonly result: Result };
}

/** An object as it would behave if calls came one after the other. */
export interface Specification<State, Operation, Result> {
  readonly initial: State;
  /** Whatever was done stays visible: no call brings back a state that was there before. Two states are the same exactly when their names are. */
  readonly nameOf: (state: State) => string;
  /** Undefined: the call cannot be the next one in this state. `told`: the answer, where there was one. */
  readonly apply: (
    state: State,
    operation: Operation,
    told?: Result,
  ) => { readonly state: State; readonly result: Result } | undefined;
  /** What the object does by itself, at any moment between calls. Undefined: nothing in this state. */
  readonly step?: (state: State) => State | undefined;
  readonly isSame: (a: Result, b: Result) => boolean;
  /** Calls that nobody answered and that have the same name do the same, whichever of them it was. */
  readonly effectOf: (operation: Operation) => string;
}

export type LinearizabilityResult<Operation, Result> =
  | { readonly isLinearizable: true }
  /** Too many orders are possible: given up. */
  | { readonly isLinearizable: "undecided" }
  /** `stuck`: what could not come next, after the longest order that explains the beginning. */
  | { readonly isLinearizable: false; readonly stuck: readonly Call<Operation, Result>[] };

/** So many different situations are looked at: a minute at most. */
const MOST_SITUATIONS = 400_000;

/**
 * Looks for an order of the calls that keeps to who was answered before whom and that the specification explains:
 * the search of Wing and Gong, which never looks twice at the same answered calls and state.
 */
export function checkLinearizable<State, Operation, Result>(
  history: readonly Call<Operation, Result>[],
  specification: Specification<State, Operation, Result>,
): LinearizabilityResult<Operation, Result> {
  const search = new Search(history, specification);
  if (search.explains(specification.initial)) return { isLinearizable: true };
  return search.isGivenUp ? { isLinearizable: "undecided" } : { isLinearizable: false, stuck: search.stuck };
}

/** Places of calls in the history. */
interface Candidates {
  readonly answered: readonly number[];
  readonly unanswered: readonly number[];
}

class Search<State, Operation, Result> {
  readonly #calls: readonly Call<Operation, Result>[];
  readonly #specification: Specification<State, Operation, Result>;
  readonly #isPlaced: boolean[];
  readonly #seen = new Set<string>();
  #placed = 0;
  #answeredLeft: number;
  #furthest = -1;
  stuck: readonly Call<Operation, Result>[] = [];

  constructor(
    history: readonly Call<Operation, Result>[],
    specification: Specification<State, Operation, Result>,
  ) {
    this.#calls = history.toSorted((a, b) => a.invokedAt - b.invokedAt);
    this.#specification = specification;
    this.#isPlaced = this.#calls.map(() => false);
    this.#answeredLeft = this.#calls.filter(({ returned }) => returned !== undefined).length;
  }

  get isGivenUp(): boolean {
    return this.#seen.size >= MOST_SITUATIONS;
  }

  /** True when the calls that are not placed yet can follow in some order. */
  explains(state: State): boolean {
    if (this.#answeredLeft === 0) return true;
    if (this.isGivenUp || !this.#isNew(state)) return false;
    const { answered, unanswered } = this.#candidates();
    if (this.#placed > this.#furthest) {
      this.#furthest = this.#placed;
      const candidates = [...answered, ...unanswered];
      this.stuck = candidates.map((each) => this.#calls[each]).filter((call) => call !== undefined);
    }
    const tryNext = (each: number): boolean => this.#tryNext(each, state);
    // Answers may settle it; what nobody asked for happens soon, and unanswered calls at any time or never.
    return answered.some(tryNext) || this.#tryStep(state) || unanswered.some(tryNext);
  }

  #tryStep(state: State): boolean {
    const next = this.#specification.step?.(state);
    return next !== undefined && this.explains(next);
  }

  #tryNext(each: number, state: State): boolean {
    const call = this.#calls[each];
    if (call === undefined) return false;
    const { apply, isSame, nameOf } = this.#specification;
    const { returned } = call;
    const next = apply(state, call.operation, returned?.result);
    if (next === undefined) return false;
    // Where nobody was answered, only what changes something explains anything.
    const fits =
      returned === undefined ? nameOf(next.state) !== nameOf(state) : isSame(next.result, returned.result);
    if (!fits) return false;
    this.#place(each, true, returned !== undefined);
    if (this.explains(next.state)) return true;
    this.#place(each, false, returned !== undefined);
    return false;
  }

  #place(each: number, isPlaced: boolean, isAnswered: boolean): void {
    this.#isPlaced[each] = isPlaced;
    this.#placed += isPlaced ? 1 : -1;
    if (isAnswered) this.#answeredLeft += isPlaced ? -1 : 1;
  }

  /** Calls that nothing speaks against being the next: none of the others had returned before they began. */
  #candidates(): Candidates {
    let earliestReturn = Number.POSITIVE_INFINITY;
    const found: number[] = [];
    for (const [each, { invokedAt, returned }] of this.#calls.entries()) {
      if (this.#isPlaced[each] === true) continue;
      if (invokedAt > earliestReturn) break;
      found.push(each);
      earliestReturn = Math.min(earliestReturn, returned?.at ?? earliestReturn);
    }
    return this.#withoutTwins(found.filter((each) => (this.#calls[each]?.invokedAt ?? 0) < earliestReturn));
  }

  /** Of unanswered calls with the same effect the first stands for all. */
  #withoutTwins(candidates: readonly number[]): Candidates {
    const [answered, unanswered]: [number[], number[]] = [[], []];
    const effects = new Set<string>();
    for (const each of candidates) {
      const call = this.#calls[each];
      if (call === undefined) continue;
      const effect = call.returned === undefined ? this.#specification.effectOf(call.operation) : undefined;
      if (effect === undefined) answered.push(each);
      else if (!effects.has(effect)) unanswered.push(each);
      if (effect !== undefined) effects.add(effect);
    }
    return { answered, unanswered };
  }

  /** Which unanswered calls were placed does not matter beyond what they did; states must keep that for ever. */
  #isNew(state: State): boolean {
    const placed = this.#calls.map(({ returned }, each) =>
      returned === undefined ? "" : Number(this.#isPlaced[each]),
    );
    const name = `${placed.join("")} ${this.#specification.nameOf(state)}`;
    if (this.#seen.has(name)) return false;
    this.#seen.add(name);
    return true;
  }
}
