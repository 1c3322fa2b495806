import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Report } from "../../src/contexts/report.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

export interface ContextsEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start -- --contexts …` as a person starts it. */
export function runContexts(kubeconfig: string, args: readonly string[]): Promise<ContextsEnd> {
  const env = { PATH: process.env["PATH"], KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, "--contexts", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

export async function reportOf(kubeconfig: string, args: readonly string[]): Promise<Report> {
  const { stdout, stderr } = await runContexts(kubeconfig, [...args, "-o", "json"]);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}
