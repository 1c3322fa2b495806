import { NOBODY } from "@resource-broker/contract/crd";
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
import { assumeCache, objectWriter } from "../projection/object-writer.ts";
import { planReservation } from "./plan-reservation.ts";
import { reservationCalls } from "./reservation-calls.ts";

/** The ledger drops unconfirmed offers, so they are submitted again after this time. */
const OFFER_VALID_MS = 10 * 60 * 1000;

export interface ReservationController extends Controller {
  /** The ledger forgot this reservation: its view goes. */
  readonly forget: (id: ReservationId) => void;
}

/** Answers Reservations of agents and people, and shows all reservations that no such object represents. */
export function reservationController(options: ProjectionOptions, deps: KindDeps): ReservationController {
  const { namespace, objects } = options;
  const { engine, store, client, known, clock, limiter, signal } = deps;
  const lane = limiter.lane("showing reservations");
  const cache = assumeCache(known.reservations, trimReservation);
  const keyOf = (name: string): string => `${namespace}/${name}`;
  /** Until when an offer needs not be repeated, by UID. */
  const offers = new Map<string, number>();
  /** Reservations that the ledger forgot during this process and that still have a view. */
  const forgotten = new Set<ReservationId>();

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
  const writer = objectWriter(
    {
      resource: RESERVATIONS,
      ownership: RESERVATION_OWNERSHIP,
      // Create and not apply: an agent's new object of the same name must not be changed.
      create: (desired) => client.create(RESERVATIONS, desired, { fieldManager: FIELD_MANAGER, signal }),
      complete: withDecision,
      eventsFor: reservationEvents,
    },
    { ...deps, cache, run: lane.run },
  );
  const unsubscribe = known.reservations.listen((key, now, before) => {
    if (now !== undefined) return;
    writer.forget(key);
    forgotten.delete(key.slice(namespace.length + 1));
    offers.delete(before?.metadata.uid ?? "");
  });

  const served = controller(
    {
      name: "Reservation",
      find: (name) => cache.get(keyOf(name)),
      plan: (name, object) =>
        planReservation({
          ...options,
          ...context(),
          name,
          object,
          mayBeUnnamed: Object.hasOwn(engine.policy.quotas, NOBODY),
          isOffered: (offers.get(object?.metadata.uid ?? "") ?? 0) > clock.monotonicMs(),
          // Without the kubernetes interface, request objects are not updated, so views are needed.
          hasRequest: objects && known.requestsFor(name).length > 0,
          isForgotten: forgotten.has(name),
        }),
      write: writer,
      call: reservationCalls({
        ...deps,
        namespace,
        write: writer.answer,
        context,
        assume: cache.assume,
        offered: ({ metadata }) => offers.set(metadata.uid ?? "", clock.monotonicMs() + OFFER_VALID_MS),
      }),
    },
    { ...deps, lane },
  );
  return {
    ...served,
    forget: (id) => {
      if (cache.get(keyOf(id)) !== undefined) forgotten.add(id);
    },
    stop: async () => {
      await served.stop();
      unsubscribe();
      cache.stop();
    },
  };
}
