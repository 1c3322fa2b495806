import {
  IGNORED_GO_FLAGS,
  isLoopback,
  parseAddress,
  probeSettingsProblems,
  readSettings,
  type SettingsInput,
  type SettingsOutcome,
} from "@resource-broker/runtime";
import { parseIssuer } from "../enrollment/cert-manager-signer.ts";
import { podRoleProblems } from "../pod-role/role-label.ts";
import { isPostgresUrl, readAddress } from "../store/postgres/address.ts";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS, type BrokerSettings } from "./broker-settings.ts";

/** Flags, environment and the file that they name, as one. */
export function readBrokerSettings(input: SettingsInput): Promise<SettingsOutcome<BrokerSettings>> {
  return readSettings(
    {
      table: BROKER_SETTINGS,
      envPrefix: BROKER_ENV_PREFIX,
      ignored: IGNORED_GO_FLAGS,
      crossFieldProblems: (settings) => [
        ...settingProblems(settings),
        ...podRoleProblems(settings, input.env),
      ],
    },
    input,
  );
}

function settingProblems(settings: BrokerSettings): string[] {
  return [
    ...interfaceProblems(settings).map((problem) => `--broker-interface: ${problem}`),
    ...storeProblems(settings).map((problem) => `--store: ${problem}`),
    ...leaseProblems(settings),
    ...dashboardProblems(settings),
    ...enrollmentProblems(settings),
    ...probeSettingsProblems(settings),
  ];
}

function interfaceProblems({ "broker-interface": interfaces, views }: BrokerSettings): string[] {
  if (interfaces.length === 0) return ["name at least one of http, kubernetes"];
  const unknown = interfaces.filter((each) => each !== "http" && each !== "kubernetes");
  if (interfaces.includes("kubernetes") && views === "off")
    return ["kubernetes needs --views: leave off out"];
  return unknown.map((each) => `${JSON.stringify(each)} is not one of http, kubernetes`);
}

/** The text itself is not repeated: a URL may hold a password. */
function storeProblems({ store }: BrokerSettings): string[] {
  if (store === KUBERNETES_STORE) return [];
  if (!isPostgresUrl(store)) {
    return storeDirectory({ store }) === undefined ? [`use ${STORES}`] : [];
  }
  const reading = readAddress(store);
  return reading.ok ? [] : [reading.problem];
}

const STORES = "sqlite:<folder>, postgres://user@host/database or kubernetes";

/** The value of `--store` that keeps the ledger in objects. */
export const KUBERNETES_STORE = "kubernetes";

/** What of the settings needs the broker's own cluster. */
export interface ClusterNeeds {
  /** Agents and people write objects there. */
  readonly objects: boolean;
  readonly views: boolean;
  readonly store: boolean;
  /** A new ledger takes over what an older broker has left there. */
  readonly imports: boolean;
}

export function clusterNeeds(settings: BrokerSettings): ClusterNeeds {
  const objects = settings["broker-interface"].includes("kubernetes");
  const store = settings.store === KUBERNETES_STORE;
  const isNamed = objects || store || settings.kubeconfig !== "";
  const views = settings.views === "on" || (settings.views === "auto" && isNamed);
  const imports = settings["import-reservations"] === "auto" && (views || isNamed);
  return { objects, store, views, imports };
}

function dashboardProblems(settings: BrokerSettings): string[] {
  const flag = "--dashboard-bind-address";
  const address = parseAddress(settings["dashboard-bind-address"]);
  if (address === undefined) return [`${flag}: write host:port, :port, or 0 for none`];
  const isWithoutLinks = !settings["broker-interface"].includes("http");
  // Over plain HTTP, links are the only way to sign in.
  return address !== "off" && isWithoutLinks && isLoopback(address.host)
    ? [`${flag}: on a loopback address it needs --broker-interface http, which makes the links to sign in`]
    : [];
}

function enrollmentProblems(settings: BrokerSettings): string[] {
  const { "enrollment-issuer": issuer, "enrollment-lifetime": lifetimeMs } = settings;
  const isSigning = settings["enrollment-cert-path"] !== "" || issuer !== "";
  return [
    ...(issuer !== "" && parseIssuer(issuer) === undefined
      ? ["--enrollment-issuer: write Issuer/NAME or ClusterIssuer/NAME"]
      : []),
    ...(issuer !== "" && settings["enrollment-cert-path"] !== ""
      ? ["--enrollment-issuer: leave it or --enrollment-cert-path out: one of them signs"]
      : []),
    ...(isSigning && !settings["broker-interface"].includes("http")
      ? ["--enrollment-cert-path and --enrollment-issuer need --broker-interface http: agents join there"]
      : []),
    ...(lifetimeMs >= SHORTEST_LIFETIME_MS && lifetimeMs <= LONGEST_LIFETIME_MS
      ? []
      : ["--enrollment-lifetime must be between 1h and 8760h"]),
  ];
}

const SHORTEST_LIFETIME_MS = 3_600_000;
const LONGEST_LIFETIME_MS = 8760 * 3_600_000;

/** A shorter lease causes failovers under load; a longer one delays failover by minutes. */
function leaseProblems({ "lease-duration": leaseMs }: BrokerSettings): string[] {
  return leaseMs >= SHORTEST_LEASE_MS && leaseMs <= LONGEST_LEASE_MS
    ? []
    : ["--lease-duration must be between 1s and 5m"];
}

const SHORTEST_LEASE_MS = 1000;
const LONGEST_LEASE_MS = 300_000;

/** The folder of an embedded store. */
export function storeDirectory({ store }: Pick<BrokerSettings, "store">): string | undefined {
  const [, directory] = /^sqlite:(.+)$/.exec(store) ?? [];
  return directory;
}
