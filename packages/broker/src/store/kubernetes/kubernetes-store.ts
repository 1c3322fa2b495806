import { randomUUID } from "node:crypto";
import { CONFIG_MAPS, type KubeClient, LEASES } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { Leadership } from "../leadership.ts";
import { DEFAULT_RETENTION, type Retention } from "../sqlite/retention.ts";
import { type Store, StoreFailure } from "../store.ts";
import { kubernetesFailure } from "./failure.ts";
import { type Content, contentIn, firstHead } from "./head.ts";
import { leaseKeeper, RENEWALS } from "./lease-keeper.ts";
import { type LeaseObject, leaseObject } from "./lease-object.ts";
import { type OpenLedger, openLedger } from "./open-ledger.ts";
import { LEDGER } from "./page.ts";
import { patience } from "./patience.ts";
import { takeOver } from "./take-over.ts";

const DEFAULT_LEASE_MS = 6000;

export interface KubernetesStoreOptions {
  /** What this replica calls itself to people. */
  readonly replica: string;
  readonly leaseMs?: number;
  readonly retention?: Retention;
}

export interface KubernetesStoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The cluster that stores the ledger. Called on first use; the caller closes the client. */
  readonly cluster: () => Promise<{ readonly client: KubeClient; readonly namespace: string }>;
}

/** A store that several replicas share, of which one leads. */
export interface KubernetesStore extends Store {
  readonly leadership: Leadership;
}

/**
 * The ledger in ConfigMaps: a head, which every commit writes by one conditional PUT, and pages, which are written once
 * and which the head names. See docs/adr/0014-kubernetes-store.md.
 */
export function kubernetesStore(options: KubernetesStoreOptions, deps: KubernetesStoreDeps): KubernetesStore {
  const { replica, leaseMs = DEFAULT_LEASE_MS, retention = DEFAULT_RETENTION } = options;
  const { clock, log, cluster } = deps;
  const candidate = { instance: randomUUID(), name: replica };
  const patiently = patience(clock, leaseMs);
  let ledger: OpenLedger | undefined;
  let leaseMade: Promise<LeaseObject> | undefined;

  const onTrouble = (doing: string, error: unknown): string => {
    const { message } = kubernetesFailure(error);
    log.warn({ error: message }, doing);
    return message;
  };

  /** A renewal times out early, so that another attempt fits into the lease. */
  const makeLease = async (): Promise<LeaseObject> =>
    leaseObject({
      ...(await cluster()),
      clock,
      patiently: patience(clock, leaseMs / RENEWALS),
      candidate,
      leaseMs,
    });
  const keeper = leaseKeeper({
    lease: () => (leaseMade ??= makeLease()),
    leaseMs,
    clock,
    verify: async () => void (await ledger?.objects.lastCommit()),
    onTrouble,
  });

  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw kubernetesFailure(error);
    }
  };

  /** Work on the open ledger. */
  const on = <T>(work: (ledger: OpenLedger) => T | Promise<T>): Promise<T> =>
    guarded(async () => {
      if (ledger === undefined) throw new StoreFailure("not-committed", "the store is not open");
      return work(ledger);
    });

  /** Fails at start, and not at election, if the server is unreachable, a right is missing, or the manifest is damaged. */
  const prepare = (): Promise<void> =>
    guarded(async () => {
      const { client, namespace } = await cluster();
      const found = await patiently((signal) =>
        client.find(CONFIG_MAPS, { name: LEDGER, namespace }, { signal }),
      );
      if (found !== undefined) contentIn(found);
      await patiently((signal) => client.find(LEASES, { name: LEDGER, namespace }, { signal }));
    });

  const lead = async (): Promise<void> => {
    if (keeper.standing().role === "leader") return;
    const holding = await keeper.take();
    if (holding.isMine) return;
    throw new StoreFailure(
      "not-committed",
      `another broker leads (${holding.holder}); stop it, or wait until it ends`,
    );
  };

  const firstContent = (): Content => ({ head: firstHead(randomUUID()), changes: [], audit: [] });

  const close = async (): Promise<void> => {
    const ending = ledger;
    ledger = undefined;
    await ending?.end({ isDeposed: keeper.lost() !== undefined, withinMs: leaseMs });
    await keeper.release();
  };

  return {
    open: () =>
      guarded(async () => {
        if (ledger !== undefined) throw new StoreFailure("not-committed", "the store is open already");
        try {
          await lead();
          const where = { ...(await cluster()), clock, patiently };
          const taken = await takeOver({ ...where, candidate, firstContent });
          ledger = await openLedger(taken, { ...where, retention, log, onTrouble, lose: keeper.lose });
          return ledger.contents;
        } catch (error) {
          await close();
          throw error;
        }
      }),
    commit: (batch) =>
      on(async ({ objects }) => {
        const lost = keeper.lost();
        if (lost !== undefined) throw lost;
        await objects.commit(batch);
      }),
    lastCommit: () => on(({ objects }) => objects.lastCommit()),
    saveAdvertisements: (some) => on(({ saveAdvertisements }) => saveAdvertisements(some)),
    findDecision: (id) => on(({ decisions }) => decisions.find(id)),
    readAudit: (query) => on(({ objects }) => objects.readAudit(query)),
    close,
    leadership: {
      prepare,
      win: keeper.win,
      standing: keeper.standing,
      predecessor: keeper.predecessor,
      onLost: keeper.onLost,
    },
  };
}

/** Where the ledger is, for people. */
export function shownLedger(namespace: string): string {
  return `ConfigMap ${namespace}/${LEDGER}`;
}
