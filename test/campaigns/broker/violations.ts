import { setTimeout as sleep } from "node:timers/promises";
import {
  add,
  describeResources,
  equals,
  fits,
  NO_RESOURCES,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";
import { isLive } from "@resource-broker/domain";
import type { LedgerReservation, LedgerSnapshot, ProviderTotals } from "./ledger-snapshot.ts";
import type { TrackedRequest } from "./tracked-request.ts";

const GI = 2 ** 30;

/** A provider that said, and was answered, that nothing is left to lend. */
export interface Drained {
  readonly provider: string;
  /** So many orders had been made by then: none of the later ones may be served there. */
  readonly requestsBefore: number;
}

/** Compares what clients were told with what the broker has. Nobody may be changing it meanwhile. */
export function violations(
  requests: readonly TrackedRequest[],
  { reservations, providers }: LedgerSnapshot,
  drained?: Drained,
): string[] {
  const byKey = groupByKey(reservations);
  return [
    ...(drained === undefined ? [] : lentByDrained(requests, byKey, drained)),
    ...requests.flatMap((request) =>
      violationsOf(request, byKey.get(nameOf(request.requester, request.key)) ?? []),
    ),
    ...unrequested(requests, byKey),
    ...providers.flatMap((provider) => wrongSums(provider, reservations)),
  ];
}

function violationsOf(request: TrackedRequest, found: readonly LedgerReservation[]): string[] {
  const { acknowledged, unanswered, key, requester } = request;
  const name = `${key} of ${requester}`;
  const [reservation] = found;
  if (found.length > 1) return [`${name} is booked ${found.length} times`];
  if (reservation === undefined) {
    return acknowledged === undefined ? [] : [`${name} was acknowledged as ${acknowledged.id} and is lost`];
  }
  if (acknowledged === undefined) {
    // A refusal that was heard is final; only what nobody answered may have been booked.
    return unanswered > 0 ? [] : [`${name} is booked though every attempt was refused`];
  }
  return [...wrongReservation(acknowledged, request, reservation), ...wrongPhase(request, reservation)].map(
    (problem) => `${name}: ${problem}`,
  );
}

function wrongReservation(
  acknowledged: NonNullable<TrackedRequest["acknowledged"]>,
  { size }: TrackedRequest,
  { id, provider, granted }: LedgerReservation,
): string[] {
  const problems: string[] = [];
  if (id !== acknowledged.id || provider !== acknowledged.provider) {
    const expected = `acknowledged as ${acknowledged.id} at ${acknowledged.provider}`;
    problems.push(`${expected}, booked as ${id} at ${provider}`);
  }
  const ordered = resourceVector({ cpuMillis: size.cpu * 1000, memoryBytes: size.memoryGi * GI });
  if (!equals(granted, ordered)) problems.push(`holds ${describeResources(granted)}`);
  return problems;
}

function wrongPhase({ release }: TrackedRequest, { phase }: LedgerReservation): string[] {
  if (release === "acknowledged" && isLive(phase)) return ["was released and lives"];
  return release === "not asked" && !isLive(phase) ? [`is ${phase}, and nobody asked for that`] : [];
}

function groupByKey(reservations: readonly LedgerReservation[]): Map<string, LedgerReservation[]> {
  const byKey = new Map<string, LedgerReservation[]>();
  for (const reservation of reservations) {
    const name = nameOf(reservation.requester, reservation.key ?? "");
    byKey.set(name, [...(byKey.get(name) ?? []), reservation]);
  }
  return byKey;
}

function unrequested(
  requests: readonly TrackedRequest[],
  byKey: ReadonlyMap<string, readonly LedgerReservation[]>,
): string[] {
  const ordered = new Set(requests.map(({ requester, key }) => nameOf(requester, key)));
  return [...byKey.keys()].filter((name) => !ordered.has(name)).map((name) => `nobody ordered ${name}`);
}

function wrongSums(
  { clusterId, allocatable, reserved }: ProviderTotals,
  reservations: readonly LedgerReservation[],
): string[] {
  const held = heldAt(clusterId, reservations);
  const problems: string[] = [];
  if (!fits(held, allocatable)) {
    problems.push(`${clusterId} lends ${describeResources(held)} and has ${describeResources(allocatable)}`);
  }
  if (!equals(held, reserved)) {
    problems.push(
      `${clusterId}: the broker counts ${describeResources(reserved)}, held are ${describeResources(held)}`,
    );
  }
  return problems;
}

function lentByDrained(
  requests: readonly TrackedRequest[],
  byKey: ReadonlyMap<string, readonly LedgerReservation[]>,
  { provider, requestsBefore }: Drained,
): string[] {
  const found = requests
    .slice(requestsBefore)
    .flatMap(({ requester, key }) => byKey.get(nameOf(requester, key)) ?? []);
  return found
    .filter((reservation) => reservation.provider === provider)
    .map(
      ({ id, key }) => `${provider} lends ${id} (${key}), and was answered before that it has nothing left`,
    );
}

function heldAt(clusterId: string, reservations: readonly LedgerReservation[]): ResourceVector {
  let total = NO_RESOURCES;
  for (const { provider, phase, granted } of reservations) {
    if (provider === clusterId && isLive(phase)) total = add(total, granted);
  }
  return total;
}

function nameOf(requester: string, key: string): string {
  return `${requester}/${key}`;
}

const SETTLE_MS = 500;

interface SnapshotCheck {
  readonly snapshot: LedgerSnapshot;
  /** What of them is wrong. */
  readonly problems: readonly string[];
}

/**
 * Compares what clients were told with the books of a broker that runs. A call whose client hung up may still be carried
 * out while they are read, page by page: books that look wrong are read again, and judged when they no longer change.
 */
export async function checkSnapshot(
  requests: readonly TrackedRequest[],
  read: () => Promise<LedgerSnapshot>,
  drained?: Drained,
): Promise<SnapshotCheck> {
  let snapshot = await read();
  for (;;) {
    const problems = violations(requests, snapshot, drained);
    if (problems.length === 0) return { snapshot, problems };
    await sleep(SETTLE_MS);
    const again = await read();
    if (JSON.stringify(again) === JSON.stringify(snapshot)) return { snapshot, problems };
    snapshot = again;
  }
}
