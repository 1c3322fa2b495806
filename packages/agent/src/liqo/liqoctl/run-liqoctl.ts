import type { Readable } from "node:stream";
import type { Environment } from "@resource-broker/kube";

export interface RunOptions {
  /** A program that has not ended by then is killed. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a program said when it ended. */
export interface Ran {
  /** Undefined: it was killed. */
  readonly code: number | undefined;
  /** Both streams, as a person would see them. */
  readonly output: string;
}

/** Runs liqoctl with these arguments. Never rejects: what goes wrong is in the output. */
export type RunLiqoctl = (args: readonly string[], options: RunOptions) => Promise<Ran>;

/** There is no liqoctl to run; the code that shells use for it. */
export const NOT_THERE = 127;

/** Of each stream; the end says why a program failed. */
const MAX_OUTPUT = 65_536;

/** The real program, without a shell: what is in an argument stays in it. */
export function liqoctl({ path, env }: { readonly path: string; readonly env: Environment }): RunLiqoctl {
  const program = path === "" ? "liqoctl" : path;
  return async (args, { timeoutMs, signal }) => {
    // Loaded here: an agent that peers with nobody never pays for it.
    const { spawn } = await import("node:child_process");
    return await new Promise<Ran>((resolve) => {
      const child = spawn(program, [...args], {
        env: { ...env, NO_COLOR: "1", TERM: "dumb" },
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        signal,
        // Nobody is there to answer a question.
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
      });
      const [stdout, stderr] = [lastOf(child.stdout), lastOf(child.stderr)];
      const end = (code: number | null): void =>
        resolve({ code: code ?? undefined, output: `${stdout()}\n${stderr()}` });
      child.on("error", (error) => {
        if (isMissing(error)) resolve({ code: NOT_THERE, output: missing(program) });
        else end(null);
      });
      child.on("close", end);
    });
  };
}

/** Keeps the end of what a stream says, however much it is. */
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
