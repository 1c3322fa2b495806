import type { Readable } from "node:stream";
import { formatDuration } from "@resource-broker/base";
import type { Environment } from "@resource-broker/kube";

export interface RunOptions {
  /** A program that has not ended by then is killed. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The result of a run. */
export interface RunResult {
  /** Undefined: it was killed. */
  readonly code: number | undefined;
  /** stdout and stderr. */
  readonly output: string;
}

/** Runs liqoctl. Never rejects: a failure is in the result. */
export type RunLiqoctl = (args: readonly string[], options: RunOptions) => Promise<RunResult>;

/** The exit code of shells for a missing program. */
export const EXIT_NOT_FOUND = 127;

/** Limit for each stream; the end of the output has the reason of a failure. */
const MAX_OUTPUT = 65_536;

/** Runs the program without a shell, so that arguments are passed unchanged. */
export function liqoctl({ path, env }: { readonly path: string; readonly env: Environment }): RunLiqoctl {
  const program = path === "" ? "liqoctl" : path;
  return async (args, { timeoutMs, signal }) => {
    // Loaded here: an agent without peerings does not need it.
    const { spawn } = await import("node:child_process");
    return await new Promise<RunResult>((resolve) => {
      const child = spawn(program, [...args], {
        env: { ...env, NO_COLOR: "1", TERM: "dumb" },
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        signal,
        // There is no terminal to answer a prompt.
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
      });
      const [stdout, stderr] = [lastOf(child.stdout), lastOf(child.stderr)];
      const end = (code: number | null): void =>
        resolve({ code: code ?? undefined, output: `${stdout()}\n${stderr()}` });
      child.on("error", (error) => {
        if (isMissing(error)) resolve({ code: EXIT_NOT_FOUND, output: missing(program) });
        else end(null);
      });
      child.on("close", end);
    });
  };
}

/** Keeps the last characters of a stream. */
function lastOf(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text = `${text}${chunk}`.slice(-MAX_OUTPUT);
  });
  return () => text;
}

function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOENT" || code === "EACCES";
}

function missing(program: string): string {
  return `${program} cannot be started: install liqoctl of Liqo's own version in PATH, or name it with --liqoctl`;
}

const MAX_LINES = 12;
const MAX_LENGTH = 1200;
// Terminal escapes and other characters that a status must not hold.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Patterns of kubeconfigs and tokens: statuses are copied into tickets. */
const SECRETS =
  /(eyJ[\w-]{10,}\.[\w-]+\.[\w-]*|(?:token|password|-data)["':= ]+[^\s"',]{8,}|(?<=\bbearer )\S{8,}|(?<=:\/\/)[^\s/@]+(?=@)|^[\w+/=]{40,}$)/gi;
const PRIVATE_KEYS = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*-----|$)/g;
const LEFT_OUT = "(left out)";

/** The last lines of a program's output, safe for a status. */
export function shownOutput(output: string): string {
  const lines = output
    .replaceAll(PRIVATE_KEYS, LEFT_OUT)
    // A carriage return rewrites a spinner's line: only the last text counts.
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .map((line) => line.replaceAll(ESCAPES, "").trim().replaceAll(SECRETS, LEFT_OUT))
    .filter((line) => line !== "");
  const last = lines.slice(-MAX_LINES).join("\n");
  if (last.length <= MAX_LENGTH) return last;
  return `… ${last.slice(-MAX_LENGTH).replace(/^\p{Surrogate}/u, "")}`;
}

export type GatewayType = "NodePort" | "LoadBalancer" | "ClusterIP";

/** How a cluster is reached. Absent: liqoctl's own defaults. */
export interface Access {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Peering {
  readonly local: Access;
  readonly remoteKubeconfig: string;
  readonly liqoNamespace: string;
  readonly timeoutMs: number;
}

export interface PeerOptions extends Peering {
  readonly gatewayType: GatewayType;
  readonly hasNetworking: boolean;
}

/** Peers the two clusters only; the agent creates one slice per reservation. */
export function peerArguments(options: PeerOptions): string[] {
  return [
    "peer",
    ...bothClusters(options),
    "--create-resource-slice=false",
    "--create-virtual-node=false",
    ...(options.hasNetworking
      ? [`--gw-server-service-type=${options.gatewayType}`]
      : ["--networking-disabled=true"]),
  ];
}

/** Also removes every slice towards the provider: only for the last reservation of a pair. */
export function unpeerArguments(options: Peering): string[] {
  return ["unpeer", ...bothClusters(options)];
}

/** Removes this cluster's access at the provider and keeps the network for the other direction. */
export function unauthenticateArguments(options: Peering): string[] {
  return ["unauthenticate", ...bothClusters(options)];
}

/** For a provider that is unreachable for good. The ID was checked and cannot look like a flag. */
export function forceUnpeerArguments(liqoId: string, local: Access): string[] {
  return ["force", "unpeer", ...localCluster(local), "--skip-confirm", liqoId];
}

function bothClusters({ local, remoteKubeconfig, liqoNamespace, timeoutMs }: Peering): string[] {
  return [
    ...localCluster(local),
    `--remote-kubeconfig=${remoteKubeconfig}`,
    `--namespace=${liqoNamespace}`,
    `--remote-namespace=${liqoNamespace}`,
    `--timeout=${formatDuration(timeoutMs)}`,
  ];
}

function localCluster({ kubeconfig, context }: Access): string[] {
  return [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context=${context}`]),
  ];
}
