import { hostname } from "node:os";
import type { Clock, Log } from "@resource-broker/base";
import type { BrokerCluster } from "../cluster-access.ts";
import type { BrokerSettings } from "../settings/broker-settings.ts";
import { KUBERNETES_STORE, storeDirectory } from "../settings/read-settings.ts";
import type { Leadership } from "./common/leader-elector.ts";
import type { Retention, Store } from "./store.ts";
import {
  type KubernetesStoreOptions,
  kubernetesStore,
  ledgerDisplayName,
} from "./kubernetes/kubernetes-store.ts";
import { readAddress } from "./postgres/address.ts";
import { type PostgresStoreOptions, postgresStore } from "./postgres/postgres-store.ts";
import { type SqliteStoreOptions, sqliteStore } from "./sqlite/sqlite-store.ts";

/** About 2 KB each. */
const MAX_DECISIONS = 100_000;

export interface ChosenStore {
  readonly store: Store;
  /** Absent: one process alone has the store. */
  readonly leadership?: Leadership;
  /** Where it is, for people; without secrets. */
  readonly displayName: string;
  /** What this process calls itself to people and other replicas. */
  readonly replica: string;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The broker's own cluster. */
  readonly kube?: () => Promise<BrokerCluster>;
}

/** What the settings say about the store. */
export type StoreChoice =
  | { readonly kind: "sqlite"; readonly options: Required<Omit<SqliteStoreOptions, "warn">> }
  | { readonly kind: "kubernetes"; readonly options: Required<KubernetesStoreOptions> }
  | { readonly kind: "postgres"; readonly options: Required<PostgresStoreOptions> };

export function readStoreChoice(settings: BrokerSettings): StoreChoice {
  const replica = replicaName(settings);
  const leaseMs = settings["lease-duration"];
  const retention: Retention = {
    decisions: { atMost: MAX_DECISIONS, forMs: settings["decision-retention"] },
    audit: { atMost: settings["audit-max-lines"], forMs: settings["audit-retention"] },
  };
  const directory = storeDirectory(settings);
  if (directory !== undefined) return { kind: "sqlite", options: { directory, retention } };
  if (settings.store === KUBERNETES_STORE)
    return { kind: "kubernetes", options: { replica, leaseMs, retention } };
  const reading = readAddress(settings.store);
  if (!reading.ok) throw new Error(`--store: ${reading.problem}`);
  return { kind: "postgres", options: { address: reading.address, replica, leaseMs, retention } };
}

/** The store that the settings name. */
export function chooseStore(settings: BrokerSettings, deps: StoreDeps): ChosenStore {
  const replica = replicaName(settings);
  const choice = readStoreChoice(settings);
  switch (choice.kind) {
    case "sqlite": {
      const { directory } = choice.options;
      const warn = (text: string): void => deps.log.warn({ store: directory }, text);
      return { store: sqliteStore({ ...choice.options, warn }), displayName: directory, replica };
    }
    case "kubernetes": {
      const { kube: cluster = noCluster } = deps;
      const store = kubernetesStore(choice.options, { ...deps, cluster });
      const displayName = ledgerDisplayName(settings["http-namespace"]);
      return { store, leadership: store.leadership, displayName, replica };
    }
    case "postgres": {
      const store = postgresStore(choice.options, deps);
      const { displayName } = choice.options.address;
      return { store, leadership: store.leadership, displayName, replica };
    }
  }
}

function replicaName(settings: BrokerSettings): string {
  return settings["replica-name"] || `${hostname()}:${settings["http-port"]}`;
}

function noCluster(): Promise<BrokerCluster> {
  return Promise.reject(new Error("--store kubernetes needs a cluster: name one with --kubeconfig"));
}
