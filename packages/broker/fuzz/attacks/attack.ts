import type { SeededRandom } from "@resource-broker/testkit";
import type { FuzzEnvironment } from "../arena.ts";

export interface Attack {
  readonly name: string;
  /** How often it is chosen, compared with the others. */
  readonly weight: number;
  /** Returns what should not have happened, in words. */
  readonly run: (arena: FuzzEnvironment, random: SeededRandom) => Promise<string | undefined>;
}
