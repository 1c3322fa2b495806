import { Fault } from "@resource-broker/base";
import {
  type Disclosure,
  fitToSchema,
  fromDecision,
  fromReservationCost,
  toRefusals,
} from "@resource-broker/contract";
import { type Reservation, reservationKind } from "@resource-broker/contract/crd";
import {
  type AdoptionOffer,
  type ClusterId,
  type Decision,
  headline,
  isFinal,
  type Reply,
  type Waiting,
} from "@resource-broker/domain";
import { objectKey } from "@resource-broker/kube";
import { faultOf, pendingOutcome, reservationIn } from "../../shared/checked.ts";
import { idMaker } from "../../shared/make-ids.ts";
import { releasedEvent, renewalRefusedEvent, renewedEvent } from "../builders/events.ts";
import { identify } from "../builders/identify.ts";
import {
  answerStatus,
  decisionText,
  isDecided,
  type Refusal,
  refusedStatus,
  RESERVATION_OWNERSHIP,
  type ReservationStatus,
  reservationStatus,
  type StatusContext,
  waitingStatus,
} from "../builders/reservation-status.ts";
import { isNamespaceTerminating, RESERVATIONS } from "../objects/object-informers.ts";
import { type KubernetesDeps, RENEWAL_FIELD_MANAGER } from "../ports.ts";
import { statusWrite } from "../projection/desired-object.ts";
import type { CallEngine, OwnObjects } from "../projection/controller.ts";
import { withoutFilledTarget } from "./plan-intent.ts";
import {
  addFinalizer,
  hasFinalizer,
  removeFinalizer,
  setParties,
  writeRefusal,
  writeWaiting,
} from "./reservation-writes.ts";
import type { AskedFor, RenewalRequest, ReservationCall } from "./step.ts";

/** The explanation has all of them. */
const MAX_REASONS = 8;

/** Refused for now: the same request may be granted, or may wait, later. */
const PASSING: ReadonlySet<string> = new Set(["quota-exceeded", "queue-full"]);

/** The refusal of a request; undefined if it was granted. Throws what passes: the object is decided again later. */
export function refusalIn(reply: Reply, disclosure: Disclosure): Refusal | undefined {
  switch (reply.kind) {
    case "granted":
    case "current":
      return undefined;
    case "refused":
      return {
        code: "no-capacity",
        reason: "NoCapacity",
        message: shortReason(reply.decision, disclosure),
        explanation: fromDecision(reply.decision, disclosure).explanation,
        decisionId: reply.decision.id,
      };
    case "waiting":
      return {
        code: "no-capacity",
        reason: "NoCapacity",
        message: `${reply.waiting.id} waits in the queue with this key, and this object does not wait: ask with spec.wait, or follow it over HTTP`,
      };
    case "rejected": {
      const { code, message } = reply;
      // Waiting requests go first, and this one is next.
      if (code === "overloaded") throw faultOf(reply);
      return { code, message, reason: PASSING.has(code) ? "NoCapacity" : "Invalid" };
    }
    default:
      throw faultOf(reply);
  }
}

/** The headline, and why each cluster was passed over: as much as one line can hold. */
function shortReason(decision: Decision, disclosure: Disclosure): string {
  const reasons = toRefusals(decision, disclosure)
    .slice(0, MAX_REASONS)
    .map(({ clusterID, message }) => `${clusterID}: ${message}`);
  return `${headline(decision)} ${reasons.join("; ")}`.trim();
}

/** What would happen. */
function quoteStatus(reply: Reply, disclosure: Disclosure): ReservationStatus {
  if (reply.kind === "rejected") return { fits: false, code: reply.code, message: reply.message };
  if (reply.kind !== "granted" && reply.kind !== "refused") throw faultOf(reply);
  const { decision } = reply;
  const cost = reply.kind === "granted" ? reply.reservation.cost : undefined;
  return {
    fits: reply.kind === "granted",
    message: reply.kind === "granted" ? headline(decision) : shortReason(decision, disclosure),
    ...(cost === undefined ? {} : { cost: fromReservationCost(cost) }),
    ...decisionText(decision, disclosure),
  };
}

