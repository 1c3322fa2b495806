import {
  IGNORED_GO_FLAGS,
  probeContradictions,
  readSettings,
  type SettingsInput,
  type SettingsReading,
} from "@resource-broker/runtime";
import { isPostgresUrl, readAddress } from "../store/postgres/address.ts";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS, type BrokerSettings } from "./broker-settings.ts";

/** Flags, environment and the file that they name, as one. */
export function readBrokerSettings(input: SettingsInput): Promise<SettingsReading<BrokerSettings>> {
  return readSettings(
    { table: BROKER_SETTINGS, envPrefix: BROKER_ENV_PREFIX, ignored: IGNORED_GO_FLAGS, contradictions },
    input,
  );
}

function contradictions(settings: BrokerSettings): string[] {
  const problems: string[] = [];
  const unknown = settings["broker-interface"].filter((each) => each !== "http");
  if (unknown.length > 0)
    problems.push(`--broker-interface: ${unknown.join(",")} is not there yet; use http`);
  return [
    ...problems,
    ...storeProblems(settings).map((problem) => `--store: ${problem}`),
    ...leaseProblems(settings),
    ...probeContradictions(settings),
  ];
}

/** The text itself is not repeated: a URL may hold a password. */
function storeProblems({ store }: BrokerSettings): string[] {
  if (!isPostgresUrl(store)) {
    return storeDirectory({ store }) === undefined ? [`use ${STORES}`] : [];
  }
  const reading = readAddress(store);
  return reading.ok ? [] : [reading.problem];
}

const STORES = "sqlite:<folder> or postgres://user@host/database";

/** Shorter, and a busy moment makes a new leader; longer, and nobody leads for minutes. */
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
