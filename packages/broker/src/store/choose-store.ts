import { hostname } from "node:os";
import type { Log, MachineTime } from "@resource-broker/runtime";
import type { BrokerSettings } from "../settings/broker-settings.ts";
import { storeDirectory } from "../settings/read-settings.ts";
import type { Leadership } from "./leadership.ts";
import { readAddress } from "./postgres/address.ts";
import { postgresStore } from "./postgres/postgres-store.ts";
import type { Retention } from "./sqlite/retention.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

/** About 2 KB each. */
const KEPT_DECISIONS = 100_000;

export interface ChosenStore {
  readonly store: Store;
  /** Absent: one process alone has the store. */
  readonly leadership?: Leadership;
  /** Where it is, for people; without secrets. */
  readonly shown: string;
}

/** The store that the settings name. */
export function chooseStore(
  settings: BrokerSettings,
  deps: { readonly machine: MachineTime; readonly log: Log },
): ChosenStore {
  const retention: Retention = {
    decisions: { atMost: KEPT_DECISIONS, forMs: settings["decision-retention"] },
    audit: { atMost: settings["audit-max-lines"], forMs: settings["audit-retention"] },
  };
  const directory = storeDirectory(settings);
  if (directory !== undefined) return { store: sqliteStore({ directory, retention }), shown: directory };
  const reading = readAddress(settings.store);
  if (!reading.ok) throw new Error(`--store: ${reading.problem}`);
  const { address } = reading;
  const replica = settings["replica-name"] || `${hostname()}:${settings["http-port"]}`;
  const store = postgresStore({ address, replica, leaseMs: settings["lease-duration"], retention }, deps);
  return { store, leadership: store.leadership, shown: address.shown };
}
