import type { Candidate } from "./candidate.ts";
import type { Filter, FilterName, Question } from "./filters.ts";
import type { Scale } from "./scorers.ts";

/** What is left when every filter has had its say. */
export interface Sieve {
  readonly filters: readonly Filter[];
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  readonly fitting: readonly Candidate[];
  /** Of the fitting ones, side by side: flat numbers, so that scoring does not touch the candidates again. */
  readonly headrooms: readonly number[];
  readonly prices: readonly number[];
}

/** All that came up while deciding. */
export interface Deliberation extends Sieve {
  readonly question: Question;
  readonly candidates: readonly Candidate[];
  readonly scale: Scale;
  readonly scores: readonly number[];
}
