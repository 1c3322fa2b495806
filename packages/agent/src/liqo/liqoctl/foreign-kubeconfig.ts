import type { KubeConfig } from "@resource-broker/kube";

const REMEDY = "use one with a certificate or a token in it, as liqoctl generate peering-user makes it";

/**
 * Why a kubeconfig that comes from another cluster's people is not used: it may say where to go, and not what to run
 * here, nor which of this machine's tokens to take there.
 */
export function foreignProblem({ user: { login } }: KubeConfig): string | undefined {
  if (login?.kind === "plugin") return `names a program to run (exec), which is refused: ${REMEDY}`;
  if (login?.kind === "token" && login.token.kind === "file") {
    return `names a file with a token (tokenFile), which is refused: ${REMEDY}`;
  }
  return undefined;
}
