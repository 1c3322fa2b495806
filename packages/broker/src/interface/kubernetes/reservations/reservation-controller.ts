import { NOBODY, type Reservation } from "@resource-broker/contract/crd";
import type { LedgerEvent, ReservationId } from "@resource-broker/domain";
import { reconcileLoop } from "@resource-broker/kube";
import type { Committed } from "../../../engine/engine.ts";
import { idMaker } from "../../shared/make-ids.ts";
import { assumeCache } from "../objects/assume-cache.ts";
import { type ObjectInformers, trimReservation } from "../objects/object-informers.ts";
import { stepReconciler } from "../objects/step-reconciler.ts";
import type { KubernetesDeps, KubernetesPart } from "../ports.ts";
import { intentSteps } from "./intent-steps.ts";
import { planReservation } from "./plan-reservation.ts";
import { requestSteps } from "./request-steps.ts";
import { reservationWriter } from "./reservation-writer.ts";
import { statusWriter as createTeller } from "./status-writer.ts";
import { doStep, type StepsOf, type Work } from "./step.ts";

/** Requests that come together are decided in one commit. */
const CONCURRENCY = 16;
const RESYNC_MS = 5 * 60 * 1000;
/** The ledger drops unconfirmed offers, so they are submitted again after this time. */
const OFFER_VALID_MS = 10 * 60 * 1000;

/** Reconciles Reservations of agents and people, and signals on the broker's views. */
export function serveReservations(
  { namespace }: { readonly namespace: string },
  deps: KubernetesDeps & { readonly known: ObjectInformers },
): KubernetesPart {
  const { engine, known, clock, random, log, isLeading } = deps;
  const cache = assumeCache(known.reservations, trimReservation);
  const writer = reservationWriter(deps.client);
  const statusWriter = createTeller({ ...deps, writer, cache });
  const offers = new Map<string, number>();
  const offered = ({ metadata }: Reservation): void =>
    void offers.set(metadata.uid ?? "", clock.monotonicMs() + OFFER_VALID_MS);
  const parts = { ...deps, namespace, writer, cache, statusWriter, offered, ids: idMaker(deps.randomBytes) };
  const steps: StepsOf<Work["kind"]> = { ...requestSteps(parts), ...intentSteps(parts) };

  const planFor = (object: Reservation) =>
    planReservation({
      object,
      ...statusWriter.context(),
      mayBeUnnamed: Object.hasOwn(engine.policy.quotas, NOBODY),
      isOffered: (offers.get(object.metadata.uid ?? "") ?? 0) > clock.monotonicMs(),
    });

  const loop = reconcileLoop(
    {
      name: "Reservation",
      concurrency: CONCURRENCY,
      reconcile: stepReconciler<Reservation, Work>({
        cache,
        isLeading,
        plan: planFor,
        nameOf: (step) => (step.kind === "submit" ? step.command.kind : step.kind),
        perform: (object, step) => doStep(steps, object, step),
      }),
      resync: { everyMs: RESYNC_MS, keys: known.reservations.keys },
    },
    { clock, random, log },
  );

  const follow = (id: ReservationId): void => {
    for (const { metadata } of known.requestsFor(id)) loop.enqueue(`${metadata.namespace}/${metadata.name}`);
    for (const key of known.offersOf(id)) loop.enqueue(key);
  };
  const cleanups: (() => void)[] = [];
  return {
    start: () => {
      cleanups.push(
        known.reservations.listen((key, now, before) => {
          if (now !== undefined) return loop.enqueue(key);
          statusWriter.forget(key);
          offers.delete(before?.metadata.uid ?? "");
        }),
        engine.onCommit(({ events }: Committed) => {
          for (const event of events) follow(subjectOf(event) ?? "");
        }),
      );
      for (const key of known.reservations.keys()) loop.enqueue(key);
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of cleanups.splice(0)) end();
      await loop.stop();
      cache.stop();
    },
  };
}

/** The reservation that an event is about, if it is about one. */
function subjectOf(event: LedgerEvent): ReservationId | undefined {
  if (event.kind === "granted" || event.kind === "adopted") return event.reservation.id;
  return "id" in event ? event.id : undefined;
}