/** The status after a key was closed. */
export function keyClosedStatus(reply: Reply): ReservationStatus {
  const released = { phase: "Released", reason: "ReleasedByRequester" } as const;
  if (reply.kind === "key-closed")
    return { ...released, message: "No request with this key is served for a day." };
  if (reply.kind === "current" || reply.kind === "waiting") {
    const { id } = reply.kind === "current" ? reply.reservation : reply.waiting;
    return { ...released, reservationID: id, message: `${id} is released, and its key is closed for a day.` };
  }
  if (reply.kind !== "rejected") throw faultOf(reply);
  return { phase: "Failed", reason: "Invalid", code: reply.code, message: reply.message };
}

interface AdoptionCall {
  readonly by: ClusterId;
  readonly offer: AdoptionOffer;
}

/** The status of a reservation that was offered for adoption. */
function adoptionStatus(reply: Reply, { by, offer }: AdoptionCall): ReservationStatus {
  if (reply.kind === "current") return { outcome: "adopted", message: "It is in the ledger." };
  if (reply.kind === "rejected") return { outcome: "refused", code: reply.code, message: reply.message };
  if (reply.kind !== "adoption-offered") throw faultOf(reply);
  return pendingOutcome(reply, { by, offer });
}

export interface ReservationCallDeps
  extends Pick<KubernetesDeps, "engine" | "client" | "log" | "recorder" | "randomBytes" | "metrics">,
    OwnObjects<Reservation> {
  readonly namespace: string;
  readonly context: () => StatusContext;
  /** This process has put the offer of that object before the ledger. */
  readonly offered: (object: Reservation) => void;
}

type CallByKind = { readonly [K in ReservationCall["kind"]]: Extract<ReservationCall, { readonly kind: K }> };
type Calls = {
  readonly [K in ReservationCall["kind"]]: (
    object: Reservation,
    call: CallByKind[K],
  ) => Promise<Reservation | undefined>;
};

