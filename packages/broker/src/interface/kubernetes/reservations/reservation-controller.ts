import { NOBODY, type Reservation } from "@resource-broker/contract/crd";
import type { ReservationId } from "@resource-broker/domain";
import { reservationEvents } from "../builders/events.ts";
import {
  decisionText,
  RESERVATION_OWNERSHIP,
  type ReservationStatus,
  type StatusContext,
} from "../builders/reservation-status.ts";
import { RESERVATIONS, trimReservation } from "../objects/object-informers.ts";
import { FIELD_MANAGER, type KindDeps, type ProjectionOptions } from "../ports.ts";
import { type Controller, controller } from "../projection/controller.ts";
import { identify } from "../builders/identify.ts";
import { queuePlaces } from "./queue-places.ts";
import { planReservation } from "./plan-reservation.ts";
import { reservationCalls } from "./reservation-calls.ts";
import type { ReservationCall } from "./step.ts";

/** The ledger drops unconfirmed offers, so they are submitted again after this time. */
const OFFER_VALID_MS = 10 * 60 * 1000;

export interface ReservationController extends Controller {
  /** The ledger forgot this reservation: its view goes. */
  readonly forget: (id: ReservationId) => void;
  /** Call it from time to time: computes places in the queue, for the objects that show them. */
  readonly lookAtQueue: () => void;
}

/** Answers Reservations of agents and people, and shows all reservations that no such object represents. */
export function reservationController(options: ProjectionOptions, deps: KindDeps): ReservationController {
  const { namespace, objects } = options;
  const { engine, store, client, known, clock, signal } = deps;
  /** Until when an offer needs not be repeated, by UID. */
  const offers = new Map<string, number>();
  /** Reservations that the ledger forgot during this process and that still have a view. */
  const forgotten = new Set<ReservationId>();

  const places = queuePlaces(engine, (id) => known.requestsFor(id).length > 0);

  const context = (): StatusContext => ({
    ledger: engine.ledger,
    sliceDefaults: deps.sliceDefaults(),
    ledgerId: engine.ledgerId,
    now: engine.now(),
  });
  const withDecision = async (status: ReservationStatus): Promise<ReservationStatus> => {
    if (status.decisionID === undefined) return status;
    const decision = await store.findDecision(status.decisionID);
    return decision === undefined
      ? status
      : { ...status, ...decisionText(decision, engine.policy.disclosure) };
  };
  const offered = ({ metadata }: Reservation): void =>
    void offers.set(metadata.uid ?? "", clock.monotonicMs() + OFFER_VALID_MS);

  const served = controller<Reservation, ReservationCall>(
    {
      name: "Reservation",
      what: "showing reservations",
      resource: RESERVATIONS,
      ownership: RESERVATION_OWNERSHIP,
      namespace,
      known: known.reservations,
      trim: trimReservation,
      // Create and not apply: an agent's new object of the same name must not be changed.
      create: (desired) => client.create(RESERVATIONS, desired, { fieldManager: FIELD_MANAGER, signal }),
      complete: withDecision,
      eventsFor: reservationEvents,
      onGone: (key, before) => {
        forgotten.delete(key.slice(namespace.length + 1));
        offers.delete(before?.metadata.uid ?? "");
      },
      plan: (name, object) =>
        planReservation({
          ...options,
          ...context(),
          name,
          object,
          policy: engine.policy,
          place: object && places.of(identify(object).id),
          mayBeUnnamed: Object.hasOwn(engine.policy.quotas, NOBODY),
          isOffered: (offers.get(object?.metadata.uid ?? "") ?? 0) > clock.monotonicMs(),
          // Without the kubernetes interface, request objects are not updated, so views are needed.
          hasRequest: objects && known.requestsFor(name).length > 0,
          isForgotten: forgotten.has(name),
        }),
      calls: (own) => reservationCalls({ ...deps, ...own, namespace, context, offered }),
    },
    deps,
  );
  return {
    ...served,
    forget: (id) => {
      if (served.has(id)) forgotten.add(id);
    },
    lookAtQueue: () => {
      for (const id of places.look())
        for (const { metadata } of known.requestsFor(id)) served.enqueueSlowly(metadata.name);
    },
  };
}
