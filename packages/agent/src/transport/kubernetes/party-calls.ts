import { Fault } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { isFinal } from "@resource-broker/domain";
import type { Role } from "../broker-communicator.ts";
import { activeCondition, holdingCondition, refusedCondition, releasedCondition } from "./manifests.ts";
import { currentReservation, type ObjectCalls } from "./object-calls.ts";
import type { ObjectState } from "./object-watch.ts";
import { isFinished, isOrphaned, rolesOf } from "./read-reservation.ts";

/** A reservation of the ledger, and its object. */
interface Located {
  readonly object: Reservation;
  readonly reservation: ReservationDTO;
}

/** What requester and provider report about a reservation: conditions of the object, each written by one party only. */
export function partyCalls(objects: ObjectCalls) {
  const { scope, calls } = objects;
  const { clusterId } = scope;

  /** False: this cluster is no party to it. Throws where it has the other role. */
  const isParty = (object: Reservation, role: Role, id: string): boolean => {
    const roles = rolesOf(object, clusterId);
    if (roles.length === 0 || roles.includes(role)) return roles.length > 0;
    throw new Fault("forbidden", `only the ${role} of ${id} may do this`);
  };

  const located = async (id: string, role: Role, signal: AbortSignal): Promise<Located> => {
    const object = await objects.locate(id, signal);
    const isOwn = object !== undefined && isParty(object, role, id);
    const reservation = isOwn ? currentReservation(objects, object, role) : undefined;
    if (object !== undefined && reservation !== undefined) return { object, reservation };
    throw new Fault("not-found", `no reservation ${id} that you are party to`);
  };

  /** The reservation of an observed object. Undefined: of another ledger, or not complete yet. */
  const reservationIn = (
    { object, isGone }: ObjectState<Reservation>,
    id: string,
    role: Role,
  ): ReservationDTO | undefined => {
    const reservation = object && currentReservation(objects, object, role);
    if (isGone && (reservation === undefined || !isFinal(reservation.status.phase))) {
      throw new Fault("not-found", `Reservation ${id} was deleted meanwhile`);
    }
    return reservation;
  };

  const activate = (id: string): Promise<ReservationDTO> =>
    objects.answered(async (signal) => {
      const { object } = await located(id, "requester", signal);
      return objects.watchOf("requester").waitFor({
        name: object.metadata.name,
        signal,
        begin: () => {
          const isThere = object.status?.phase === "Active" || isFinished(object);
          return isThere ? Promise.resolve(object) : objects.setCondition(object, activeCondition(clusterId));
        },
        evaluate: (state) => {
          const reservation = reservationIn(state, id, "requester");
          refuseEnded(reservation);
          return reservation?.status.phase === "Active" ? reservation : undefined;
        },
      });
    });

  const release = (id: string): Promise<void> =>
    objects.answered(async (signal) => {
      const object = await objects.locate(id, signal);
      if (object === undefined || isFinished(object) || !isParty(object, "requester", id)) return;
      await objects.watchOf("requester").waitFor({
        name: object.metadata.name,
        signal,
        begin: () => objects.setCondition(object, releasedCondition(clusterId)),
        // The condition stays, for a ledger that adopts the reservation later.
        evaluate: ({ object: now, isGone }) =>
          isGone || now === undefined || isFinished(now) || isOrphaned(now) || undefined,
      });
    });

  const acknowledge = (id: string): Promise<void> =>
    objects.answered(async (signal) => {
      const { object, reservation } = await located(id, "provider", signal);
      refuseEnded(reservation);
      await calls.retry(signal, () => objects.setCondition(object, holdingCondition(clusterId)));
    });

  const refuse = (id: string, reason: string): Promise<void> =>
    objects.answered(async (signal) => {
      const { object } = await located(id, "provider", signal);
      if (isFinished(object)) return;
      await objects.watchOf("provider").waitFor({
        name: object.metadata.name,
        signal,
        begin: () => objects.setCondition(object, refusedCondition(reason)),
        evaluate: ({ object: now, isGone }) => isGone || now === undefined || isFinished(now) || undefined,
      });
    });

  return { activate, release, acknowledge, refuse };
}

function refuseEnded(reservation: ReservationDTO | undefined): void {
  if (reservation === undefined || !isFinal(reservation.status.phase)) return;
  const { id, status, reason } = reservation;
  throw new Fault("already-ended", `${id} is ${status.phase} (${reason ?? "no reason given"})`);
}
