import { clusterAdvertisementName } from "@resource-broker/contract";
import type { LedgerEvent } from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import { identify } from "../forge/identify.ts";
import type { KubernetesPart, PartDeps } from "../ports.ts";
import { accountWatch } from "./account-watch.ts";
import { hasAdvertised } from "./advertisement-view.ts";
import { advertisementViews } from "./advertisement-views.ts";
import { attention } from "./attention.ts";
import type { ViewsOptions } from "./kind-of-view.ts";
import { pace } from "./pace.ts";
import { reservationViews } from "./reservation-views.ts";
import { viewRounds } from "./rounds.ts";

/** In no second more than twenty writes, a burst after a rest included. */
const WRITES = { perSecond: 16, burst: 4 };
const LOOK_MS = 1000;
/** Full resync, for changes without an event. */
const COMPARE_ALL_MS = 600_000;
/** A view that differs only in the time of the last advertisement is written after this many polls, if no other write waits. */
const REFRESH_EVERY_LOOKS = 30;
const REFRESHED_AT_ONCE = 4;

/** Shows the ledger as objects, asynchronously to the engine. */
export function createViews(options: ViewsOptions, deps: PartDeps): KubernetesPart {
  const { engine, known, clock } = deps;
  const writes = pace(WRITES, deps);
  const lanes = {
    advertisements: writes.lane("showing clusters"),
    reservations: writes.lane("showing reservations"),
  };
  const ended = new AbortController();
  const { signal } = ended;
  const advertisements = advertisementViews(options, { ...deps, signal, lane: lanes.advertisements });
  const reservations = reservationViews(options, { ...deps, signal, lane: lanes.reservations });
  const rounds = {
    advertisements: viewRounds({ name: "cluster view", reconcile: advertisements.reconcile }, deps),
    reservations: viewRounds({ name: "reservation view", reconcile: reservations.reconcile }, deps),
  };
  const attend = {
    advertisements: attention(rounds.advertisements.enqueue, clock),
    reservations: attention(rounds.reservations.enqueue, clock),
  };
  const endings: (() => void)[] = [];

  const hear = ({ events }: Committed): void => {
    for (const event of events) {
      const id = reservationIn(event);
      if (id === undefined) continue;
      if (event.kind === "forgotten") reservations.forget(id);
      attend.reservations.notice(id);
      const parties = engine.ledger.reservations.get(id);
      if (parties !== undefined) attend.advertisements.notice(clusterAdvertisementName(parties.provider));
    }
  };
  const compareAll = (): void => {
    for (const account of engine.ledger.accounts.values())
      if (hasAdvertised(account)) attend.advertisements.notice(clusterAdvertisementName(account.clusterId));
    for (const { metadata } of known.advertisements.values()) attend.advertisements.notice(metadata.name);
    for (const id of engine.ledger.reservations.keys()) attend.reservations.notice(id);
    for (const { metadata } of known.reservations.values()) attend.reservations.notice(metadata.name);
  };

  const changed = accountWatch();
  const lookAtAccounts = (): void => {
    const { stalenessMs } = engine.policy;
    for (const { account, isMoved } of changed(engine.ledger, { now: engine.now(), stalenessMs })) {
      attend.advertisements.notice(clusterAdvertisementName(account.clusterId));
      if (!isMoved) continue;
      for (const id of account.asProvider.keys()) attend.reservations.notice(id);
      for (const id of account.asRequester.keys()) attend.reservations.notice(id);
    }
  };
  const refreshSome = refresher(advertisements.outdated, (name) => {
    advertisements.refresh(name);
    attend.advertisements.notice(name);
  });
  const look = (): void => {
    lookAtAccounts();
    if (!lanes.advertisements.isBusy()) refreshSome();
  };

  return {
    start: () => {
      endings.push(
        engine.onCommit(hear),
        known.advertisements.listen((key) => attend.advertisements.notice(nameIn(key))),
        known.reservations.listen((key, now, before) => {
          attend.reservations.notice(nameIn(key));
          // What it stands for, or stood for, may need a view now.
          for (const object of [now, before])
            if (object !== undefined) attend.reservations.notice(identify(object).id);
        }),
        every(LOOK_MS, look, clock),
        every(COMPARE_ALL_MS, compareAll, clock),
      );
      compareAll();
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of endings.splice(0)) end();
      for (const each of Object.values(attend)) each.stop();
      writes.close();
      ended.abort();
      await Promise.all(Object.values(rounds).map((each) => each.stop()));
      advertisements.stop();
      reservations.stop();
    },
  };
}

/** Refreshes outdated views, oldest first, a few per poll, and each at most once in a while. */
function refresher(outdated: Set<string>, refresh: (name: string) => void): () => void {
  const since = new Map<string, number>();
  let looks = 0;
  return () => {
    looks++;
    for (const name of since.keys()) if (!outdated.has(name)) since.delete(name);
    for (const name of outdated) if (!since.has(name)) since.set(name, looks);
    let left = REFRESHED_AT_ONCE;
    for (const [name, found] of since) {
      if (left === 0 || looks - found < REFRESH_EVERY_LOOKS) break;
      left--;
      since.delete(name);
      refresh(name);
    }
  };
}

function every(intervalMs: number, action: () => void, clock: PartDeps["clock"]): () => void {
  let cancel = (): void => undefined;
  const plan = (): void => {
    cancel = clock.after(intervalMs, () => {
      plan();
      action();
    });
  };
  plan();
  return () => cancel();
}

function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

function reservationIn(event: LedgerEvent): string | undefined {
  if ("reservation" in event) return event.reservation.id;
  return "id" in event && event.kind !== "adoption-withdrawn" ? event.id : undefined;
}
