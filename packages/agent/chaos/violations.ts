import type { Booked, Books, Instructed, Shown, Wish } from "./books.ts";

/** Compares what was asked for, what the broker has, and what both clusters show. Empty when all of it agrees. */
export function violations(wishes: readonly Wish[], { booked, shown }: Books): string[] {
  return [
    ...wishes.flatMap((wish) => wrongWish(wish, booked)),
    ...booked.flatMap((each) => unasked(each, wishes)),
    ...shown.flatMap((each) => wrongShown(each, wishes, booked)),
  ];
}

function wrongWish({ uid, cluster, name, isWanted }: Wish, booked: readonly Booked[]): string[] {
  const mine = booked.filter((each) => each.uid === uid);
  const what = `${name} of ${cluster}`;
  if (mine.length > 1) return [`${what} is booked ${mine.length} times`];
  const isLive = mine.some((each) => each.isLive);
  if (isWanted && !isLive) return [`${what} is not booked`];
  return !isWanted && isLive ? [`${what} was deleted, and is booked still`] : [];
}

function unasked({ id, uid, isLive }: Booked, wishes: readonly Wish[]): string[] {
  return isLive && !wishes.some((wish) => wish.uid === uid)
    ? [`${id} is booked, and nobody asked for it`]
    : [];
}

function wrongShown(
  { cluster, ...shown }: Shown,
  wishes: readonly Wish[],
  booked: readonly Booked[],
): string[] {
  const live = booked.filter(({ isLive }) => isLive);
  const byUid = new Map(live.map((each) => [each.uid, each.id]));
  const wanted = wishes.filter((wish) => wish.isWanted && wish.cluster === cluster);
  const inactive = wanted.filter(
    ({ uid }) => !shown.requests.some((each) => each.uid === uid && isActive(each, byUid.get(uid))),
  );
  const borrowed = live.filter(({ requester }) => requester === cluster);
  const held = live.filter(({ lender }) => lender === cluster);
  return [
    ...inactive.map(({ name }) => `${name} of ${cluster} is not Active with its reservation`),
    ...difference(`ReservationInstructions of ${cluster}`, shown.borrowed, borrowed),
    ...difference(`ProviderInstructions of ${cluster}`, shown.held, held),
  ];
}

function isActive({ phase, id }: Shown["requests"][number], reservation: string | undefined): boolean {
  return phase === "Active" && id === reservation;
}

function difference(what: string, found: readonly Instructed[], live: readonly Booked[]): string[] {
  const ids = new Set(live.map(({ id }) => id));
  const done = new Set(found.filter(({ isDone }) => isDone).map(({ id }) => id));
  return [
    ...found.filter(({ id }) => !ids.has(id)).map(({ id }) => `${what}: ${id} is there, and not booked`),
    ...live.filter(({ id }) => !done.has(id)).map(({ id }) => `${what}: ${id} is booked, and not there`),
  ];
}
