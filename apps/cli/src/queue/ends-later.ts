import {
  amountOf,
  describeAmount,
  formatTime,
  parseTime,
  type ResourceName,
  resourceNames,
} from "@resource-broker/base";
import { lentByCall } from "@resource-broker/client";
import type { DecisionDTO, ReservationDTO, SomeQuantitiesDTO } from "@resource-broker/contract";
import type { Broker } from "../connection/broker.ts";
import { age, amountsIn, shortAmount, titled } from "../output/text.ts";
import { noticeEnd } from "../reservations/reservation.ts";

type Candidate = DecisionDTO["candidates"][number];

/** A cluster that is large enough, and lacks room now. */
interface FullCluster extends Required<Pick<Candidate, "clusterID" | "available" | "allocatable">> {
  /** What it has too little of. */
  readonly names: readonly ResourceName[];
}

/** Clusters that are named, and of each the reservations that end first. */
const SHOWN = 3;

/**
 * Where a request that lacks room could start: "tokyo has 2 of 4 GPU free, 2 GPU more in 24m (2026-07-01T14:05:00Z) when rsv-a
 * ends". A cluster that is no admin sees its own reservations only.
 */
export async function endsLater(broker: Broker, decision: DecisionDTO): Promise<string> {
  const full = decision.candidates.flatMap((candidate) => fullCluster(candidate, decision)).slice(0, SHOWN);
  const lines = await Promise.all(
    full.map(async (cluster) => {
      const { value, at } = await broker.request(lentByCall(cluster.clusterID));
      const { request } = decision;
      return lineOf(cluster, endingFirst(cluster, value, request.requestedResources), at);
    }),
  );
  return titled("Room", lines.join("\n"));
}

function fullCluster(
  { clusterID, reason, missing, available, allocatable }: Candidate,
  { request }: DecisionDTO,
): FullCluster[] {
  if (reason !== "capacity" || missing === undefined || available === undefined || allocatable === undefined)
    return [];
  const [asked, all] = [amountsIn(request.requestedResources), amountsIn(allocatable)];
  const names = resourceNames(amountsIn(missing));
  const isLargeEnough = names.every((name) => amountOf(all, name) >= amountOf(asked, name));
  return isLargeEnough ? [{ clusterID, available, allocatable, names }] : [];
}

/** Those with something of what is missing, in the order in which they end, until there is enough. */
function endingFirst(
  { names, available }: FullCluster,
  lent: readonly ReservationDTO[],
  asked: SomeQuantitiesDTO,
): ReservationDTO[] {
  const wanted = amountsIn(asked);
  const free = new Map(names.map((name) => [name, amountOf(amountsIn(available), name)]));
  const ending: ReservationDTO[] = [];
  for (const each of lent.toSorted((a, b) => endOf(a) - endOf(b))) {
    const held = amountsIn(each.requestedResources);
    const isEnough = names.every((name) => (free.get(name) ?? 0) >= amountOf(wanted, name));
    if (isEnough || ending.length === SHOWN) break;
    if (names.every((name) => amountOf(held, name) === 0)) continue;
    for (const name of names) free.set(name, (free.get(name) ?? 0) + amountOf(held, name));
    ending.push(each);
  }
  return ending;
}

function lineOf(cluster: FullCluster, ending: readonly ReservationDTO[], now: number): string {
  const { clusterID, names, available, allocatable } = cluster;
  const [left, all] = [amountsIn(available), amountsIn(allocatable)];
  const free = names.map(
    (name) => `${shortAmount(name, amountOf(left, name))} of ${describeAmount(name, amountOf(all, name))}`,
  );
  const later = ending.map((each) => `${heldOf(each, names)} more ${whenItEnds(each, now)}`);
  return [`${clusterID} has ${free.join(" and ")} free`, ...later].join(", ");
}

function heldOf({ requestedResources }: ReservationDTO, names: readonly ResourceName[]): string {
  const held = amountsIn(requestedResources);
  const some = names.filter((name) => amountOf(held, name) > 0);
  return some.map((name) => describeAmount(name, amountOf(held, name))).join(" and ");
}

/** `in 24m when rsv-a ends`, `when rsv-b is released`. */
function whenItEnds(reservation: ReservationDTO, now: number): string {
  const end = endOf(reservation);
  if (end === Number.POSITIVE_INFINITY) return `when ${reservation.id} is released`;
  return `in ${age(end - now)} (${formatTime(end)}) when ${reservation.id} ends`;
}

/** By its duration or its notice, whichever is first. */
function endOf(reservation: ReservationDTO): number {
  const { expiresAt } = reservation.status;
  const ends = [noticeEnd(reservation), expiresAt === undefined ? undefined : parseTime(expiresAt)];
  return Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY));
}
