import { RESERVATION_FINALIZER, type Reservation } from "@resource-broker/contract";
import type { ReservationId } from "@resource-broker/domain";
import type { ReconcileResult } from "@resource-broker/kube";
import { reservationHappenings } from "../forge/happenings.ts";
import { isImported } from "../forge/identify.ts";
import { orphanedStatus, reservationStatus, type ReservationStatus } from "../forge/reservation-status.ts";
import { keptReservation } from "../objects/known-objects.ts";
import { newestObjects } from "../objects/newest-objects.ts";
import { RESERVATIONS } from "../objects/resources.ts";
import { FIELD_MANAGER } from "../ports.ts";
import { painter } from "./painter.ts";
import {
  isForgotten,
  isInTheWay,
  isNamesake,
  isPicture,
  RESERVATION_SHARE,
  reservationPicture,
} from "./reservation-view.ts";
import type { KindOfView, ViewsDeps, ViewsOptions } from "./kind-of-view.ts";

/** Views of all reservations that no object of an agent or person represents. */
export function reservationViews(
  { namespace, objects }: ViewsOptions,
  deps: ViewsDeps,
): KindOfView & { readonly forget: (id: ReservationId) => void } {
  const { engine, client, known, recorder, signal } = deps;
  const newest = newestObjects(known.reservations, keptReservation);
  const brush = painter(
    {
      resource: RESERVATIONS,
      share: RESERVATION_SHARE,
      layers: [
        {
          fieldManager: FIELD_MANAGER,
          partOf: ({ metadata: { labels }, spec }) => ({ labels, spec }),
        },
      ],
      // Create and not apply: an agent's new object of the same name must not be changed.
      create: (wanted) => client.create(RESERVATIONS, wanted, { fieldManager: FIELD_MANAGER, signal }),
    },
    { ...deps, wrote: newest.wrote },
  );
  const keyOf = (id: ReservationId): string => `${namespace}/${id}`;
  /** Reservations that the ledger forgot during this process and that still have a view. */
  const forgotten = new Set<ReservationId>();
  const endListening = known.reservations.listen((key, now) => {
    if (now === undefined) forgotten.delete(key.slice(namespace.length + 1));
  });

  const telling = () => ({
    ledger: engine.ledger,
    sliceDefaults: deps.sliceDefaults(),
    ledgerId: engine.ledgerId,
    now: engine.now(),
  });
  const paintStatus = async (status: ReservationStatus, object: Reservation): Promise<void> => {
    const isNews = await brush.paintStatus(status, object);
    if (isNews) for (const happening of reservationHappenings(object, status)) recorder.record(happening);
  };

  const tidyUnknown = async (id: ReservationId, object: Reservation): Promise<void> => {
    if (forgotten.has(id) || isForgotten(object, engine.ledgerId)) await brush.remove(object);
    else await paintStatus(orphanedStatus(object, telling()), object);
  };

  const show = async (id: ReservationId, object: Reservation | undefined): Promise<void> => {
    const reservation = engine.ledger.reservations.get(id);
    if (reservation === undefined) return;
    const wanted = reservationPicture(reservation, namespace);
    if (object !== undefined && isInTheWay(wanted, object)) {
      await brush.remove(object);
      return;
    }
    const painted = await brush.paint(wanted, object);
    // Read again, because it may have changed meanwhile.
    const current = engine.ledger.reservations.get(id);
    if (painted === undefined || current === undefined) return;
    await paintStatus(reservationStatus(current, telling(), painted), painted);
  };

  /** Deleting a view releases nothing, so it needs no finalizer. A finalizer comes from a request that somebody labelled as a view. */
  const letGo = async (object: Reservation): Promise<void> => {
    if (object.metadata.finalizers?.includes(RESERVATION_FINALIZER) === true)
      await brush.letGo(object, RESERVATION_FINALIZER);
  };

  const isTheBrokers = (object: Reservation, id: ReservationId): boolean =>
    isPicture(object) ||
    (engine.ledger.reservations.has(id) && isNamesake(object)) ||
    isImported(object, engine.ledger.reservations.get(id));

  const reconcile = async (id: string): Promise<ReconcileResult> => {
    const object = newest.get(keyOf(id));
    if (object !== undefined && !isTheBrokers(object, id)) return {};
    if (object?.metadata.deletionTimestamp !== undefined) {
      await letGo(object);
      return {};
    }
    if (!engine.ledger.reservations.has(id)) {
      if (object !== undefined) await tidyUnknown(id, object);
      return {};
    }
    // Without the kubernetes interface, request objects are not updated, so views are needed.
    const isStoodFor = objects && known.requestsFor(id).length > 0;
    if (!isStoodFor) await show(id, object);
    else if (object !== undefined) await brush.remove(object);
    return {};
  };

  return {
    reconcile,
    forget: (id) => {
      if (newest.get(keyOf(id)) !== undefined) forgotten.add(id);
    },
    stop: () => {
      endListening();
      newest.stop();
    },
  };
}
