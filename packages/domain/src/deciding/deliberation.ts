import type { Appraiser } from "./appraise.ts";
import type { Filter, FilterName, Question } from "./filters.ts";
import type { RosterView } from "./roster.ts";
import type { Scale } from "./scorers.ts";

/** What is left when every filter has had its say. */
export interface Sieve {
  readonly filters: readonly Filter[];
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  /** Positions in the roster of those that fit; headroom and price stand side by side with them. */
  readonly fitting: Int32Array;
  readonly headrooms: Float64Array;
  readonly prices: Float64Array;
}

/** All that came up while deciding. */
export interface Deliberation extends Sieve {
  readonly question: Question;
  readonly appraiser: Appraiser;
  readonly roster: RosterView;
  readonly scale: Scale;
  readonly scores: Float64Array;
}
