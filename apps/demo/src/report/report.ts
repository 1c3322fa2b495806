import type { DemoUpdate } from "../news/news.ts";

/** Whoever shows a person, a file or a program what happens. */
export interface Reporter {
  /** Before anything else, with the clusters that will come. */
  readonly start: (names: readonly string[]) => void;
  readonly update: (news: DemoUpdate) => void;
  /** Gives back what it took, such as the terminal; more than once does no harm. */
  readonly stop: () => void;
}
