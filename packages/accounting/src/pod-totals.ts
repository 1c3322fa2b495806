import type { ResourceVector } from "@resource-broker/base";
import type { ReservationId } from "@resource-broker/domain";
import type { BoundPods } from "./bound-pods.ts";
import {
  type ClusterView,
  type LiveReservation,
  type PendingReason,
  pendingReason,
  reservationOf,
} from "./classify-pod.ts";
import type { GuestFacts } from "./node-accounting.ts";
import type { PodGroup } from "./pod-groups.ts";
import { addTimes, addTotal, type RunningTotal, readTotal, runningTotal } from "./running-total.ts";

export interface PodTotals {
  /** Requests of the cluster's own pods, those about to be bound included. */
  readonly allocated: ResourceVector;
  /** What the guest pods of each live reservation request, also when that is nothing; by reservation id. */
  readonly usage: readonly GuestUsage[];
  readonly pendingShown: PendingShown;
}

export interface GuestUsage {
  readonly reservationId: ReservationId;
  readonly used: ResourceVector;
}

/** Pending pods that are not counted, with the reasons. Shown to users. */
export interface PendingShown {
  readonly pods: number;
  readonly request: ResourceVector;
  readonly reasons: Readonly<Partial<Record<PendingReason, number>>>;
}

export interface PodTotalsInput {
  readonly bound: BoundPods;
  readonly pending: Iterable<PodGroup>;
  readonly reservations: ReadonlyMap<ReservationId, LiveReservation>;
  readonly view: ClusterView;
}

/** Computes the totals. The cost depends on the number of guests, pending groups and reservations, not of pods. */
export function podTotals({ bound, pending, reservations, view }: PodTotalsInput): PodTotals {
  const allocated = runningTotal();
  const used = new Map<ReservationId, RunningTotal>();
  for (const id of reservations.keys()) used.set(id, runningTotal());
  const accountOf = (guest: GuestFacts | undefined): RunningTotal => {
    const reservation = guest && reservationOf(guest, reservations);
    return (reservation && used.get(reservation.id)) ?? allocated;
  };

  addTotal(allocated, bound.own, 1);
  for (const { guest, total } of bound.guests.values()) addTotal(accountOf(guest), total, 1);
  const shown = pendingShown();
  for (const group of pending) {
    const reason = pendingReason(group, view);
    if (reason === undefined) addTimes(accountOf(group.guest), group.request, group.pods);
    else shown.add(group, reason);
  }
  return { allocated: readTotal(allocated), usage: usageOf(used), pendingShown: shown.read() };
}

function usageOf(used: ReadonlyMap<ReservationId, RunningTotal>): GuestUsage[] {
  return [...used]
    .map(([reservationId, total]) => ({ reservationId, used: readTotal(total) }))
    .sort((a, b) => (a.reservationId < b.reservationId ? -1 : 1));
}

function pendingShown() {
  const total = runningTotal();
  const reasons: Partial<Record<PendingReason, number>> = {};
  let pods = 0;
  return {
    add(group: PodGroup, reason: PendingReason): void {
      addTimes(total, group.request, group.pods);
      reasons[reason] = (reasons[reason] ?? 0) + group.pods;
      pods += group.pods;
    },
    read: (): PendingShown => ({ pods, request: readTotal(total), reasons }),
  };
}
