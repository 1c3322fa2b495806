import type { Readable } from "node:stream";
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
