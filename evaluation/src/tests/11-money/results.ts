import { mean } from "../../measure/statistics.ts";
import { GIB_PER_CPU, type PolicyName, type Provider, type RequestOutcome } from "./replay-trace.ts";
import type { TraceRequest } from "./trace.ts";

const HOUR_MS = 3_600_000;
const MILLIS = 1000;

/** What a policy made of the trace. */
export interface PolicyMetrics {
  readonly policy: PolicyName;
  readonly granted: number;
  readonly refused: number;
  /** Of everything that was granted, for its whole duration. */
  readonly cost: number;
  /** Comparable though policies refuse different requests. */
  readonly costPerThousandCpuHours: number;
  /** Mean share of each provider's CPU that was lent while the trace lasted, in percent. */
  readonly utilisation: Readonly<Record<string, number>>;
  /** Standard deviation of those shares, in percentage points: 0 means that all lend alike. */
  readonly spread: number;
}

export interface PolicyRun {
  readonly policy: PolicyName;
  readonly outcomes: readonly RequestOutcome[];
}

export interface TraceSetup {
  readonly trace: readonly TraceRequest[];
  readonly providers: readonly Provider[];
  readonly lastsMs: number;
}

export function metricsOf(
  { policy, outcomes }: PolicyRun,
  { trace, providers, lastsMs }: TraceSetup,
): PolicyMetrics {
  const lent = new Map<string, number>();
  let cost = 0;
  let granted = 0;
  let cpuHours = 0;
  for (const [index, { provider, price = 0 }] of outcomes.entries()) {
    const ask = trace[index];
    if (provider === undefined || ask === undefined) continue;
    granted++;
    cost += price;
    cpuHours += cpuHoursOf(ask, ask.durationMs);
    const within = Math.min(ask.durationMs, lastsMs - ask.atMs);
    lent.set(provider, (lent.get(provider) ?? 0) + cpuHoursOf(ask, within));
  }
  const utilisation = Object.fromEntries(
    providers.map(({ cluster, cpus }) => [
      cluster,
      (100 * (lent.get(cluster) ?? 0)) / (cpus * (lastsMs / HOUR_MS)),
    ]),
  );
  return {
    policy,
    granted,
    refused: outcomes.length - granted,
    cost,
    costPerThousandCpuHours: cpuHours === 0 ? 0 : (1000 * cost) / cpuHours,
    utilisation,
    spread: standardDeviation(Object.values(utilisation)),
  };
}

/**
 * Counts the loans a second time, from the trace alone: whether a provider ever lent more than it has, and whether anybody
 * was refused though somebody had room.
 */
export function wrongOutcomes({ policy, outcomes }: PolicyRun, { trace, providers }: TraceSetup): string[] {
  const wrong: string[] = [];
  let running: { readonly endsAtMs: number; readonly ask: TraceRequest; readonly provider: string }[] = [];
  const hasRoom = ({ cluster, cpus }: Provider, wanted: TraceRequest): boolean => {
    const all = [wanted, ...running.filter(({ provider }) => provider === cluster).map(({ ask }) => ask)];
    const sum = (of: (ask: TraceRequest) => number): number => all.reduce((total, ask) => total + of(ask), 0);
    const room = { cpuMillis: cpus * MILLIS, memoryBytes: cpus * GIB_PER_CPU * 2 ** 30 };
    return (
      sum(({ cpuMillis }) => cpuMillis) <= room.cpuMillis &&
      sum(({ memoryBytes }) => memoryBytes) <= room.memoryBytes
    );
  };
  for (const [index, { provider: name }] of outcomes.entries()) {
    const ask = trace[index];
    if (ask === undefined) continue;
    running = running.filter(({ endsAtMs }) => endsAtMs > ask.atMs);
    const provider = providers.find(({ cluster }) => cluster === name);
    if (provider === undefined) {
      const open = providers.find((each) => hasRoom(each, ask));
      if (open !== undefined)
        wrong.push(`${policy}: request ${index} was refused, but ${open.cluster} had room`);
      continue;
    }
    if (!hasRoom(provider, ask))
      wrong.push(`${policy}: request ${index} was granted by ${name}, which had no room`);
    running.push({ endsAtMs: ask.atMs + ask.durationMs, ask, provider: provider.cluster });
  }
  return wrong;
}

function cpuHoursOf({ cpuMillis }: TraceRequest, durationMs: number): number {
  return (cpuMillis / MILLIS) * (durationMs / HOUR_MS);
}

function standardDeviation(values: readonly number[]): number {
  const middle = mean(values) ?? 0;
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)) ?? 0);
}
