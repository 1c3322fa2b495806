import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { WorldCluster } from "@resource-broker/testkit";

const run = promisify(execFile);

/** What kubectl printed, on either stream, and whether it was content. */
export interface KubectlResult {
  readonly ok: boolean;
  readonly text: string;
}

export type Kubectl = (line: string, stdin?: string) => Promise<KubectlResult>;

/** kubectl as a person at this cluster runs it; words are parted by single spaces. */
export function kubectlOf({ kubeconfigFile }: WorldCluster, program = "kubectl"): Kubectl {
  return async (line, stdin = "") => {
    const calling = run(program, ["--kubeconfig", kubeconfigFile, ...line.split(" ")]);
    calling.child.stdin?.end(stdin);
    try {
      const { stdout, stderr } = await calling;
      return { ok: true, text: stdout + stderr };
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      return { ok: false, text: stdout + stderr };
    }
  };
}
