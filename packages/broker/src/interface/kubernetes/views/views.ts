import { type Clock, type Fault, toFault } from "@resource-broker/base";
import { clusterAdvertisementName } from "@resource-broker/contract/crd";
import type { LedgerEvent } from "@resource-broker/domain";
import { type ReconcileResult, type Reconciler, reconcileLoop } from "@resource-broker/kube";
import type { Committed } from "../../../engine/engine.ts";
import { hasAdvertised } from "../../shared/advertised-account.ts";
import { identify } from "../builders/identify.ts";
import type { KubernetesPart, PartDeps } from "../ports.ts";
import { accountWatch } from "./account-watch.ts";
import { advertisementViews } from "./advertisement-views.ts";
import { isServerFault, rateLimiter } from "./rate-limiter.ts";
import { reservationViews } from "./reservation-views.ts";
import type { ViewsOptions } from "./view-writer.ts";

/** At most 20 writes in any second, including a burst after an idle time. */
const WRITE_RATE = { perSecond: 16, burst: 4 };
const POLL_MS = 1000;
/** Full resync, for changes without an event. */
const RESYNC_MS = 600_000;
/** Writes the views of the ledger, asynchronously to the engine. */
export function createViews(options: ViewsOptions, deps: PartDeps): KubernetesPart {
  const { engine, known, clock } = deps;
  const limiter = rateLimiter(WRITE_RATE, deps);
  const writeQueues = {
    advertisements: limiter.queue("showing clusters"),
    reservations: limiter.queue("showing reservations"),
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const advertisements = advertisementViews(options, { ...deps, signal, queue: writeQueues.advertisements });
  const reservations = reservationViews(options, { ...deps, signal, queue: writeQueues.reservations });
  const reconcilers = {
    advertisements: viewReconciler({ name: "cluster view", reconcile: advertisements.reconcile }, deps),
    reservations: viewReconciler({ name: "reservation view", reconcile: reservations.reconcile }, deps),
  };
  const queues = {
    advertisements: nameQueue(reconcilers.advertisements.enqueue, clock),
    reservations: nameQueue(reconcilers.reservations.enqueue, clock),
  };
  const cleanups: (() => void)[] = [];

  const onCommit = ({ events }: Committed): void => {
    for (const event of events) {
      const id = reservationIn(event);
      if (id === undefined) continue;
      if (event.kind === "forgotten") reservations.forget(id);
      queues.reservations.add(id);
      const parties = engine.ledger.reservations.get(id);
      if (parties !== undefined) queues.advertisements.add(clusterAdvertisementName(parties.provider));
    }
  };
  const enqueueAll = (): void => {
    for (const account of engine.ledger.accounts.values())
      if (hasAdvertised(account)) queues.advertisements.add(clusterAdvertisementName(account.clusterId));
    for (const { metadata } of known.advertisements.values()) queues.advertisements.add(metadata.name);
    for (const id of engine.ledger.reservations.keys()) queues.reservations.add(id);
    for (const { metadata } of known.reservations.values()) queues.reservations.add(metadata.name);
  };

  const changed = accountWatch();
  const enqueueChangedAccounts = (): void => {
    const { stalenessMs } = engine.policy;
    for (const { account, isEndpointChanged } of changed(engine.ledger, { now: engine.now(), stalenessMs })) {
      queues.advertisements.add(clusterAdvertisementName(account.clusterId));
      if (!isEndpointChanged) continue;
      for (const id of account.asProvider.keys()) queues.reservations.add(id);
      for (const id of account.asRequester.keys()) queues.reservations.add(id);
    }
  };
  const refreshSome = refresher(advertisements.outdated, (name) => {
    advertisements.refresh(name);
    queues.advertisements.add(name);
  });
  const poll = (): void => {
    enqueueChangedAccounts();
    if (!writeQueues.advertisements.isBusy()) refreshSome();
  };

  return {
    start: () => {
      cleanups.push(
        engine.onCommit(onCommit),
        known.advertisements.listen((key) => queues.advertisements.add(nameIn(key))),
        known.reservations.listen((key, now, before) => {
          queues.reservations.add(nameIn(key));
          // The reservation that the object represents, or represented before, may need a view now.
          for (const object of [now, before])
            if (object !== undefined) queues.reservations.add(identify(object).id);
        }),
        every(POLL_MS, poll, clock),
        every(RESYNC_MS, enqueueAll, clock),
      );
      enqueueAll();
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of cleanups.splice(0)) end();
      for (const each of Object.values(queues)) each.stop();
      limiter.close();
      stopping.abort();
      await Promise.all(Object.values(reconcilers).map((each) => each.stop()));
      advertisements.stop();
      reservations.stop();
    },
  };
}