export function reservationCalls(deps: ReservationCallDeps): CallEngine<Reservation, ReservationCall> {
  const { engine, client, log, recorder, metrics, namespace, write, context } = deps;
  const ids = idMaker(deps.randomBytes);

  const reservationOf = (object: Reservation) => engine.ledger.reservations.get(identify(object).id);
  /** The reservation of an object, or its request that waits. */
  const entryOf = (object: Reservation) =>
    reservationOf(object) ?? engine.ledger.waiting.byId.get(identify(object).id);

  /** Undefined if the object was changed or deleted meanwhile: a watch event follows. */
  const reread = async (object: Reservation): Promise<Reservation | undefined> => {
    const { name, uid } = object.metadata;
    const found = await client.find(RESERVATIONS, { name, namespace });
    if (found === undefined || found.metadata.uid !== uid) return undefined;
    deps.assume(found);
    const isUndecided = !isDecided(found) && hasFinalizer(found);
    return isUndecided && found.metadata.deletionTimestamp === undefined ? found : undefined;
  };

  const decide = async (
    object: Reservation,
    { request, ...asked }: AskedFor,
  ): Promise<Reservation | undefined> => {
    const { requester, key, id: reservationId } = identify(object);
    const reply = await engine.submit({
      kind: "reserve",
      requester,
      key,
      ...asked,
      request: withoutFilledTarget(request, reservationOf(object)),
      reservationId,
      decisionId: ids.decision(),
    });
    if (reply.kind === "waiting" && asked.wait !== undefined) return writeQueued(object, reply.waiting);
    const refused = refusalIn(reply, engine.policy.disclosure);
    if (refused === undefined) return writeGranted(object);
    if (refused.code === "quota-exceeded") metrics?.demandUnmet("quota", { requester, key, request });
    return write(object, writeRefusal(refusedStatus(refused, context(), object)));
  };
  /** Writes the parties before the phase, so that readers of the phase find complete objects. */
  const writeGranted = async (object: Reservation): Promise<Reservation | undefined> => {
    const reservation = reservationOf(object);
    if (reservation === undefined) {
      throw new Fault("internal", `${objectKey(object)} was granted and is not in the ledger`);
    }
    const named = await write(object, setParties(object, reservation));
    if (named === undefined) return undefined;
    const status = reservationStatus(reservation, context(), named);
    return write(named, { kind: "write-status", status });
  };

  /** Without its place, which costs a walk through the queue. */
  const writeQueued = (object: Reservation, entry: Waiting): Promise<Reservation | undefined> => {
    const { policy } = engine;
    const status = waitingStatus(entry, { ...context(), policy, place: undefined }, object);
    return write(object, writeWaiting(status));
  };

  const renew = async (object: Reservation, { durationMs, problem = "" }: RenewalRequest): Promise<Reply> => {
    if (durationMs === undefined) return { kind: "rejected", code: "invalid", message: problem };
    const { requester, id } = identify(object);
    return engine.submit({ kind: "renew", by: { clusterId: requester, isAdmin: false }, id, durationMs });
  };

  /** Answers an object with another intent than Reserve. */
  const answer = async (object: Reservation, reply: ReservationStatus): Promise<Reservation | undefined> => {
    const answered = statusWrite(answerStatus(reply, context(), object), object, RESERVATION_OWNERSHIP);
    return answered && write(object, answered);
  };

  const calls: Calls = {
    decide: async (object, { asked }) => {
      // A refusal does not use up the key: deciding the object twice could give another result. Adding the finalizer requires
      // the planned version, so nobody has decided it meanwhile.
      const fresh = hasFinalizer(object) ? await reread(object) : await write(object, addFinalizer(object));
      return fresh && decide(fresh, asked);
    },
    submit: async (object, { command }) => {
      // The reply is not used: the next step reads the ledger.
      await engine.submit(command);
      return object;
    },
    renew: async (object, { renewal }) => {
      const reply = await renew(object, renewal);
      const isRefused = reply.kind === "rejected";
      const status = fitToSchema(reservationKind.status, {
        renewed: renewal.text,
        ...(isRefused ? { code: reply.code, explanation: reply.message } : {}),
      });
      // With its own field manager, so that other status writes do not remove it.
      const fieldManager = RENEWAL_FIELD_MANAGER;
      const written = await write(object, { kind: "apply", name: "renewed", fieldManager, part: { status } });
      recorder.record(
        isRefused
          ? renewalRefusedEvent(object, reply.message)
          : renewedEvent(object, reservationIn(reply).expiresAt),
      );
      return written;
    },
    "release-deleted": async (object) => {
      const own = entryOf(object);
      if (own === undefined || isFinal(own.phase)) return object;
      if (await isNamespaceTerminating(client, { namespace, kind: reservationKind })) {
        const why = "its namespace, or the definition of Reservations, is being deleted";
        log.warn({ reservation: own.id, object: objectKey(object), why }, "the reservation is not released");
        return write(object, removeFinalizer(object));
      }
      const by = { clusterId: own.requester, isAdmin: false };
      await engine.submit({ kind: "release", by, id: own.id });
      // The status is not written: the object is about to be deleted.
      recorder.record(releasedEvent(object, own.phase));
      return object;
    },
    quote: (object, { request }) =>
      answer(
        object,
        quoteStatus(engine.quote(identify(object).requester, request), engine.policy.disclosure),
      ),
    "close-key": async (object) => {
      const { requester, key } = identify(object);
      return answer(object, keyClosedStatus(await engine.submit({ kind: "release-by-key", requester, key })));
    },
    offer: async (object, { by, offer }) => {
      const party = { clusterId: by, isAdmin: false };
      const reply = await engine.submit({ kind: "adopt", by: party, offer });
      deps.offered(object);
      return answer(object, adoptionStatus(reply, { by, offer }));
    },
  };
  return (object, call) => perform(calls, object, call);
}

function perform<K extends ReservationCall["kind"]>(
  calls: Calls,
  object: Reservation,
  call: CallByKind[K] & { readonly kind: K },
): Promise<Reservation | undefined> {
  return calls[call.kind](object, call);
}
