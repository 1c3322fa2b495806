import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { errorText } from "@resource-broker/base";
import type { Host, Values } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import type { CONNECTION } from "../commands/broker-options.ts";

export type ConnectionOptions = Values<typeof CONNECTION>;

/** The broker's addresses and the client certificate. */
export interface BrokerAddress {
  /** Every replica, the first to be asked first. */
  readonly urls: readonly URL[];
  /** The folder with tls.crt, tls.key and ca.crt; undefined: nobody named one. */
  readonly certs: string | undefined;
  readonly timeoutMs: number;
}

const DEFAULT_BROKER = "https://localhost:8443";
const DEFAULT_TIMEOUT_MS = 30_000;
const EXAMPLE = "https://broker.example.org:8443";

/** Flag before environment before file before default; but a context that a flag names comes before the environment. */
export async function findBroker(options: ConnectionOptions, host: Host): Promise<BrokerAddress> {
  const isNamed = options.context !== undefined;
  const isAllGiven = options.broker !== undefined && options.certs !== undefined;
  const use = isNamed ? "needed" : isAllGiven ? "unused" : "optional";
  const file = await readConfigFile({ named: options.config, use }, host);
  const context = contextIn(file, options.context, host);
  const choose = (name: "broker" | "certs"): string | undefined => {
    const given = options[name];
    const isFlag = given !== undefined && given !== host.env[`BROKERCTL_${name.toUpperCase()}`];
    return isNamed && !isFlag ? (context[name] ?? given) : (given ?? context[name]);
  };
  return {
    urls: readUrls(choose("broker") ?? DEFAULT_BROKER),
    certs: choose("certs"),
    timeoutMs: options["request-timeout"] ?? DEFAULT_TIMEOUT_MS,
  };
}

function contextIn(file: ConfigFile | undefined, named: string | undefined, host: Host): Context {
  const name = named ?? file?.currentContext;
  if (name === undefined) return {};
  const { contexts, path } = file ?? {
    contexts: new Map<string, Context>(),
    path: `${host.env["XDG_CONFIG_HOME"] ?? "~/.config"}/brokerctl/config.yaml`,
  };
  const found = contexts.get(name);
  if (found !== undefined) return found;
  const known = [...contexts.keys()];
  const hint = didYouMean(name, known) || `; it has ${known.join(", ") || "none"}`;
  throw new CommandError("usage", `there is no context ${JSON.stringify(name)} in ${path}${hint}`);
}

export function readUrls(texts: string): readonly URL[] {
  return texts
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map(readUrl);
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const problem = url === undefined ? "it is not a URL" : problemOf(url);
  if (url !== undefined && problem === undefined) return url;
  throw new CommandError(
    "usage",
    `the broker's address ${JSON.stringify(text)}: ${problem}; write for example ${EXAMPLE}`,
  );
}

function problemOf(url: URL): string | undefined {
  if (url.protocol !== "https:") return "it must begin with https://";
  if (url.username !== "" || url.password !== "")
    return "it must not contain a user name or password; the broker authenticates by certificate";
  const isBare = url.pathname === "/" && url.search === "" && url.hash === "";
  return isBare ? undefined : "it must end after the port";
}

/** One broker of the file. */
interface Context {
  readonly broker?: string;
  /** Absolute: what is written in the file counts from the file's folder. */
  readonly certs?: string;
}

interface ConfigFile {
  readonly path: string;
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Context>;
}

const FILE_FIELDS = ["current-context", "contexts"];
const CONTEXT_FIELDS = ["broker", "certs"];

interface Wanted {
  /** By flag or environment. */
  readonly named: string | undefined;
  /** "needed": a context of the file was asked for. "unused": nothing that it could say counts. */
  readonly use: "needed" | "optional" | "unused";
}

/** The file that was named, or the one in its usual place; undefined when nobody named one and there is none to read. */
async function readConfigFile(
  { named, use }: Wanted,
  { env, note }: Pick<Host, "env" | "note">,
): Promise<ConfigFile | undefined> {
  const path = named ?? defaultPath(env);
  if (path === undefined) return undefined;
  const found = await readFile(path).then(() => "readable" as const, findingOf);
  if (found === "missing" && named !== undefined)
    throw new CommandError("error", `there is no ${named}: --config names the file with your brokers`);
  if (found === "missing") return undefined;
  if (found === "readable" || named !== undefined || use === "needed") return parseConfig(path, env);
  // HOME may belong to another user, as in many containers: the file is then optional unless it was named.
  if (use === "optional") note(`Warning: ${path} cannot be read and is ignored: ${found.problem}\n`);
  return undefined;
}

function findingOf(error: unknown): "missing" | { readonly problem: string } {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  return { problem: errorText(error) };
}

function defaultPath(env: Host["env"]): string | undefined {
  const { XDG_CONFIG_HOME: configured, HOME: home } = env;
  if (configured !== undefined && configured !== "") return join(configured, "brokerctl", "config.yaml");
  return home === undefined || home === "" ? undefined : join(home, ".config", "brokerctl", "config.yaml");
}

async function parseConfig(path: string, env: Host["env"]): Promise<ConfigFile> {
  const { yamlReader } = await import("./yaml-reader.ts");
  const parsed = await yamlReader()(path).catch((cause: unknown) => {
    throw new CommandError("error", errorText(cause), { cause });
  });
  const file = fieldsOf(parsed ?? {}, FILE_FIELDS, { path, place: "" });
  const contexts = new Map<string, Context>();
  for (const [name, value] of mapOf(file.get("contexts") ?? {}, { path, place: "contexts" })) {
    const place = { path, place: `contexts.${name}` };
    const fields = fieldsOf(value, CONTEXT_FIELDS, place);
    const broker = textOf(fields.get("broker"), { path, place: `${place.place}.broker` });
    const certs = textOf(fields.get("certs"), { path, place: `${place.place}.certs` });
    contexts.set(name, {
      ...(broker === undefined ? {} : { broker }),
      ...(certs === undefined ? {} : { certs: resolve(dirname(path), atHome(certs, env)) }),
    });
  }
  const currentContext = textOf(file.get("current-context"), { path, place: "current-context" });
  return { path, currentContext, contexts };
}

/** As a shell would read it; a file has no shell. */
function atHome(folder: string, env: Host["env"]): string {
  return folder.replace(/^~(?=\/|$)/u, env["HOME"] ?? "~");
}

interface FieldLocation {
  readonly path: string;
  readonly place: string;
}

function mapOf(value: unknown, place: FieldLocation): ReadonlyMap<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return new Map(Object.entries(value));
  throw wrong(place, "must be a map");
}

function fieldsOf(
  value: unknown,
  known: readonly string[],
  place: FieldLocation,
): ReadonlyMap<string, unknown> {
  const fields = mapOf(value, place);
  for (const name of fields.keys()) {
    if (!known.includes(name))
      throw wrong(place, `has an unknown field ${JSON.stringify(name)}${didYouMean(name, known)}`);
  }
  return fields;
}

function textOf(value: unknown, place: FieldLocation): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw wrong(place, "must be a string");
}

function wrong({ path, place }: FieldLocation, problem: string): CommandError {
  return new CommandError("error", `${path}: ${place === "" ? "the file" : place} ${problem}`);
}
