import type { Context } from "../../evaluation-test.ts";
import type { Pair, VirtualNodes } from "./results.ts";

/** What is told to the process that lives among the clusters. */
export interface MeasureCommand {
  readonly programs: Context["programs"];
  readonly folder: string;
  readonly trials: Readonly<Record<Pair, number>>;
}

/** What it tells. */
export type Report =
  | { readonly kind: "progress"; readonly share: number; readonly doing: string }
  | { readonly kind: "result"; readonly result: VirtualNodes };
