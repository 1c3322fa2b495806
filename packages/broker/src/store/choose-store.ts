import { hostname } from "node:os";
import type { Clock, Log } from "@resource-broker/base";
import type { BrokerCluster } from "../cluster-access.ts";
import type { BrokerSettings } from "../settings/broker-settings.ts";
import { KUBERNETES_STORE, storeDirectory } from "../settings/read-settings.ts";
import type { Leadership } from "./common/leadership.ts";
import type { Retention } from "./common/retention.ts";
import { kubernetesStore, ledgerDisplayName } from "./kubernetes/kubernetes-store.ts";
import { readAddress } from "./postgres/address.ts";
import { postgresStore } from "./postgres/postgres-store.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

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

/** The store that the settings name. */
export function chooseStore(settings: BrokerSettings, deps: StoreDeps): ChosenStore {
  const replica = settings["replica-name"] || `${hostname()}:${settings["http-port"]}`;
  const retention: Retention = {
    decisions: { atMost: MAX_DECISIONS, forMs: settings["decision-retention"] },
    audit: { atMost: settings["audit-max-lines"], forMs: settings["audit-retention"] },
  };
  const directory = storeDirectory(settings);
  if (directory !== undefined) {
    const warn = (text: string): void => deps.log.warn({ store: directory }, text);
    return { store: sqliteStore({ directory, retention, warn }), displayName: directory, replica };
  }
  const leaseMs = settings["lease-duration"];
  if (settings.store === KUBERNETES_STORE) {
    const { kube: cluster = noCluster } = deps;
    const store = kubernetesStore({ replica, leaseMs, retention }, { ...deps, cluster });
    const displayName = ledgerDisplayName(settings["http-namespace"]);
    return { store, leadership: store.leadership, displayName, replica };
  }
  const reading = readAddress(settings.store);
  if (!reading.ok) throw new Error(`--store: ${reading.problem}`);
  const { address } = reading;
  const store = postgresStore({ address, replica, leaseMs, retention }, deps);
  return { store, leadership: store.leadership, displayName: address.displayName, replica };
}

function noCluster(): Promise<BrokerCluster> {
  return Promise.reject(new Error("--store kubernetes needs a cluster: name one with --kubeconfig"));
}
