import { RESERVATION_FINALIZER, type Reservation } from "@resource-broker/contract/crd";
import type { ReservationId } from "@resource-broker/domain";
import type { ReconcileResult } from "@resource-broker/kube";
import { reservationEvents } from "../builders/events.ts";
import { isImported } from "../builders/identify.ts";
import { orphanedStatus, type ReservationStatus, reservationStatus } from "../builders/reservation-status.ts";
import { assumeCache } from "../objects/assume-cache.ts";
import { RESERVATIONS, trimReservation } from "../objects/object-informers.ts";
import { FIELD_MANAGER } from "../ports.ts";
import {
  desiredReservation,
  hasOtherSpec,
  hasReservationName,
  isForgotten,
  isView,
  RESERVATION_OWNERSHIP,
} from "./reservation-view.ts";
import { type ViewController, type ViewsDeps, type ViewsOptions, viewWriter } from "./view-writer.ts";

/** Views of all reservations that no object of an agent or person represents. */
export function reservationViews(
  { namespace, objects }: ViewsOptions,
  deps: ViewsDeps,
): ViewController & { readonly forget: (id: ReservationId) => void } {
  const { engine, client, known, recorder, signal } = deps;
  const cache = assumeCache(known.reservations, trimReservation);
  const writer = viewWriter(
    {
      resource: RESERVATIONS,
      ownership: RESERVATION_OWNERSHIP,
      layers: [
        {
          fieldManager: FIELD_MANAGER,
          partOf: ({ metadata: { labels }, spec }) => ({ labels, spec }),
        },
      ],
      // Create and not apply: an agent's new object of the same name must not be changed.
      create: (wanted) => client.create(RESERVATIONS, wanted, { fieldManager: FIELD_MANAGER, signal }),
    },
    { ...deps, assume: cache.assume },
  );
  const keyOf = (id: ReservationId): string => `${namespace}/${id}`;
  /** Reservations that the ledger forgot during this process and that still have a view. */
  const forgotten = new Set<ReservationId>();
  const unsubscribe = known.reservations.listen((key, now) => {
    if (now === undefined) forgotten.delete(key.slice(namespace.length + 1));
  });

  const statusContext = () => ({
    ledger: engine.ledger,
    sliceDefaults: deps.sliceDefaults(),
    ledgerId: engine.ledgerId,
    now: engine.now(),
  });
  const writeStatus = async (status: ReservationStatus, object: Reservation): Promise<void> => {
    const isChanged = await writer.applyStatus(status, object);
    if (isChanged) for (const event of reservationEvents(object, status)) recorder.record(event);
  };

  const handleUnknown = async (id: ReservationId, object: Reservation): Promise<void> => {
    if (forgotten.has(id) || isForgotten(object, engine.ledgerId)) await writer.remove(object);
    else await writeStatus(orphanedStatus(object, statusContext()), object);
  };

  const applyView = async (id: ReservationId, object: Reservation | undefined): Promise<void> => {
    const reservation = engine.ledger.reservations.get(id);
    if (reservation === undefined) return;
    const desired = desiredReservation(reservation, namespace);
    if (object !== undefined && hasOtherSpec(desired, object)) {
      await writer.remove(object);
      return;
    }
    const written = await writer.apply(desired, object);
    // Read again, because it may have changed meanwhile.
    const current = engine.ledger.reservations.get(id);
    if (written === undefined || current === undefined) return;
    await writeStatus(reservationStatus(current, statusContext(), written), written);
  };

  /** Deleting a view releases nothing, so it needs no finalizer. A finalizer comes from a request that somebody labelled as a view. */
  const removeFinalizer = async (object: Reservation): Promise<void> => {
    if (object.metadata.finalizers?.includes(RESERVATION_FINALIZER) === true)
      await writer.removeFinalizer(object, RESERVATION_FINALIZER);
  };

  const isOwnedByBroker = (object: Reservation, id: ReservationId): boolean =>
    isView(object) ||
    (engine.ledger.reservations.has(id) && hasReservationName(object)) ||
    isImported(object, engine.ledger.reservations.get(id));

  const reconcile = async (id: string): Promise<ReconcileResult> => {
    const object = cache.get(keyOf(id));
    if (object !== undefined && !isOwnedByBroker(object, id)) return {};
    if (object?.metadata.deletionTimestamp !== undefined) {
      await removeFinalizer(object);
      return {};
    }
    if (!engine.ledger.reservations.has(id)) {
      if (object !== undefined) await handleUnknown(id, object);
      return {};
    }
    // Without the kubernetes interface, request objects are not updated, so views are needed.
    const hasRequestObject = objects && known.requestsFor(id).length > 0;
    if (!hasRequestObject) await applyView(id, object);
    else if (object !== undefined) await writer.remove(object);
    return {};
  };

  return {
    reconcile,
    forget: (id) => {
      if (cache.get(keyOf(id)) !== undefined) forgotten.add(id);
    },
    stop: () => {
      unsubscribe();
      cache.stop();
    },
  };
}
