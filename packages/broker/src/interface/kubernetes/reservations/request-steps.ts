import { Fault, type Reservation } from "@resource-broker/contract";
import { isLive, type ReservationRequest } from "@resource-broker/domain";
import { objectKey } from "@resource-broker/kube";
import type { IdMaker } from "../../shared/make-ids.ts";
import { releaseHappening } from "../forge/happenings.ts";
import { identify } from "../forge/identify.ts";
import { isDecided, reservationStatus } from "../forge/reservation-status.ts";
import type { NewestObjects } from "../objects/newest-objects.ts";
import { RESERVATIONS } from "../objects/resources.ts";
import type { KubernetesDeps } from "../ports.ts";
import { refusalIn } from "./answers.ts";
import { isPlaceEnding } from "./place.ts";
import { hasFinalizer } from "./plan-reservation.ts";
import { asAsked } from "./read-request.ts";
import type { ReservationWriter } from "./reservation-writer.ts";
import type { StepsOf } from "./step.ts";
import type { Teller } from "./teller.ts";

export interface RequestStepDeps extends Pick<KubernetesDeps, "engine" | "client" | "log" | "recorder"> {
  readonly namespace: string;
  readonly ids: IdMaker;
  readonly writer: ReservationWriter;
  readonly newest: NewestObjects<Reservation>;
  readonly teller: Teller;
}

/** Steps that make and release reservations for request objects. */
export function requestSteps(
  deps: RequestStepDeps,
): StepsOf<"hold" | "let-go" | "decide" | "refuse" | "release-deleted" | "name-parties" | "tell"> {
  const { engine, client, log, recorder, namespace, ids, writer, newest, teller } = deps;

  const reservationOf = (object: Reservation) => engine.ledger.reservations.get(identify(object).id);

  /** Undefined if the object was changed or deleted meanwhile: a watch event follows. */
  const reread = async (object: Reservation): Promise<Reservation | undefined> => {
    const { name, uid } = object.metadata;
    const found = await client.find(RESERVATIONS, { name, namespace });
    if (found === undefined || found.metadata.uid !== uid) return undefined;
    newest.wrote(found);
    const isUndecided = !isDecided(found) && hasFinalizer(found);
    return isUndecided && found.metadata.deletionTimestamp === undefined ? found : undefined;
  };

  /** Writes the parties before the phase, so that readers of the phase find complete objects. */
  const tellGranted = async (object: Reservation): Promise<boolean> => {
    const reservation = reservationOf(object);
    if (reservation === undefined) {
      throw new Fault("internal", `${objectKey(object)} was granted and is not in the ledger`);
    }
    const named = await writer.nameParties(object, reservation.requester, reservation.provider);
    newest.wrote(named);
    return teller.tell(named, reservationStatus(reservation, teller.telling(), named));
  };

  const decide = async (object: Reservation, request: ReservationRequest): Promise<boolean> => {
    const { requester, key, id: reservationId } = identify(object);
    const reply = await engine.submit({
      kind: "reserve",
      requester,
      key,
      request: asAsked(request, reservationOf(object)),
      reservationId,
      decisionId: ids.decision(),
    });
    const refused = refusalIn(reply, engine.policy.disclosure);
    return refused === undefined ? tellGranted(object) : teller.refuse(object, refused);
  };

  const letGo = async (object: Reservation): Promise<boolean> => {
    newest.wrote(await writer.letGo(object));
    if (object.metadata.deletionTimestamp === undefined) return true;
    // Usually the last finalizer: the object is gone now.
    newest.forget(objectKey(object));
    return false;
  };

  return {
    hold: async (object, { request }) => {
      const held = await writer.hold(object, identify(object).requester);
      newest.wrote(held);
      // The write required the planned version, so nobody has decided it meanwhile.
      return request === undefined || decide(held, request);
    },
    "let-go": letGo,
    decide: async (object, { request }) => {
      // A refusal does not use up the key: deciding the object twice could give another result.
      const fresh = await reread(object);
      return fresh !== undefined && decide(fresh, request);
    },
    refuse: (object, { refused }) => teller.refuse(object, refused),
    "release-deleted": async (object) => {
      const reservation = reservationOf(object);
      if (reservation === undefined || !isLive(reservation.phase)) return true;
      if (await isPlaceEnding(client, namespace)) {
        const why = "its namespace, or the definition of Reservations, is being deleted";
        log.warn(
          { reservation: reservation.id, object: objectKey(object), why },
          "the reservation is not released",
        );
        return letGo(object);
      }
      const by = { clusterId: reservation.requester, isAdmin: false };
      await engine.submit({ kind: "release", by, id: reservation.id });
      // The status is not written: the object is about to be deleted.
      recorder.record(releaseHappening(object));
      return true;
    },
    "name-parties": async (object, { target }) => {
      newest.wrote(await writer.nameParties(object, identify(object).requester, target));
      return true;
    },
    tell: (object, { status }) => teller.tell(object, status),
  };
}
