import { type Clock, Fault, formatTime, type Log, type ObjectMeta, toFault } from "@resource-broker/base";
import type { ReservationDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { type Condition, conditionMessage, type Reservation } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import type { Role } from "../broker-communicator.ts";
import { type ApiCalls, withRemedy } from "./api-calls.ts";
import {
  conditionManager,
  conditionManifest,
  type ObjectScope,
  type PartyCondition,
  RESERVATIONS,
} from "./manifests.ts";
import { readReservation, readWaiting, unlessUnreadable } from "./read-reservation.ts";
import { labelSelectorOf } from "./reservation-index.ts";
import type { createWatches } from "./watches.ts";

/** Objects may contain a whole decision each. */
const PAGE_SIZE = 50;

interface ObjectCallsDeps
  extends Pick<ReturnType<typeof createWatches>, "brokerHealth" | "watchOf" | "nameOf"> {
  readonly scope: ObjectScope;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly calls: ApiCalls;
  /** A call that the broker answers. */
  readonly answered: Answered;
}

/** Runs a call within its time, and checks that the broker is alive. */
export type Answered = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

export type ObjectCalls = ReturnType<typeof objectCalls>;

/** Operations on Reservation objects; each is idempotent. */
export function objectCalls(deps: ObjectCallsDeps) {
  const { client, clock, log, scope, calls, brokerHealth } = deps;
  const { namespace, clusterId } = scope;

  const find = (name: string, aborted: AbortSignal): Promise<Reservation | undefined> =>
    client.find(RESERVATIONS, { name, namespace }, { signal: aborted });

  /** Sets a condition as one of the parties; nothing is written when it is set already. */
  const setCondition = async (object: Reservation, asked: PartyCondition): Promise<Reservation> => {
    const condition = { ...asked, message: conditionMessage(asked.message) };
    const before = object.status?.conditions?.find(({ type }) => type === condition.type);
    if (before !== undefined && isSameCondition(before, condition)) return object;
    const isNew = before?.status !== condition.status;
    const now = formatTime(Math.trunc(brokerHealth.now() ?? clock.wallMs()));
    const lastTransitionTime = isNew ? now : before.lastTransitionTime;
    return client.apply(RESERVATIONS, conditionManifest(object, { ...condition, lastTransitionTime }), {
      fieldManager: conditionManager(condition.type),
      force: true,
      subresource: "status",
    });
  };

  return {
    ...deps,
    find,
    /** The object of a reservation, under whatever name. */
    locate: (id: string, aborted: AbortSignal): Promise<Reservation | undefined> =>
      calls.retry(aborted, () => find(deps.nameOf(id) ?? id, aborted)),
    /** `conflict` when it exists already: read again. */
    create: async (object: Reservation, aborted: AbortSignal): Promise<Reservation> => {
      try {
        return await client.create(RESERVATIONS, object, { signal: aborted });
      } catch (error) {
        throw asConflict(withRemedy(toFault(error), namespace));
      }
    },
    /** With a uid: only this object, not a later one of the same name. */
    remove: ({ name, uid }: Pick<ObjectMeta, "name" | "uid">, aborted: AbortSignal): Promise<void> =>
      calls.retry(aborted, async () => {
        const only = { signal: aborted, ...(uid === undefined ? {} : { uid }) };
        // Already gone, or replaced by another object of the same name.
        await client.delete(RESERVATIONS, { name, namespace }, only).catch(ignoring("not-found", "conflict"));
      }),
    setCondition,
    /** Maps each object with `pick`; unreadable objects are skipped. */
    list: <T extends object>(
      role: Role,
      aborted: AbortSignal,
      pick: (object: Reservation) => T | undefined,
    ) =>
      calls.retry(aborted, async () => {
        // A broken list is read again from the start.
        const picked: T[] = [];
        const labelSelector = labelSelectorOf(role, clusterId);
        const query = { namespace, labelSelector, pageSize: PAGE_SIZE, signal: aborted };
        await client.list(RESERVATIONS, query, (object) => {
          const value = unlessUnreadable(object, pick, log);
          if (value !== undefined) picked.push(value);
        });
        return picked;
      }),
  };
}

type OfLedger = Pick<ObjectCalls, "brokerHealth">;

/** The reservation of an object, if it belongs to the current ledger. */
export function currentReservation(
  { brokerHealth }: OfLedger,
  object: Reservation,
  role: Role,
): ReservationDTO | undefined {
  const found = readReservation(object, role);
  return isOfEarlier(found?.ledgerId, brokerHealth.ledgerId()) ? undefined : found?.reservation;
}

/** The same for a request that waits, or has left the queue. */
export function currentWaiting(
  { brokerHealth }: OfLedger,
  object: Reservation,
): WaitingRequestDTO | undefined {
  const found = readWaiting(object);
  return isOfEarlier(found?.ledgerId, brokerHealth.ledgerId()) ? undefined : found?.waiting;
}

function isOfEarlier(stated: string | undefined, current: string | undefined): boolean {
  return stated !== undefined && current !== undefined && stated !== current;
}

function isSameCondition(before: Condition, { status, reason, message }: PartyCondition): boolean {
  return before.status === status && before.reason === reason && before.message === message;
}

/** The object was created concurrently: the next attempt finds it. */
function asConflict(fault: Fault): Fault {
  return fault.code === "already-exists" ? new Fault("conflict", fault.message, { cause: fault }) : fault;
}
