import type { Distribution } from "../../measure/statistics.ts";
import type { Measures } from "./measures.ts";
import type { QueueRun, Way } from "./replay.ts";

export interface WayMeasures extends Measures {
  readonly way: Way;
  readonly calls: number;
  readonly written: number;
}

export interface WaitingResult {
  readonly jobs: number;
  readonly lastsHours: number;
  readonly load: number;
  readonly clusters: number;
  readonly cpus: number;
  readonly ways: readonly WayMeasures[];
  readonly queue: Omit<QueueRun, "lookMs"> & { readonly lookMs: Distribution | undefined };
  readonly overlent: readonly string[];
}
