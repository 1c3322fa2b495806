import {
  add,
  describeResources,
  equals,
  fits,
  isLive,
  NO_RESOURCES,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/domain";
import type { Booking, Books, ProviderStanding } from "./booking.ts";
import type { Order } from "./order.ts";

const GI = 2 ** 30;

/** A provider that said, and was answered, that nothing is left to lend. */
export interface Drained {
  readonly provider: string;
  /** So many orders had been made by then: none of the later ones may be served there. */
  readonly ordersBefore: number;
}

/** Compares what clients were told with what the broker has. Nobody may be changing it meanwhile. */
export function violations(
  orders: readonly Order[],
  { bookings, providers }: Books,
  drained?: Drained,
): string[] {
  const byKey = groupByKey(bookings);
  return [
    ...(drained === undefined ? [] : lentByDrained(orders, byKey, drained)),
    ...orders.flatMap((order) => wrongWith(order, byKey.get(nameOf(order.requester, order.key)) ?? [])),
    ...unordered(orders, byKey),
    ...providers.flatMap((provider) => wrongSums(provider, bookings)),
  ];
}

function wrongWith(order: Order, found: readonly Booking[]): string[] {
  const { acknowledged, unanswered, key, requester } = order;
  const name = `${key} of ${requester}`;
  const [booking] = found;
  if (found.length > 1) return [`${name} is booked ${found.length} times`];
  if (booking === undefined) {
    return acknowledged === undefined ? [] : [`${name} was acknowledged as ${acknowledged.id} and is lost`];
  }
  if (acknowledged === undefined) {
    // A refusal that was heard is final; only what nobody answered may have been booked.
    return unanswered > 0 ? [] : [`${name} is booked though every attempt was refused`];
  }
  return [...wrongBooking(acknowledged, order, booking), ...wrongPhase(order, booking)].map(
    (problem) => `${name}: ${problem}`,
  );
}

function wrongBooking(
  acknowledged: NonNullable<Order["acknowledged"]>,
  { size }: Order,
  { id, provider, granted }: Booking,
): string[] {
  const problems: string[] = [];
  if (id !== acknowledged.id || provider !== acknowledged.provider) {
    const told = `acknowledged as ${acknowledged.id} at ${acknowledged.provider}`;
    problems.push(`${told}, booked as ${id} at ${provider}`);
  }
  const ordered = resourceVector({ cpuMillis: size.cpu * 1000, memoryBytes: size.memoryGi * GI });
  if (!equals(granted, ordered)) problems.push(`holds ${describeResources(granted)}`);
  return problems;
}

function wrongPhase({ release }: Order, { phase }: Booking): string[] {
  if (release === "acknowledged" && isLive(phase)) return ["was released and lives"];
  return release === "not asked" && !isLive(phase) ? [`is ${phase}, and nobody asked for that`] : [];
}

function groupByKey(bookings: readonly Booking[]): Map<string, Booking[]> {
  const byKey = new Map<string, Booking[]>();
  for (const booking of bookings) {
    const name = nameOf(booking.requester, booking.key ?? "");
    byKey.set(name, [...(byKey.get(name) ?? []), booking]);
  }
  return byKey;
}

function unordered(orders: readonly Order[], byKey: ReadonlyMap<string, readonly Booking[]>): string[] {
  const ordered = new Set(orders.map(({ requester, key }) => nameOf(requester, key)));
  return [...byKey.keys()].filter((name) => !ordered.has(name)).map((name) => `nobody ordered ${name}`);
}

function wrongSums(
  { clusterId, allocatable, reserved }: ProviderStanding,
  bookings: readonly Booking[],
): string[] {
  const held = heldAt(clusterId, bookings);
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
  orders: readonly Order[],
  byKey: ReadonlyMap<string, readonly Booking[]>,
  { provider, ordersBefore }: Drained,
): string[] {
  const found = orders
    .slice(ordersBefore)
    .flatMap(({ requester, key }) => byKey.get(nameOf(requester, key)) ?? []);
  return found
    .filter((booking) => booking.provider === provider)
    .map(
      ({ id, key }) => `${provider} lends ${id} (${key}), and was answered before that it has nothing left`,
    );
}

function heldAt(clusterId: string, bookings: readonly Booking[]): ResourceVector {
  let total = NO_RESOURCES;
  for (const { provider, phase, granted } of bookings) {
    if (provider === clusterId && isLive(phase)) total = add(total, granted);
  }
  return total;
}

function nameOf(requester: string, key: string): string {
  return `${requester}/${key}`;
}
