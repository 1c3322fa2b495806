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

const MAX_OUTPUT = 1024 * 1024;

/** The real program, without a shell: what is in an argument stays in it. */
export function liqoctl({ path, env }: { readonly path: string; readonly env: Environment }): RunLiqoctl {
  const program = path === "" ? "liqoctl" : path;
  return async (args, { timeoutMs, signal }) => {
    // Loaded here: an agent that peers with nobody never pays for it.
    const { execFile } = await import("node:child_process");
    return await new Promise<Ran>((resolve) => {
      execFile(
        program,
        [...args],
        {
          env: { ...env, NO_COLOR: "1", TERM: "dumb" },
          timeout: timeoutMs,
          killSignal: "SIGKILL",
          signal,
          maxBuffer: MAX_OUTPUT,
          windowsHide: true,
        },
        (error, stdout, stderr) => {
          const output = `${stdout}\n${stderr}`;
          if (error === null) resolve({ code: 0, output });
          else if (isMissing(error)) resolve({ code: NOT_THERE, output: missing(program) });
          else resolve({ code: typeof error.code === "number" ? error.code : undefined, output });
        },
      );
    });
  };
}

function isMissing({ code }: { readonly code?: unknown }): boolean {
  return code === "ENOENT" || code === "EACCES";
}

function missing(program: string): string {
  return `${program} cannot be started: install liqoctl of Liqo's own version in PATH, or name it with --liqoctl`;
}
