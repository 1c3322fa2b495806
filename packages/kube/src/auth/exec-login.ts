import type { ChildProcess } from "node:child_process";
import { type Clock, Fault, isRecord, parseJson, parseTime } from "@resource-broker/base";
import { readText } from "@resource-broker/runtime";
import type { ExecCluster, ExecPlugin } from "../config/kube-config.ts";
import type { Environment } from "../config/load-kube-config.ts";
import { bearer, type Credentials } from "./credentials.ts";

const MAX_OUTPUT = 1024 * 1024;
const MAX_STDERR = 500;
/** Timeout of a non-interactive plugin; an interactive one has none. */
const TIMEOUT_MS = 60_000;

export interface PluginDeps {
  readonly clock: Clock;
  /** What the plugin inherits. */
  readonly env: Environment;
  /** True: the plugin may prompt on the terminal. */
  readonly isInteractive: boolean;
}

/** Runs the plugin and returns what it printed. */
async function runPlugin(plugin: ExecPlugin, name: string, deps: PluginDeps): Promise<string> {
  const isInteractive = deps.isInteractive && plugin.interactiveMode !== "Never";
  if (plugin.interactiveMode === "Always" && !isInteractive) {
    throw new Fault(
      "invalid",
      `${name} needs an interactive terminal (interactiveMode: Always): use another plugin`,
    );
  }
  // Loaded on first use, to save memory in programs without a plugin.
  const { spawn } = await import("node:child_process");
  const info = JSON.stringify(await infoFor(plugin, isInteractive));
  const child = spawn(plugin.command, plugin.args, {
    env: { ...deps.env, ...plugin.env, KUBERNETES_EXEC_INFO: info },
    stdio: [isInteractive ? "inherit" : "ignore", "pipe", isInteractive ? "inherit" : "pipe"],
  });
  const cancel = isInteractive ? () => undefined : deps.clock.after(TIMEOUT_MS, () => child.kill("SIGKILL"));
  try {
    return await outputOf(child, (problem, cause) => failed(plugin, `${name} ${problem}`, cause));
  } finally {
    cancel();
  }
}

function outputOf(child: ChildProcess, fail: (problem: string, cause?: unknown) => Fault): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT) child.kill("SIGKILL");
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR);
    });
    child.on("error", (error) => reject(fail("could not be started", error)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output);
      else if (signal === "SIGKILL") reject(fail("took too long or printed too much, and was killed"));
      else reject(fail(`ended with ${signal ?? code}: ${stderr.trim().split("\n").at(-1) ?? ""}`));
    });
  });
}

function failed({ command, installHint }: ExecPlugin, problem: string, cause: unknown): Fault {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  if (!isMissing) return new Fault("invalid", problem, { cause });
  const hint = installHint === undefined ? "install it, or add its folder to PATH" : installHint.trim();
  return new Fault("invalid", `${problem}: there is no program ${command}; ${hint}`, { cause });
}

/** Content of KUBERNETES_EXEC_INFO. */
async function infoFor({ apiVersion, cluster }: ExecPlugin, interactive: boolean): Promise<object> {
  const clusterInfo = cluster === undefined ? {} : { cluster: await describe(cluster) };
  return { apiVersion, kind: "ExecCredential", spec: { interactive, ...clusterInfo } };
}

async function describe({ server, trust, config }: ExecCluster): Promise<object> {
  const ca = trust.ca?.kind === "file" ? await readText(trust.ca.path) : trust.ca?.text;
  return {
    server,
    ...(trust.serverName === undefined ? {} : { "tls-server-name": trust.serverName }),
    ...(trust.insecureSkipVerify ? { "insecure-skip-tls-verify": true } : {}),
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(config === undefined ? {} : { config }),
  };
}

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
