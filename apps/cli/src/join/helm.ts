import { spawn } from "node:child_process";
import { safeLine } from "@resource-broker/base";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";

/** What is kept of the output of helm: its error is at the end. */
const MAX_OUTPUT = 8192;
const SHOWN_LINES = 5;

interface HelmOptions {
  readonly env: Host["env"];
  readonly timeoutMs: number;
}

interface HelmResult {
  /** Undefined: it was ended. */
  readonly code: number | undefined;
  readonly output: string;
}

/** The first that knows --reset-then-reuse-values. */
const OLDEST = { major: 3, minor: 14 };

/** What the helm on PATH says that it is; undefined: there is none. */
export async function helmVersion(env: Host["env"]): Promise<string | undefined> {
  const result = await start(["version", "--short"], { env, timeoutMs: 30_000 });
  return result?.output;
}

/** Refuses a helm that would stop at an unknown flag after the Secret is applied. One that hides its version may try. */
export function checkHelm(version: string): void {
  const [found, major, minor] = /^(?:Client: )?v(\d+)\.(\d+)[\w.+-]*/mu.exec(version) ?? [];
  if (found === undefined) return;
  const isOlder = Number(major) - OLDEST.major || Number(minor) - OLDEST.minor;
  if (isOlder >= 0) return;
  throw new CommandError(
    "usage",
    `the helm on PATH is ${found}: nothing was changed. Install ${OLDEST.major}.${OLDEST.minor} or newer (https://helm.sh/docs/intro/install) and repeat`,
  );
}

/** Runs the helm on PATH, without a shell. Its arguments are seen by everybody on the machine: no secret belongs there. */
export async function runHelm(args: readonly string[], options: HelmOptions): Promise<void> {
  const result = await start(args, options);
  if (result === undefined) throw new CommandError("usage", "there is no helm on PATH");
  if (result.code === 0) return;
  const said = result.output.trim().split("\n").slice(-SHOWN_LINES).map(safeLine).join("\n  ");
  if (result.code === undefined)
    throw new CommandError("timeout", `helm did not end in time; --timeout allows more\n  ${said}`);
  throw new CommandError("error", `helm ${args[0] ?? ""} ended with ${result.code}:\n  ${said}`);
}

/** Undefined: there is no such program. */
function start(args: readonly string[], { env, timeoutMs }: HelmOptions): Promise<HelmResult | undefined> {
  return new Promise((resolve, reject) => {
    const program = spawn("helm", args, {
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Not spawn's own timeout: where there is no helm, its timer would keep brokerctl from ending.
    const timer = setTimeout(() => program.kill(), Math.max(1, timeoutMs));
    let output = "";
    const keep = (part: Buffer): void => {
      output = (output + part.toString("utf8")).slice(-MAX_OUTPUT);
    };
    program.stdout.on("data", keep);
    program.stderr.on("data", keep);
    program.once("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (error.code === "ENOENT" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    program.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? undefined, output });
    });
  });
}
