import { Fault } from "@resource-broker/base";
import { type Reservation, reservationKind } from "@resource-broker/contract/crd";
import { isLive, type ReservationRequest } from "@resource-broker/domain";
import { objectKey } from "@resource-broker/kube";
import type { IdMaker } from "../../shared/make-ids.ts";
import { releasedEvent } from "../builders/events.ts";
import { identify } from "../builders/identify.ts";
import { isDecided, reservationStatus } from "../builders/reservation-status.ts";
import type { AssumeCache } from "../objects/assume-cache.ts";
import { isNamespaceTerminating } from "../objects/namespace-terminating.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import type { KubernetesDeps } from "../ports.ts";
import { hasFinalizer } from "./plan-reservation.ts";
import { withoutFilledTarget } from "./read-request.ts";
import { refusalIn } from "./reply-status.ts";
import type { ReservationWriter } from "./reservation-writer.ts";
import type { StatusWriter } from "./status-writer.ts";
import type { StepsOf } from "./step.ts";

export interface RequestStepDeps extends Pick<KubernetesDeps, "engine" | "client" | "log" | "recorder"> {
  readonly namespace: string;
  readonly ids: IdMaker;
  readonly writer: ReservationWriter;
  readonly cache: AssumeCache<Reservation>;
  readonly statusWriter: StatusWriter;
}

/** Steps that make and release reservations for request objects. */
export function requestSteps(
  deps: RequestStepDeps,
): StepsOf<
  | "add-finalizer"
  | "remove-finalizer"
  | "decide"
  | "refuse"
  | "release-deleted"
  | "set-parties"
  | "write-status"
> {
  const { engine, client, log, recorder, namespace, ids, writer, cache, statusWriter } = deps;

  const reservationOf = (object: Reservation) => engine.ledger.reservations.get(identify(object).id);

  /** Undefined if the object was changed or deleted meanwhile: a watch event follows. */
  const reread = async (object: Reservation): Promise<Reservation | undefined> => {
    const { name, uid } = object.metadata;
    const found = await client.find(RESERVATIONS, { name, namespace });
    if (found === undefined || found.metadata.uid !== uid) return undefined;
    cache.assume(found);
    const isUndecided = !isDecided(found) && hasFinalizer(found);
    return isUndecided && found.metadata.deletionTimestamp === undefined ? found : undefined;
  };

  /** Writes the parties before the phase, so that readers of the phase find complete objects. */
  const writeGranted = async (object: Reservation): Promise<boolean> => {
    const reservation = reservationOf(object);
    if (reservation === undefined) {
      throw new Fault("internal", `${objectKey(object)} was granted and is not in the ledger`);
    }
    const named = await writer.setParties(object, reservation.requester, reservation.provider);
    cache.assume(named);
    return statusWriter.write(named, reservationStatus(reservation, statusWriter.context(), named));
  };

  const decide = async (object: Reservation, request: ReservationRequest): Promise<boolean> => {
    const { requester, key, id: reservationId } = identify(object);
    const reply = await engine.submit({
      kind: "reserve",
      requester,
      key,
      request: withoutFilledTarget(request, reservationOf(object)),
      reservationId,
      decisionId: ids.decision(),
    });
    const refused = refusalIn(reply, engine.policy.disclosure);
    return refused === undefined ? writeGranted(object) : statusWriter.refuse(object, refused);
  };

  const removeFinalizer = async (object: Reservation): Promise<boolean> => {
    cache.assume(await writer.removeFinalizer(object));
    if (object.metadata.deletionTimestamp === undefined) return true;
    // Usually the last finalizer: the object is gone now.
    cache.forget(objectKey(object));
    return false;
  };

  return {
    "add-finalizer": async (object, { request }) => {
      const prepared = await writer.addFinalizer(object, identify(object).requester);
      cache.assume(prepared);
      // The write required the planned version, so nobody has decided it meanwhile.
      return request === undefined || decide(prepared, request);
    },
    "remove-finalizer": removeFinalizer,
    decide: async (object, { request }) => {
      // A refusal does not use up the key: deciding the object twice could give another result.
      const fresh = await reread(object);
      return fresh !== undefined && decide(fresh, request);
    },
    refuse: (object, { refused }) => statusWriter.refuse(object, refused),
    "release-deleted": async (object) => {
      const reservation = reservationOf(object);
      if (reservation === undefined || !isLive(reservation.phase)) return true;
      if (await isNamespaceTerminating(client, { namespace, kind: reservationKind })) {
        const why = "its namespace, or the definition of Reservations, is being deleted";
        log.warn(
          { reservation: reservation.id, object: objectKey(object), why },
          "the reservation is not released",
        );
        return removeFinalizer(object);
      }
      const by = { clusterId: reservation.requester, isAdmin: false };
      await engine.submit({ kind: "release", by, id: reservation.id });
      // The status is not written: the object is about to be deleted.
      recorder.record(releasedEvent(object));
      return true;
    },
    "set-parties": async (object, { target }) => {
      cache.assume(await writer.setParties(object, identify(object).requester, target));
      return true;
    },
    "write-status": (object, { status }) => statusWriter.write(object, status),
  };
}
