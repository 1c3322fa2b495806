import type { Values } from "../cli/command.ts";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { type ConfigFile, type Context, readConfigFile } from "./config-file.ts";
import type { CONNECTION } from "./options.ts";

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
  const context = await contextIn(file, options.context, host);
  const broker = choose({
    given: options.broker,
    inEnvironment: host.env["BROKERCTL_BROKER"],
    inContext: context.broker,
    isNamed,
  });
  const certs = choose({
    given: options.certs,
    inEnvironment: host.env["BROKERCTL_CERTS"],
    inContext: context.certs,
    isNamed,
  });
  return {
    urls: readUrls(broker ?? DEFAULT_BROKER),
    certs,
    timeoutMs: options["request-timeout"] ?? DEFAULT_TIMEOUT_MS,
  };
}

interface Choice {
  /** By flag or environment. */
  readonly given: string | undefined;
  readonly inEnvironment: string | undefined;
  readonly inContext: string | undefined;
  /** True: somebody asked for this context. */
  readonly isNamed: boolean;
}

function choose({ given, inEnvironment, inContext, isNamed }: Choice): string | undefined {
  const isFlag = given !== undefined && given !== inEnvironment;
  if (isNamed && !isFlag) return inContext ?? given;
  return given ?? inContext;
}

async function contextIn(
  file: ConfigFile | undefined,
  named: string | undefined,
  host: Host,
): Promise<Context> {
  const name = named ?? file?.currentContext;
  if (name === undefined) return {};
  const found = file?.contexts.get(name);
  if (found !== undefined) return found;
  const known = [...(file?.contexts.keys() ?? [])];
  throw new CommandError("usage", await unknownContext(name, known, file?.path ?? configFileText(host)));
}

async function unknownContext(name: string, known: readonly string[], path: string): Promise<string> {
  const hint = await didYouMean(name, known);
  const there = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
  return `there is no context ${JSON.stringify(name)} in ${path}${hint === "" ? `; ${there}` : hint}`;
}

function configFileText({ env }: Host): string {
  return env["XDG_CONFIG_HOME"] === undefined
    ? "~/.config/brokerctl/config.yaml"
    : `${env["XDG_CONFIG_HOME"]}/brokerctl/config.yaml`;
}

function readUrls(texts: string): readonly URL[] {
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
