import type { PolicyName, Provider, RequestOutcome } from "./replay-trace.ts";
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
  const rooms = new Map(providers.map(({ cluster, cpus }) => [cluster, roomOf(cpus)]));
  const running: { readonly endsAtMs: number; readonly ask: TraceRequest; readonly provider: string }[] = [];
  for (const [index, { provider }] of outcomes.entries()) {
    const ask = trace[index];
    if (ask === undefined) continue;
    releaseExpired(running, rooms, ask.atMs);
    const room = provider === undefined ? undefined : rooms.get(provider);
    if (provider === undefined || room === undefined) {
      const open = [...rooms].filter(([, left]) => hasRoom(left, ask)).map(([cluster]) => cluster);
      if (open.length > 0) wrong.push(`${policy}: request ${index} was refused, but ${open[0]} had room`);
      continue;
    }
    if (!hasRoom(room, ask))
      wrong.push(`${policy}: request ${index} was granted by ${provider}, which had no room`);
    take(room, ask, 1);
    running.push({ endsAtMs: ask.atMs + ask.durationMs, ask, provider });
  }
  return wrong;
}

interface FreeAmounts {
  cpuMillis: number;
  memoryBytes: number;
}

type Rooms = ReadonlyMap<string, FreeAmounts>;

const GIB_PER_CPU = 4;
const roomOf = (cpus: number): FreeAmounts => ({
  cpuMillis: cpus * MILLIS,
  memoryBytes: cpus * GIB_PER_CPU * 2 ** 30,
});

const hasRoom = (room: FreeAmounts, ask: TraceRequest): boolean =>
  room.cpuMillis >= ask.cpuMillis && room.memoryBytes >= ask.memoryBytes;

function take(room: FreeAmounts, ask: TraceRequest, times: 1 | -1): void {
  room.cpuMillis -= times * ask.cpuMillis;
  room.memoryBytes -= times * ask.memoryBytes;
}

function releaseExpired(
  running: { readonly endsAtMs: number; readonly ask: TraceRequest; readonly provider: string }[],
  rooms: Rooms,
  nowMs: number,
): void {
  for (let index = running.length - 1; index >= 0; index--) {
    const reservation = running[index];
    const room = reservation === undefined ? undefined : rooms.get(reservation.provider);
    if (reservation === undefined || room === undefined || reservation.endsAtMs > nowMs) continue;
    take(room, reservation.ask, -1);
    running.splice(index, 1);
  }
}

function cpuHoursOf({ cpuMillis }: TraceRequest, durationMs: number): number {
  return (cpuMillis / MILLIS) * (durationMs / HOUR_MS);
}

function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
