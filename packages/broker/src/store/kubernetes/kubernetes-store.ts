import { randomUUID } from "node:crypto";
import type { Clock, Log } from "@resource-broker/base";
import { CONFIG_MAPS, type KubeClient, LEASES } from "@resource-broker/kube";
import {
  DEFAULT_LEASE_MS,
  leaderElector,
  type LeaseResult,
  RENEWALS_PER_LEASE,
  type ReplicatedStore,
} from "../common/leader-elector.ts";
import { DEFAULT_RETENTION, type Retention, StoreFailure } from "../store.ts";
import { type KubernetesLease, kubernetesLease } from "./kubernetes-lease.ts";
import { kubernetesFailure, type LedgerAccess, timedClient } from "./ledger-client.ts";
import { contentIn } from "./ledger-manifest.ts";
import { type OpenLedger, openLedger } from "./open-ledger.ts";
import { LEDGER } from "./segments.ts";

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

/**
 * The ledger in ConfigMaps: a manifest, which every commit writes with one conditional PUT, and segments, which are
 * written once and which the manifest names. See docs/adr/0014-kubernetes-store.md.
 */
export function kubernetesStore(options: KubernetesStoreOptions, deps: KubernetesStoreDeps): ReplicatedStore {
  const { replica, leaseMs = DEFAULT_LEASE_MS, retention = DEFAULT_RETENTION } = options;
  const { clock, log, cluster } = deps;
  const candidate = { instance: randomUUID(), name: replica };
  const access = async (limitMs: number): Promise<LedgerAccess> => {
    const { client, namespace } = await cluster();
    return { client: timedClient(client, clock, limitMs), namespace, clock };
  };
  let ledger: OpenLedger | undefined;
  let leasePromise: Promise<KubernetesLease> | undefined;

  const onError = (doing: string, error: unknown): string => {
    const { message } = kubernetesFailure(error);
    log.warn({ error: message }, doing);
    return message;
  };

  /** A renewal times out early, so that another attempt fits into the lease. */
  const makeLease = async (): Promise<KubernetesLease> =>
    kubernetesLease({ ...(await access(leaseMs / RENEWALS_PER_LEASE)), candidate, leaseMs });
  const lease = (): Promise<KubernetesLease> => (leasePromise ??= makeLease());
  const tryAcquireOrRenew = async (): Promise<LeaseResult> => (await lease()).tryAcquireOrRenew();
  const elector = leaderElector({
    lease: {
      tryAcquire: tryAcquireOrRenew,
      poll: tryAcquireOrRenew,
      renew: tryAcquireOrRenew,
      release: async () => (await lease()).release(),
      // Only the manifest decides who leads.
      verify: async () => void (await ledger?.objects.lastCommit()),
      server: "the API server",
    },
    leaseMs,
    clock,
    onError,
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
      const { client, namespace } = await access(leaseMs);
      const configMap = await client.find(CONFIG_MAPS, { name: LEDGER, namespace });
      if (configMap !== undefined) contentIn(configMap);
      await client.find(LEASES, { name: LEDGER, namespace });
    });

  const lead = async (): Promise<void> => {
    const leader = await elector.tryLead();
    if (leader === undefined) return;
    throw new StoreFailure(
      "not-committed",
      `another broker leads (${leader}); stop it, or wait until it ends`,
    );
  };

  const close = async (): Promise<void> => {
    const ending = ledger;
    ledger = undefined;
    await ending?.stop({ isDeposed: elector.lost() !== undefined, withinMs: leaseMs });
    await elector.release();
  };

  return {
    open: () =>
      guarded(async () => {
        if (ledger !== undefined) throw new StoreFailure("not-committed", "the store is open already");
        try {
          await lead();
          const { markLost } = elector;
          const deps = { ...(await access(leaseMs)), candidate, retention, log, onError, markLost };
          ledger = await openLedger(deps);
          return ledger.contents;
        } catch (error) {
          await close();
          throw error;
        }
      }),
    commit: (batch) =>
      on(async ({ objects }) => {
        const lost = elector.lost();
        if (lost !== undefined) throw lost;
        await objects.commit(batch);
      }),
    lastCommit: () => on(({ objects }) => objects.lastCommit()),
    saveAdvertisements: (some) => on(({ saveAdvertisements }) => saveAdvertisements(some)),
    findDecision: (id) => on(({ decisions }) => decisions.find(id)),
    readAudit: (query) => on(({ objects }) => objects.readAudit(query)),
    close,
    leadership: { ...elector, prepare },
  };
}

/** Where the ledger is, for people. */
export function ledgerDisplayName(namespace: string): string {
  return `ConfigMap ${namespace}/${LEDGER}`;
}
