import type { ChildProcess } from "node:child_process";
import { type Clock, Fault } from "@resource-broker/base";
import { readText } from "@resource-broker/runtime";
import type { Environment } from "../config/in-cluster.ts";
import type { ExecCluster, ExecPlugin } from "../config/kube-config.ts";

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
export async function runPlugin(plugin: ExecPlugin, name: string, deps: PluginDeps): Promise<string> {
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
