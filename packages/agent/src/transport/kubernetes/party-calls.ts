import { Fault, isFaultCode, parseDuration, parseTime } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { isFinal } from "@resource-broker/domain";
import type { Role } from "../broker-communicator.ts";
import { activeCondition, holdingCondition, refusedCondition, releasedCondition } from "./manifests.ts";
import { currentReservation, type ObjectCalls } from "./object-calls.ts";
import type { ObjectState } from "./object-watch.ts";
import { isFinished, isOrphaned, partiesOf } from "./read-reservation.ts";

const NONCE_BYTES = 8;

/** A reservation of the ledger, and its object. */
interface Located {
  readonly object: Reservation;
  readonly reservation: ReservationDTO;
}

/** What requester and provider report about a reservation: conditions of the object, each written by one party only. */
export function partyCalls(objects: ObjectCalls, randomBytes: (size: number) => Uint8Array) {
  const { scope, brokerHealth, calls } = objects;
  const { clusterId } = scope;

  const find = async (id: string, role: Role, signal: AbortSignal): Promise<Located | undefined> => {
    const name = objects.nameOf(id) ?? id;
    const object = await calls.retry(signal, () => objects.find(name, signal));
    if (object === undefined) return undefined;
    const { requesterID, targetClusterID } = partiesOf(object);
    if (requesterID !== clusterId && targetClusterID !== clusterId) return undefined;
    const isRole = (role === "requester" ? requesterID : targetClusterID) === clusterId;
    if (!isRole) throw new Fault("forbidden", `only the ${role} of ${id} may do this`);
    const reservation = currentReservation(objects, object, role);
    return reservation && { object, reservation };
  };

  const located = async (id: string, role: Role, signal: AbortSignal): Promise<Located> => {
    const found = await find(id, role, signal);
    if (found !== undefined) return found;
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

  const renew = (id: string, duration: string): Promise<ReservationDTO> => {
    const parsed = parseDuration(duration);
    if (!parsed.ok) return Promise.reject(new Fault("invalid", `duration: ${parsed.problem}`));
    return objects.answered(async (signal) => {
      const { object, reservation: before } = await located(id, "requester", signal);
      refuseEnded(before);
      const renewal = `${duration} ${Buffer.from(randomBytes(NONCE_BYTES)).toString("hex")}`;
      const askedAt = brokerHealth.now();
      const lasts = ({ status }: ReservationDTO): boolean =>
        status.expiresAt === undefined ||
        askedAt === undefined ||
        (parseTime(status.expiresAt) ?? 0) >= Math.trunc(askedAt) + parsed.ms;
      return objects.watchOf("requester").waitFor({
        name: object.metadata.name,
        signal,
        begin: () => objects.renew(object, renewal, signal),
        evaluate: (state) => {
          const reservation = reservationIn(state, id, "requester");
          refuseEnded(reservation);
          const { renewed, code, explanation } = state.object?.status ?? {};
          if (reservation === undefined || renewed !== renewal) return undefined;
          if (code !== undefined) {
            throw new Fault(isFaultCode(code) ? code : "invalid", explanation ?? reservation.status.message);
          }
          // The broker confirms the renewal and writes the new expiry separately.
          return lasts(reservation) ? reservation : undefined;
        },
      });
    });
  };

  const release = (id: string): Promise<void> =>
    objects.answered(async (signal) => {
      const name = objects.nameOf(id) ?? id;
      const object = await calls.retry(signal, () => objects.find(name, signal));
      if (object === undefined || isFinished(object)) return;
      const { requesterID, targetClusterID } = partiesOf(object);
      if (requesterID !== clusterId) {
        if (targetClusterID !== clusterId) return;
        throw new Fault("forbidden", `only the requester of ${id} may do this`);
      }
      await objects.watchOf("requester").waitFor({
        name,
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

  return { activate, renew, release, acknowledge, refuse };
}

function refuseEnded(reservation: ReservationDTO | undefined): void {
  if (reservation === undefined || !isFinal(reservation.status.phase)) return;
  const { id, status, reason } = reservation;
  throw new Fault("already-ended", `${id} is ${status.phase} (${reason ?? "no reason given"})`);
}
