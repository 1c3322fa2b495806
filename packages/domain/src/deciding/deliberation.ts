import type { PreScoreState } from "./appraise.ts";
import type { Filter, FilterName, SchedulingContext } from "./filters.ts";
import type { CandidateTableView } from "./roster.ts";
import type { Scale } from "./scorers.ts";

/** The candidates that passed all filters. */
export interface FilterResult {
  readonly filters: readonly Filter[];
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  /** Positions in the table of the candidates that fit; `headrooms` and `prices` have the same order. */
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
}

/** Input of the decision record: filter result, context and scores. */
export interface ScoringResult extends FilterResult {
  readonly context: SchedulingContext;
  readonly preScored: PreScoreState;
  readonly table: CandidateTableView;
  readonly scale: Scale;
  readonly scores: Float64Array;
}
