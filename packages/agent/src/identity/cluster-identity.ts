import { Fault, toFault } from "@resource-broker/base";
import { CLUSTER_ID_FORM, type ClusterId, isClusterId } from "@resource-broker/domain";
import { type KubeClient, NAMESPACES } from "@resource-broker/kube";
import { endpointProblem } from "../settings/forms.ts";

interface IdentitySources {
  /** `--cluster-id`; "" where it was not given. */
  readonly flag: string;
  /** The identity that the broker sees: the certificate's Common Name. Undefined: the transport does not know. */
  readonly commonName: string | undefined;
  /** The flag that names the certificate. */
  readonly certificate?: string;
}

/**
 * The ID of this cluster; the UID of kube-system where nothing names it. The broker refuses any other name than the
 * certificate's. Throws a Fault that names the remedy where there is no ID to use.
 */
export async function findClusterId(
  { flag, commonName, certificate = "--broker-cert-path" }: IdentitySources,
  client: Pick<KubeClient, "get">,
): Promise<ClusterId> {
  if (commonName !== undefined && flag !== "" && flag !== commonName) {
    throw new Fault(
      "invalid",
      `--cluster-id is ${JSON.stringify(flag)}, but the certificate in ${certificate} belongs to ${JSON.stringify(commonName)}: leave --cluster-id out, or make a certificate with brokerctl certs issue ${flag}`,
    );
  }
  const clusterId = commonName ?? flag;
  if (clusterId === "") return clusterIdByUid(client);
  if (isClusterId(clusterId)) return clusterId;
  throw new Fault(
    "invalid",
    `the certificate in ${certificate} belongs to ${JSON.stringify(clusterId)}, which is not a cluster ID (${CLUSTER_ID_FORM}): make another with brokerctl certs issue <cluster-id>`,
  );
}

/** The same for a broker that is reached by kubeconfig; `issued` undefined: the kubeconfig names no cluster. */
export async function clusterIdByKubeconfig(
  { flag, issued }: { flag: string; issued: string | undefined },
  byUid?: () => Promise<ClusterId>,
): Promise<ClusterId> {
  if (issued !== undefined && flag !== "" && flag !== issued) {
    throw new Fault(
      "invalid",
      `--cluster-id is ${JSON.stringify(flag)}, but --broker-kubeconfig was issued for ${JSON.stringify(issued)}: leave --cluster-id out, or make a kubeconfig with brokerctl kubeconfig issue ${flag}`,
    );
  }
  const clusterId = issued ?? flag;
  if (clusterId === "" && byUid !== undefined) return byUid();
  if (isClusterId(clusterId)) return clusterId;
  throw new Fault(
    "invalid",
    "--broker-kubeconfig does not say which cluster this is: give --cluster-id, or make a kubeconfig with brokerctl kubeconfig issue <cluster-id>",
  );
}

/** The UID of kube-system: it stays the same as long as the cluster does. */
export async function clusterIdByUid(client: Pick<KubeClient, "get">): Promise<ClusterId> {
  const { metadata } = await client.get(NAMESPACES, { name: "kube-system" }).catch((error: unknown) => {
    const fault = toFault(error);
    if (fault.code !== "forbidden") throw fault;
    const remedy = "give --cluster-id, or the right to get the namespace kube-system";
    throw new Fault("invalid", `nothing names this cluster: ${remedy}`, { cause: error });
  });
  if (metadata.uid !== undefined && isClusterId(metadata.uid)) return metadata.uid;
  throw new Fault("invalid", "the namespace kube-system has no UID to go by: give --cluster-id");
}

interface EndpointSources {
  /** `--cluster-endpoint`; "" where it was not given. */
  readonly flag: string;
  /** The address that this agent itself uses. */
  readonly server: string;
  /** KUBERNETES_SERVICE_HOST: the address of the API server inside this cluster. */
  readonly serviceHost: string | undefined;
}

/** Where other clusters reach this one's API server; undefined where only this machine or cluster can reach it. */
export function clusterEndpoint({ flag, server, serviceHost }: EndpointSources): string | undefined {
  if (flag !== "") return withoutSlash(flag);
  if (endpointProblem(server) !== undefined) return undefined;
  const host = new URL(server).hostname.replace(/^\[(.*)\]$/, "$1");
  const isPrivate = isLoopback(host) || isInCluster(host) || host === serviceHost;
  return isPrivate ? undefined : withoutSlash(server);
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127\..+|0\.0\.0\.0|::1?|::ffff:7f.*)$/.test(host);
}

/** Names that only resolve in this cluster. */
function isInCluster(host: string): boolean {
  return /^kubernetes(?:\.default)?$|\.svc(?:\.|$)|\.cluster\.local$/.test(host);
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}
