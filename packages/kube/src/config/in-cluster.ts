import { join } from "node:path";
import { Fault } from "@resource-broker/base";
import type { KubeConfig } from "./kube-config.ts";
import { readIfThere } from "./read-file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Kubernetes puts a pod's service account. */
const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** True in a pod. */
export function isInCluster(env: Environment): boolean {
  return (env["KUBERNETES_SERVICE_HOST"] ?? "") !== "" && (env["KUBERNETES_SERVICE_PORT"] ?? "") !== "";
}

/** The API server of the cluster this pod runs in, as the pod's service account. */
export async function inClusterConfig(
  env: Environment,
  folder = SERVICE_ACCOUNT_FOLDER,
): Promise<KubeConfig> {
  const server = serverOf(env);
  const read = (name: string) => readIfThere(join(folder, name), "the service account of this pod");
  const [token, ca, namespace] = await Promise.all([read("token"), read("ca.crt"), read("namespace")]);
  if (token === undefined || token.trim() === "") throw notHere(`there is no token in ${folder}`);
  return {
    origin: "the service account of this pod",
    server,
    namespace: namespace?.trim() || "default",
    // Without the file the system's authorities must do, as for every other program in the pod.
    trust: {
      insecureSkipVerify: false,
      ...(ca === undefined ? {} : { ca: { kind: "file", path: join(folder, "ca.crt") } }),
    },
    user: { login: { kind: "token", token: { kind: "file", path: join(folder, "token") } } },
  };
}

function serverOf(env: Environment): string {
  if (!isInCluster(env)) throw notHere("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (URL.canParse(server)) return server;
  throw notHere(`KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT make no address (${server})`);
}

function notHere(problem: string): Fault {
  return new Fault(
    "invalid",
    `no service account to use: ${problem}; in a pod set automountServiceAccountToken: true, elsewhere name a kubeconfig file`,
  );
}
