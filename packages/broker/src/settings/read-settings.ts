import { parseSettings } from "@resource-broker/contract";
import { BROKER_ENV_PREFIX, BROKER_SETTINGS, type BrokerSettings, IGNORED_FLAGS } from "./broker-settings.ts";

export interface SettingsInput {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a YAML or JSON file; throws with a message that names it. */
  readonly readFile: (path: string) => Promise<unknown>;
}

export type SettingsReading =
  | { readonly ok: true; readonly settings: BrokerSettings; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Flags, environment and the file that they name, as one. */
export async function readSettings({ argv, env, readFile }: SettingsInput): Promise<SettingsReading> {
  const sources = { argv, env, envPrefix: BROKER_ENV_PREFIX, ignored: IGNORED_FLAGS };
  const first = parseSettings(BROKER_SETTINGS, sources);
  if (!first.ok) return first;
  const isAsking = first.values.help || first.values.version;
  const result = first.values.config === "" || isAsking ? first : await withFile(first.values.config);
  if (!result.ok) return result;
  const problems = isAsking ? [] : contradictions(result.values);
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, settings: result.values, warnings: result.warnings };

  async function withFile(path: string) {
    const file = await readFile(path).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    if (file instanceof Error) return { ok: false, problems: [`--config: ${file.message}`] } as const;
    if (!isRecord(file))
      return { ok: false, problems: [`--config: ${path} must hold settings by name`] } as const;
    return parseSettings(BROKER_SETTINGS, { ...sources, file });
  }
}

function contradictions(settings: BrokerSettings): string[] {
  const problems: string[] = [];
  const unknown = settings["broker-interface"].filter((each) => each !== "http");
  if (unknown.length > 0)
    problems.push(`--broker-interface: ${unknown.join(",")} is not there yet; use http`);
  if (storeDirectory(settings) === undefined) {
    problems.push(`--store: ${JSON.stringify(settings.store)} is not there yet; use sqlite:<folder>`);
  }
  if (settings["metrics-secure"] && settings["metrics-cert-path"] === "") {
    problems.push("--metrics-secure needs --metrics-cert-path");
  }
  for (const name of ["metrics-bind-address", "health-probe-bind-address"] as const) {
    if (parseAddress(settings[name]) === undefined)
      problems.push(`--${name}: write host:port, :port, or 0 for none`);
  }
  return problems;
}

/** The folder of an embedded store. */
export function storeDirectory({ store }: Pick<BrokerSettings, "store">): string | undefined {
  const [, directory] = /^sqlite:(.+)$/.exec(store) ?? [];
  return directory;
}

export interface Address {
  readonly host: string | undefined;
  readonly port: number;
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; "off" for `0` or nothing; undefined for anything else. */
export function parseAddress(text: string): Address | "off" | undefined {
  if (text === "0" || text === "") return "off";
  const [, host = "", digits = ""] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) return undefined;
  return { host: host === "" ? undefined : host.replace(/^\[|\]$/g, ""), port };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
