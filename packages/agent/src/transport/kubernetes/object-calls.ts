import { type Clock, Fault, formatTime, type Log, type ObjectMeta, toFault } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import {
  type Condition,
  conditionMessage,
  KUBE_ANNOTATION,
  type Reservation,
} from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { Role } from "../broker-communicator.ts";
import { type ApiCalls, withRemedy } from "./api-calls.ts";
import type { BrokerHealth } from "./broker-health.ts";
import {
  conditionManager,
  conditionManifest,
  type ObjectScope,
  type PartyCondition,
  RESERVATIONS,
} from "./manifests.ts";
import type { ObjectWatch } from "./object-watch.ts";
import { readReservation } from "./read-reservation.ts";
import { labelSelectorOf } from "./reservation-index.ts";

/** Objects may contain a whole decision each. */
const PAGE_SIZE = 50;

export interface ObjectCallsDeps {
  readonly scope: ObjectScope;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly calls: ApiCalls;
  readonly brokerHealth: BrokerHealth;
  readonly watchOf: (role: Role) => ObjectWatch<Reservation>;
  /** The object name of a live reservation, if it is not the ID. */
  readonly nameOf: (id: string) => string | undefined;
  /** A call that the broker answers. */
  readonly answered: Answered;
}

/** Runs a call within its time, and checks that the broker is alive. */
export type Answered = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Operations on Reservation objects; each is idempotent. */
export interface ObjectCalls extends ObjectCallsDeps {
  readonly find: (name: string, signal: AbortSignal) => Promise<Reservation | undefined>;
  /** `conflict` when it exists already: read again. */
  readonly create: (object: Reservation, signal: AbortSignal) => Promise<Reservation>;
  /** With a uid: only this object, not a later one of the same name. */
  readonly remove: (object: Pick<ObjectMeta, "name" | "uid">, signal: AbortSignal) => Promise<void>;
  /** Sets a condition as one of the parties; nothing is written when it is set already. */
  readonly setCondition: (object: Reservation, signal: PartyCondition) => Promise<Reservation>;
  readonly renew: (object: Reservation, value: string, signal: AbortSignal) => Promise<Reservation>;
  /** Maps each object with `pick`; unreadable objects are skipped. */
  readonly list: <T>(
    role: Role,
    signal: AbortSignal,
    pick: (object: Reservation) => T | undefined,
  ) => Promise<T[]>;
}

export function objectCalls(deps: ObjectCallsDeps): ObjectCalls {
  const { client, clock, log, scope, calls, brokerHealth } = deps;
  const { namespace, clusterId } = scope;

  const setCondition: ObjectCalls["setCondition"] = async (object, asked) => {
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

  const readable = <T>(object: Reservation, pick: (object: Reservation) => T): T | undefined => {
    try {
      return pick(object);
    } catch (error) {
      const line = { reservation: object.metadata.name, error: toFault(error).message };
      log.warn(line, "a Reservation that cannot be read is left out");
      return undefined;
    }
  };

  return {
    ...deps,
    find: (name, aborted) => client.find(RESERVATIONS, { name, namespace }, { signal: aborted }),
    create: async (object, aborted) => {
      try {
        return await client.create(RESERVATIONS, object, { signal: aborted });
      } catch (error) {
        throw asConflict(withRemedy(toFault(error), namespace));
      }
    },
    remove: ({ name, uid }, aborted) =>
      calls.retry(aborted, async () => {
        await client
          .delete(
            RESERVATIONS,
            { name, namespace },
            { signal: aborted, ...(uid === undefined ? {} : { uid }) },
          )
          .catch(ignoreGone);
      }),
    setCondition,
    renew: ({ metadata }, value, aborted) =>
      client.patch(
        RESERVATIONS,
        {
          name: { name: metadata.name, namespace },
          patch: { kind: "merge", body: { metadata: { annotations: { [KUBE_ANNOTATION.renew]: value } } } },
        },
        { signal: aborted },
      ),
    list: (role, aborted, pick) =>
      calls.retry(aborted, async () => {
        // A broken list is read again from the start.
        const picked: NonNullable<ReturnType<typeof pick>>[] = [];
        const labelSelector = labelSelectorOf(role, clusterId);
        const query = { namespace, labelSelector, pageSize: PAGE_SIZE, signal: aborted };
        await client.list(RESERVATIONS, query, (object) => {
          const value = readable(object, pick);
          if (value !== undefined && value !== null) picked.push(value);
        });
        return picked;
      }),
  };
}

/** The reservation of an object, if it belongs to the current ledger. */
export function currentReservation(
  { brokerHealth }: Pick<ObjectCalls, "brokerHealth">,
  object: Reservation,
  role: Role,
): ReservationDTO | undefined {
  const found = readReservation(object, role);
  const ledgerId = brokerHealth.ledgerId();
  const isOld = found?.ledgerId !== undefined && ledgerId !== undefined && found.ledgerId !== ledgerId;
  return isOld ? undefined : found?.reservation;
}

function isSameCondition(before: Condition, { status, reason, message }: PartyCondition): boolean {
  return before.status === status && before.reason === reason && before.message === message;
}

/** The object was created concurrently: the next attempt finds it. */
function asConflict(fault: Fault): Fault {
  return fault.code === "already-exists" ? new Fault("conflict", fault.message, { cause: fault }) : fault;
}

/** Already gone, or replaced by another object of the same name. */
function ignoreGone(error: unknown): void {
  const fault = toFault(error);
  if (fault.code !== "not-found" && fault.code !== "conflict") throw fault;
}
