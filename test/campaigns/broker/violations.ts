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
import { isFinal, isLive } from "@resource-broker/domain";
import type { LedgerReservation, LedgerSnapshot, LedgerWaiting, ProviderTotals } from "./ledger-snapshot.ts";
import { mayLeave, problemsIn } from "./hear-reply.ts";
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
  { reservations, waiting, providers }: LedgerSnapshot,
  drained?: Drained,
): string[] {
  const byKey = groupByKey(reservations);
  const waitingByKey = groupByKey(waiting);
  return [
    ...(drained === undefined ? [] : lentByDrained(requests, byKey, drained)),
    ...requests.flatMap((request) => {
      const name = nameOf(request.requester, request.key);
      return violationsOf(request, byKey.get(name) ?? [], waitingByKey.get(name) ?? []);
    }),
    ...unrequested(requests, [...byKey.keys(), ...waitingByKey.keys()]),
    ...providers.flatMap((provider) => wrongSums(provider, reservations)),
  ];
}

function violationsOf(
  request: TrackedRequest,
  found: readonly LedgerReservation[],
  waiting: readonly LedgerWaiting[],
): string[] {
  const [reservation] = found;
  const [entry] = waiting;
  const name = `${request.key} of ${request.requester}`;
  if (found.length > 1) return [`${name} is booked ${found.length} times`];
  if (waiting.length > 1) return [`${name} waits ${waiting.length} times`];
  if (reservation !== undefined && entry !== undefined)
    return [`${name} is booked as ${reservation.id} and waits as ${entry.id}`];
  if (reservation !== undefined) return wrongBooking(request, reservation).map(withName(name));
  return (entry === undefined ? lost(request) : wrongEntry(request, entry)).map(withName(name));
}

function withName(name: string): (problem: string) => string {
  return (problem) => `${name} ${problem}`;
}

function lost({ acknowledged, queued }: TrackedRequest): string[] {
  if (acknowledged !== undefined) return [`was acknowledged as ${acknowledged.id} and is lost`];
  return queued === undefined ? [] : [`was told that it waits as ${queued.id} and is lost`];
}

function wrongBooking(request: TrackedRequest, reservation: LedgerReservation): string[] {
  const { acknowledged, queued } = request;
  // A refusal that was heard is final; only what nobody answered may have been booked.
  if (isUnknown(request)) return request.unanswered > 0 ? [] : ["is booked though every attempt was refused"];
  const { id, provider } = reservation;
  // Whoever waits is told of its provider when it asks again.
  const told = acknowledged ?? { id: queued?.id ?? "", provider };
  const problems = [...wrongReservation(told, request, reservation), ...wrongPhase(request, reservation)];
  if (request.hasLeft) problems.push(`has left the queue and is booked as ${id}`);
  return problems;
}

function wrongEntry(request: TrackedRequest, entry: LedgerWaiting): string[] {
  const { acknowledged, queued, waitFor, size, unanswered } = request;
  const told = acknowledged ?? queued ?? entry;
  return problemsIn([
    [waitFor === undefined, "waits and did not ask to"],
    [isUnknown(request) && unanswered === 0, "waits though every attempt was refused"],
    [told.id !== entry.id, `was told that it is ${told.id}, and waits as ${entry.id}`],
    [acknowledged !== undefined, `was acknowledged as ${acknowledged?.id} and waits`],
    [!equals(entry.asked, vectorOf(size)), `waits for ${describeResources(entry.asked)}`],
    ...(isFinal(entry.phase) ? wrongEnd(request, entry) : wrongWait(request)),
  ]);
}

function wrongWait({ hasLeft, release }: TrackedRequest): [boolean, string][] {
  return [[hasLeft || release === "acknowledged", "was released and waits"]];
}

function wrongEnd(
  request: TrackedRequest,
  { reason, until, endedAt = Number.NaN }: LedgerWaiting,
): [boolean, string][] {
  return [[!mayLeave(request, { reason, until, endedAt }), `left the queue by ${reason}`]];
}

function isUnknown({ acknowledged, queued }: TrackedRequest): boolean {
  return acknowledged === undefined && queued === undefined;
}

function wrongReservation(
  acknowledged: Pick<LedgerReservation, "id" | "provider">,
  { size }: TrackedRequest,
  { id, provider, granted }: LedgerReservation,
): string[] {
  const problems: string[] = [];
  if (id !== acknowledged.id || provider !== acknowledged.provider) {
    const expected = `acknowledged as ${acknowledged.id} at ${acknowledged.provider}`;
    problems.push(`${expected}, booked as ${id} at ${provider}`);
  }
  if (!equals(granted, vectorOf(size))) problems.push(`holds ${describeResources(granted)}`);
  return problems;
}

function vectorOf({ cpu, memoryGi }: TrackedRequest["size"]): ResourceVector {
  return resourceVector({ cpuMillis: cpu * 1000, memoryBytes: memoryGi * GI });
}

function wrongPhase({ release, isSpot }: TrackedRequest, { phase, reason }: LedgerReservation): string[] {
  if (release === "acknowledged" && isLive(phase)) return ["was released and lives"];
  if (reason === "Preempted") return isSpot ? [] : ["was preempted, and is not of the spot tier"];
  return release === "not asked" && !isLive(phase) ? [`is ${phase}, and nobody asked for that`] : [];
}

function groupByKey<T extends { readonly requester: string; readonly key: string | undefined }>(
  found: readonly T[],
): Map<string, T[]> {
  const byKey = new Map<string, T[]>();
  for (const each of found) {
    const name = nameOf(each.requester, each.key ?? "");
    const known = byKey.get(name);
    if (known === undefined) byKey.set(name, [each]);
    else known.push(each);
  }
  return byKey;
}

function unrequested(requests: readonly TrackedRequest[], found: readonly string[]): string[] {
  const ordered = new Set(requests.map(({ requester, key }) => nameOf(requester, key)));
  return found.filter((name) => !ordered.has(name)).map((name) => `nobody ordered ${name}`);
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

/** Who waits though there is room that is kept for nobody else, by what the broker says of both. */
export function waitingInVain({
  waiting,
  providers,
}: Pick<LedgerSnapshot, "waiting" | "providers">): string[] {
  const keptFor = new Map(waiting.map(({ id, nominatedTo }) => [nominatedTo, id]));
  return waiting.flatMap(({ id, phase, asked }) => {
    const provider = providers.find(
      ({ clusterId, available }) => fits(asked, available) && (keptFor.get(clusterId) ?? id) === id,
    );
    return isFinal(phase) || provider === undefined
      ? []
      : [
          `${id} waits for ${describeResources(asked)}, and ${provider.clusterId} has ${describeResources(provider.available)}`,
        ];
  });
}

const SETTLE_MS = 500;

interface SnapshotCheck {
  readonly snapshot: LedgerSnapshot;
  /** What of them is wrong. */
  readonly problems: readonly string[];
}

/**
 * Compares what clients were told with the ledger of a broker that runs. A call whose client hung up may still be carried
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