/** A view that differs only in the time of the last advertisement is written after this many polls, if no other write waits. */
const REFRESH_EVERY_POLLS = 30;
const REFRESHED_AT_ONCE = 4;

/** Refreshes outdated views, oldest first, a few per poll, and each at most once in a while. */
function refresher(outdated: Set<string>, refresh: (name: string) => void): () => void {
  const since = new Map<string, number>();
  let polls = 0;
  return () => {
    polls++;
    for (const name of since.keys()) if (!outdated.has(name)) since.delete(name);
    for (const name of outdated) if (!since.has(name)) since.set(name, polls);
    let left = REFRESHED_AT_ONCE;
    for (const [name, found] of since) {
      if (left === 0 || polls - found < REFRESH_EVERY_POLLS) break;
      left--;
      since.delete(name);
      refresh(name);
    }
  };
}

function every(intervalMs: number, action: () => void, clock: PartDeps["clock"]): () => void {
  let cancel = (): void => undefined;
  const schedule = (): void => {
    cancel = clock.after(intervalMs, () => {
      schedule();
      action();
    });
  };
  schedule();
  return () => cancel();
}

function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

function reservationIn(event: LedgerEvent): string | undefined {
  if ("reservation" in event) return event.reservation.id;
  return "id" in event && event.kind !== "adoption-withdrawn" ? event.id : undefined;
}

/** Retry delay after a conflict: the watch delivers the new object soon. */
const CONFLICT_RETRY_MS = 200;
/** Retry delay if the server is unavailable; the rate limiter decides when to probe. */
const UNAVAILABLE_RETRY_MS = 1000;
/** One name can be reconciled while another waits for the rate limiter or the API server. */
const CONCURRENCY = 2;

interface ViewReconcilerOptions {
  readonly name: string;
  readonly reconcile: (name: string) => Promise<ReconcileResult>;
}

/** Reconciles names one after the other. Server faults are logged once and retried, not logged per object. */
function viewReconciler(
  { name, reconcile }: ViewReconcilerOptions,
  deps: Pick<PartDeps, "clock" | "random" | "log" | "isLeading">,
): Reconciler {
  let isStopping = false;
  const reconcileOne = async (key: string): Promise<ReconcileResult> => {
    if (isStopping || !deps.isLeading()) return {};
    try {
      return await reconcile(key);
    } catch (error) {
      const fault = toFault(error);
      if (isServerFault(fault)) return { requeueAfterMs: UNAVAILABLE_RETRY_MS };
      if (isWriteConflict(fault)) return { requeueAfterMs: CONFLICT_RETRY_MS };
      throw fault;
    }
  };
  const loop = reconcileLoop({ name, reconcile: reconcileOne, concurrency: CONCURRENCY }, deps);
  return {
    ...loop,
    stop: async () => {
      isStopping = true;
      await loop.stop();
    },
  };
}

function isWriteConflict({ code }: Fault): boolean {
  return code === "conflict" || code === "already-exists";
}

/** Names are handled in small groups with pauses, so that a hundred thousand comparisons do not block the engine. */
const NAMES_PER_TURN = 100;
const PAUSE_MS = 5;

/** A queue of names to reconcile, without duplicates. */
interface NameQueue {
  readonly add: (name: string) => void;
  readonly stop: () => void;
}

function nameQueue(handle: (name: string) => void, clock: Pick<Clock, "after">): NameQueue {
  const names = new Set<string>();
  let cancel: (() => void) | undefined;
  const drainSome = (): void => {
    let left = NAMES_PER_TURN;
    for (const name of names) {
      if (left-- === 0) break;
      names.delete(name);
      handle(name);
    }
    cancel = names.size === 0 ? undefined : clock.after(PAUSE_MS, drainSome);
  };
  return {
    add: (name) => {
      names.add(name);
      cancel ??= clock.after(0, drainSome);
    },
    stop: () => {
      cancel?.();
      cancel = () => undefined;
      names.clear();
    },
  };
}
