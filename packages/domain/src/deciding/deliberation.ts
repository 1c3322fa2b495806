import type { Appraiser } from "./appraise.ts";
import type { Filter, FilterName, Question } from "./filters.ts";
import type { RosterView } from "./roster.ts";
import type { Scale } from "./scorers.ts";

/** The candidates that passed all filters. */
export interface Sieve {
  readonly filters: readonly Filter[];
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  /** Positions in the table of the candidates that fit; `headrooms` and `prices` have the same order. */
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
}

/** Input of the decision record: filter result, context and scores. */
export interface Deliberation extends Sieve {
  readonly question: Question;
  readonly appraiser: Appraiser;
  readonly roster: RosterView;
  readonly scale: Scale;
  readonly scores: Float64Array;
}
