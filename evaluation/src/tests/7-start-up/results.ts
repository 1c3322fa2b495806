import { type Distribution, distributionOf } from "../../measure/statistics.ts";

/** One agent from nothing to known. */
export interface Trial {
  /** brokerctl makes key and certificate. */
  readonly certificateMs: number;
  /** From the start of the process until it says that it starts: Node and the program are loaded, settings are read. */
  readonly processMs: number;
  /** From there until the broker has accepted its first advertisement. Absent: it never did. */
  readonly advertisementMs?: number;
  /** CPU time of the agent when the broker had heard it. */
  readonly cpuMs: number;
}

export interface StartUp {
  readonly trials: readonly Trial[];
}

export interface StartUpMetrics {
  readonly certificate: Distribution;
  readonly process: Distribution;
  readonly advertisement: Distribution;
  /** From the start of the process, certificates present. */
  readonly start: Distribution;
  /** With the certificate. */
  readonly total: Distribution;
  readonly cpu: Distribution;
}

/** Undefined: no trial came to its end. */
export function startUpMetrics({ trials }: StartUp): StartUpMetrics | undefined {
  const ended = trials.flatMap(({ advertisementMs, ...trial }) =>
    advertisementMs === undefined ? [] : [{ ...trial, advertisementMs }],
  );
  const of = (read: (trial: (typeof ended)[number]) => number): Distribution | undefined =>
    distributionOf(ended.map(read));
  const certificate = of(({ certificateMs }) => certificateMs);
  const process = of(({ processMs }) => processMs);
  const advertisement = of(({ advertisementMs }) => advertisementMs);
  const start = of(({ processMs, advertisementMs }) => processMs + advertisementMs);
  const total = of((trial) => trial.certificateMs + trial.processMs + trial.advertisementMs);
  const cpu = of(({ cpuMs }) => cpuMs);
  return certificate && process && advertisement && start && total && cpu
    ? { certificate, process, advertisement, start, total, cpu }
    : undefined;
}

/** The moment at which the agent said that it starts, from its log. Undefined: it has not. */
export function startedAt(logLines: readonly string[]): number | undefined {
  const line = logLines.find((each) => each.includes('"the agent starts"'));
  const time = line === undefined ? undefined : /"time":(\d+)/.exec(line)?.[1];
  return time === undefined ? undefined : Number(time);
}
