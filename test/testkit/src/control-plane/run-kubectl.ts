import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { KubectlResult } from "./control-plane.ts";

export interface KubectlCall {
  readonly program: string;
  readonly kubeconfigFile: string;
  /** Stands for the home folder: what kubectl caches goes there. */
  readonly directory: string;
  readonly args: readonly string[];
  readonly stdin: string;
}

export async function runKubectl(call: KubectlCall): Promise<KubectlResult> {
  const { program, kubeconfigFile, directory, args, stdin } = call;
  const env = { PATH: process.env["PATH"], HOME: directory, KUBECONFIG: kubeconfigFile };
  const kubectl = spawn(program, args, { cwd: directory, env });
  kubectl.stdin.on("error", () => undefined);
  kubectl.stdin.end(stdin);
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(kubectl.stdout),
    text(kubectl.stderr),
    once(kubectl, "close") as Promise<[number | null]>,
  ]);
  return { exitCode: exitCode ?? 1, stdout, stderr };
}
