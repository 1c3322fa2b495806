import type { News } from "../news/news.ts";

/** Whoever shows a person, a file or a program what happens. */
export interface Report {
  /** Before anything else, with the clusters that will come. */
  readonly start: (names: readonly string[]) => void;
  readonly tell: (news: News) => void;
  /** Gives back what it took, such as the terminal; more than once does no harm. */
  readonly stop: () => void;
}
