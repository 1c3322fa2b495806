import { type Distribution, distributionOf } from "../../measure/statistics.ts";

/** The steps of a reservation, in the order in which people tell them; each since the request was created. */
export const STEPS = ["reserved", "reservationInstruction", "providerInstruction", "total"] as const;
export type Step = (typeof STEPS)[number];

/** All in ms since the creation of the ResourceRequest was sent. */
export interface Trial {
  /** The API server has stored it. */
  readonly created: number;
  readonly reserved: number;
  readonly reservationInstruction: number;
  readonly providerInstruction: number;
}

/** One that did not come to its end. */
export interface Failure {
  readonly trial: string;
  readonly problem: string;
}

/** Of one broker. */
export interface BrokerLatency {
  readonly subject: string;
  readonly trials: readonly Trial[];
  readonly failures: readonly Failure[];
}

/** Until the last of the three is there: which one that is differs from trial to trial. */
export function valueOf(trial: Trial, step: Step): number {
  const { reserved, reservationInstruction, providerInstruction } = trial;
  return step === "total" ? Math.max(reserved, reservationInstruction, providerInstruction) : trial[step];
}

export function statisticsOf(
  { trials }: Pick<BrokerLatency, "trials">,
  step: Step,
): Distribution | undefined {
  return distributionOf(trials.map((trial) => valueOf(trial, step)));
}

export function latencyFaults({ trials, failures }: BrokerLatency): string[] {
  return [
    ...failures.map(({ trial, problem }) => `${trial}: ${problem}`),
    ...(trials.length === 0 ? ["no trial came to its end"] : []),
  ];
}
