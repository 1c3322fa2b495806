import {
  IGNORED_GO_FLAGS,
  probeContradictions,
  readSettings,
  type SettingsInput,
  type SettingsReading,
} from "@resource-broker/runtime";
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
  if (storeDirectory(settings) === undefined) {
    problems.push(`--store: ${JSON.stringify(settings.store)} is not there yet; use sqlite:<folder>`);
  }
  return [...problems, ...probeContradictions(settings)];
}

/** The folder of an embedded store. */
export function storeDirectory({ store }: Pick<BrokerSettings, "store">): string | undefined {
  const [, directory] = /^sqlite:(.+)$/.exec(store) ?? [];
  return directory;
}
