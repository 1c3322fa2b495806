import {
  type ClusterAdvertisement,
  clusterAdvertisementName,
  type Reservation,
} from "@resource-broker/contract/crd";
import type {
  AccountView,
  Advertisement,
  ClusterId,
  Instant,
  LedgerEvent,
  LedgerView,
  ReservationId,
} from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import { dataPlaneId, hasAdvertised } from "../../shared/advertised-account.ts";
import { advertisementController } from "../advertisements/advertisement-controller.ts";
import { hasViewLabel, identify } from "../builders/identify.ts";
import type { KubernetesPart, ProjectionDeps, ProjectionOptions } from "../ports.ts";
import { reservationController } from "../reservations/reservation-controller.ts";
import type { Controller } from "./controller.ts";
import { rateLimiter } from "./rate-limiter.ts";

/** Of views: at most 20 writes in any second, including a burst after an idle time. */
const WRITE_RATE = { perSecond: 16, burst: 4 };
const POLL_MS = 1000;
/** Full resync, for changes without an event. */
const RESYNC_MS = 300_000;
/** Places in the queue; only those that objects show, and each once a minute at most. */
const QUEUE_LOOK_MS = 5000;
/** Delay before a cluster is written, because its available capacity may change many times per second. */
const CAPACITY_DELAY_MS = 250;

/**
 * The ledger as objects: answers what agents and people write, and shows the rest of the ledger as views. All changes of
 * ledger and objects only name what to look at; the controllers compare and write.
 */
export function createProjection(options: ProjectionOptions, deps: ProjectionDeps): KubernetesPart {
  const { engine, known, clock } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const kindDeps = { ...deps, signal, limiter: rateLimiter(WRITE_RATE, { ...deps, signal }) };
  const advertisements = advertisementController(options, kindDeps);
  const reservations = reservationController(options, kindDeps);
  const cleanups: (() => void)[] = [];

  /** The reservation's view, and the objects that ask for it or offer it. */
  const enqueueReservation = (id: ReservationId): void => {
    for (const { metadata } of known.requestsFor(id)) reservations.enqueue(metadata.name);
    for (const key of known.offersOf(id)) reservations.enqueue(nameIn(key));
    reservations.enqueueSlowly(id);
  };
  const onCommit = ({ events }: Committed): void => {
    for (const event of events) {
      const id = reservationIn(event);
      if (id === undefined) continue;
      if (event.kind === "forgotten") reservations.forget(id);
      enqueueReservation(id);
      const { requester, provider } = engine.ledger.reservations.get(id) ?? {};
      for (const clusterId of [requester, provider])
        if (clusterId !== undefined)
          advertisements.enqueueAfter(clusterAdvertisementName(clusterId), CAPACITY_DELAY_MS);
    }
  };
  const enqueueAll = (): void => {
    for (const account of engine.ledger.accounts.values())
      if (hasAdvertised(account)) advertisements.enqueueSlowly(clusterAdvertisementName(account.clusterId));
    for (const { metadata } of known.advertisements.values()) advertisements.enqueueSlowly(metadata.name);
    for (const { metadata } of known.reservations.values()) reservations.enqueueSlowly(metadata.name);
    for (const id of engine.ledger.reservations.keys()) reservations.enqueueSlowly(id);
  };

  const changed = accountWatch();
  const poll = (): void => {
    const { stalenessMs } = engine.policy;
    for (const { account, isEndpointChanged } of changed(engine.ledger, { now: engine.now(), stalenessMs })) {
      advertisements.enqueueSlowly(clusterAdvertisementName(account.clusterId));
      if (!isEndpointChanged) continue;
      for (const id of account.asProvider.keys()) enqueueReservation(id);
      for (const id of account.asRequester.keys()) enqueueReservation(id);
    }
    advertisements.refreshSome();
  };

  const every = (intervalMs: number, action: () => void): (() => void) => {
    let cancel = (): void => undefined;
    const schedule = (): void => {
      cancel = clock.after(intervalMs, () => {
        schedule();
        action();
      });
    };
    schedule();
    return () => cancel();
  };

  return {
    start: () => {
      cleanups.push(
        engine.onCommit(onCommit),
        known.advertisements.listen((key, now) => enqueueObject(advertisements, key, now)),
        known.reservations.listen((key, now, before) => {
          enqueueObject(reservations, key, now);
          // The reservation that the object represents, or represented before, may need a view now.
          for (const object of [now, before])
            if (object !== undefined) reservations.enqueueSlowly(identify(object).id);
        }),
        every(POLL_MS, poll),
        every(RESYNC_MS, enqueueAll),
        ...(options.objects ? [every(QUEUE_LOOK_MS, reservations.lookAtQueue)] : []),
      );
      enqueueAll();
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of cleanups.splice(0)) end();
      stopping.abort();
      await Promise.all([advertisements.stop(), reservations.stop()]);
    },
  };
}

/** Answers are due at once. A view is not, and one that somebody deletes may be replaced by them in the same moment. */
function enqueueObject(
  { enqueue, enqueueSlowly }: Controller,
  key: string,
  now: Reservation | ClusterAdvertisement | undefined,
): void {
  const isView = now === undefined || hasViewLabel(now);
  (isView ? enqueueSlowly : enqueue)(nameIn(key));
}

function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/** The reservation that an event is about, if it is about one. */
function reservationIn(event: LedgerEvent): ReservationId | undefined {
  if ("reservation" in event) return event.reservation.id;
  return "id" in event ? event.id : undefined;
}

interface AccountChange {
  readonly account: AccountView;
  /** True if endpoint or data plane identity changed, which the views of its reservations show. */
  readonly isEndpointChanged: boolean;
}

/**
 * Returns the accounts that changed since the last poll. Advertisements are not commits, and staleness has no event. A poll
 * compares references, so ten thousand clusters take a millisecond.
 */
function accountWatch(): (
  ledger: LedgerView,
  moment: { readonly now: Instant; readonly stalenessMs: number },
) => readonly AccountChange[] {
  const seen = new Map<ClusterId, readonly [Advertisement, ...unknown[]]>();
  return ({ accounts }, { now, stalenessMs }) => {
    const changes: AccountChange[] = [];
    for (const account of accounts.values()) {
      const { clusterId, advertisement, reserved, available, cordon, evictedAt, receivedAt } = account;
      if (advertisement === undefined) continue;
      const isStale = now - receivedAt > stalenessMs;
      const current = [advertisement, reserved, available, cordon, evictedAt, isStale] as const;
      const before = seen.get(clusterId);
      if (before !== undefined && current.every((part, index) => part === before[index])) continue;
      seen.set(clusterId, current);
      const isEndpointChanged = before !== undefined && endpointOf(before[0]) !== endpointOf(advertisement);
      changes.push({ account, isEndpointChanged });
    }
    return changes;
  };
}

function endpointOf(advertisement: Advertisement): string {
  const { endpointUrl = "", protocol } = advertisement;
  return `${endpointUrl} ${dataPlaneId(advertisement) ?? ""} ${protocol}`;
}
