import type { ClusterObjects, Instructed, LedgerReservation, Snapshot, TestRequest } from "./snapshot.ts";

/** Compares what was asked for, what the broker has, and what both clusters show. Empty when all of it agrees. */
export function violations(requests: readonly TestRequest[], { reservations, objects }: Snapshot): string[] {
  return [
    ...requests.flatMap((request) => wrongRequest(request, reservations)),
    ...reservations.flatMap((each) => unrequested(each, requests)),
    ...objects.flatMap((each) => wrongObjects(each, requests, reservations)),
  ];
}

function wrongRequest(
  { uid, cluster, name, isWanted }: TestRequest,
  reservations: readonly LedgerReservation[],
): string[] {
  const mine = reservations.filter((each) => each.uid === uid);
  const what = `${name} of ${cluster}`;
  if (mine.length > 1) return [`${what} is booked ${mine.length} times`];
  const isLive = mine.some((each) => each.isLive);
  if (isWanted && !isLive) return [`${what} is not booked`];
  return !isWanted && isLive ? [`${what} was deleted, and is booked still`] : [];
}

function unrequested({ id, uid, isLive }: LedgerReservation, requests: readonly TestRequest[]): string[] {
  return isLive && !requests.some((request) => request.uid === uid)
    ? [`${id} is booked, and nobody asked for it`]
    : [];
}

function wrongObjects(
  { cluster, ...shown }: ClusterObjects,
  requests: readonly TestRequest[],
  reservations: readonly LedgerReservation[],
): string[] {
  const live = reservations.filter(({ isLive }) => isLive);
  const byUid = new Map(live.map((each) => [each.uid, each.id]));
  const wanted = requests.filter((request) => request.isWanted && request.cluster === cluster);
  const inactive = wanted.filter(
    ({ uid }) => !shown.requests.some((each) => each.uid === uid && isActive(each, byUid.get(uid))),
  );
  const requested = live.filter(({ requester }) => requester === cluster);
  const held = live.filter(({ provider }) => provider === cluster);
  return [
    ...inactive.map(({ name }) => `${name} of ${cluster} is not Active with its reservation`),
    ...difference(`ReservationInstructions of ${cluster}`, shown.reservationInstructions, requested),
    ...difference(`ProviderInstructions of ${cluster}`, shown.providerInstructions, held),
  ];
}

function isActive(
  { phase, id }: ClusterObjects["requests"][number],
  reservation: string | undefined,
): boolean {
  return phase === "Active" && id === reservation;
}

function difference(
  what: string,
  found: readonly Instructed[],
  live: readonly LedgerReservation[],
): string[] {
  const ids = new Set(live.map(({ id }) => id));
  const done = new Set(found.filter(({ isDone }) => isDone).map(({ id }) => id));
  return [
    ...found.filter(({ id }) => !ids.has(id)).map(({ id }) => `${what}: ${id} is there, and not booked`),
    ...live.filter(({ id }) => !done.has(id)).map(({ id }) => `${what}: ${id} is booked, and not there`),
  ];
}
