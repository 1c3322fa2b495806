import { type Distribution, distributionOf } from "../../measure/statistics.ts";

/** "first": the clusters are not peered before. "next": they are, and another reservation is there. */
export const PAIRS = ["first", "next"] as const;
export type Pair = (typeof PAIRS)[number];
/** Through a ResourceRequest, or with liqoctl, typed by somebody who knows every name and never pauses. */
export type Way = "request" | "liqoctl";

/** In ms since the creation of the request was sent, or since liqoctl was started. */
export interface Trial {
  readonly way: Way;
  readonly pair: Pair;
  /** Until the ReservationInstruction is there; absent with liqoctl. */
  readonly instructionMs?: number;
  /** Until the node is Ready with exactly what was asked for. */
  readonly readyMs: number;
}

export interface Failure {
  readonly trial: string;
  readonly problem: string;
}

export interface Measured {
  readonly kind: "measured";
  readonly trials: readonly Trial[];
  readonly failures: readonly Failure[];
}

/** A machine without Liqo's programs, or without network namespaces, is no fault. */
export type VirtualNodes = Measured | { readonly kind: "not measured"; readonly reason: string };

export function readyStatistics(trials: readonly Trial[], way: Way, pair: Pair): Distribution | undefined {
  return distributionOf(chosen(trials, way, pair).map(({ readyMs }) => readyMs));
}

export function instructionStatistics(trials: readonly Trial[], pair: Pair): Distribution | undefined {
  return distributionOf(chosen(trials, "request", pair).flatMap(({ instructionMs }) => instructionMs ?? []));
}

function chosen(trials: readonly Trial[], way: Way, pair: Pair): Trial[] {
  return trials.filter((trial) => trial.way === way && trial.pair === pair);
}

export function virtualNodeFaults(result: VirtualNodes): string[] {
  if (result.kind === "not measured") return [];
  const failures = result.failures.map(({ trial, problem }) => `${trial}: ${problem}`);
  return result.trials.length === 0 ? [...failures, "no trial came to its end"] : failures;
}
