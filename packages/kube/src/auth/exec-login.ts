import { Fault, parseTime } from "@resource-broker/base";
import { isRecord } from "../config/entry.ts";
import type { ExecPlugin } from "../config/kube-config.ts";
import { bearer, type Credentials } from "./credentials.ts";
import { type PluginDeps, runPlugin } from "./run-plugin.ts";

/** Credentials of an exec plugin, cached until they expire or are refused. */
export interface ExecLogin {
  readonly current: () => Promise<ExecCredential>;
  /** Drops the cached credentials if they are the refused ones. */
  readonly renew: (refused: Credentials) => void;
}

export function execLogin(plugin: ExecPlugin, origin: string, deps: PluginDeps): ExecLogin {
  const name = `the credential plugin ${plugin.command} (${origin})`;
  let known: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const isGood = ({ expiresAtMs = Number.POSITIVE_INFINITY }: ExecCredential) =>
    deps.clock.wallMs() < expiresAtMs;
  const run = async (): Promise<ExecCredential> => {
    try {
      known = parseExecCredential(await runPlugin(plugin, name, deps), plugin, name);
      return known;
    } finally {
      running = undefined;
    }
  };
  return {
    current: () => {
      if (known !== undefined && isGood(known)) return Promise.resolve(known);
      // Concurrent calls share one run.
      running ??= run();
      return running;
    },
    renew: (refused) => {
      if (known !== undefined && isPartOf(known, refused)) known = undefined;
    },
  };
}

/** True when the refused credentials include those of the plugin. */
function isPartOf({ token, cert }: ExecCredential, shown: Credentials): boolean {
  const isToken = token === undefined || shown.authorization === bearer(token);
  return isToken && (cert === undefined || shown.cert === cert);
}

/** What a plugin prints. */
interface ExecCredential {
  readonly token?: string;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Wall clock; absent: valid until refused. */
  readonly expiresAtMs?: number;
}

/** Parses a plugin's output; `name` is used in messages. Messages never include the output, which is secret. */
function parseExecCredential(output: string, { apiVersion }: ExecPlugin, name: string): ExecCredential {
  const fail = (problem: string) => new Fault("invalid", `${name} ${problem}`);
  const printed = parseJson(output);
  if (!isRecord(printed) || printed["kind"] !== "ExecCredential") {
    throw fail("did not print an ExecCredential: run it manually to see its output");
  }
  if (printed["apiVersion"] !== apiVersion) {
    throw fail(
      `does not answer as ${apiVersion}, which the kubeconfig file asks for: correct apiVersion there`,
    );
  }
  return readStatus(isRecord(printed["status"]) ? printed["status"] : {}, fail);
}

function readStatus(
  status: Readonly<Record<string, unknown>>,
  fail: (problem: string) => Fault,
): ExecCredential {
  const token = filled(status["token"]);
  const cert = filled(status["clientCertificateData"]);
  const key = filled(status["clientKeyData"]);
  if ((cert === undefined) !== (key === undefined)) {
    throw fail("printed a client certificate without its key, or a key alone: update the plugin");
  }
  if (token === undefined && cert === undefined) {
    throw fail("printed neither a token nor a certificate: log in again");
  }
  const expiresAtMs = expiryOf(status["expirationTimestamp"], fail);
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

function expiryOf(value: unknown, fail: (problem: string) => Fault): number | undefined {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === "string" ? parseTime(value) : undefined;
  if (time === undefined)
    throw fail("printed an expirationTimestamp that is not an RFC 3339 time: update the plugin");
  return time;
}

function filled(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
