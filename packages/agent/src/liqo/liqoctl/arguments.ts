import { formatDuration } from "@resource-broker/contract";

export type GatewayType = "NodePort" | "LoadBalancer" | "ClusterIP";

/** How a cluster is reached. Absent: liqoctl's own defaults. */
export interface Access {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export interface Peering {
  readonly local: Access;
  readonly remoteKubeconfig: string;
  readonly liqoNamespace: string;
  readonly timeoutMs: number;
}

export interface PeerOptions extends Peering {
  readonly gatewayType: GatewayType;
  readonly hasNetworking: boolean;
}

/** Peers the two clusters only; the agent creates one slice per reservation. */
export function peerArguments(options: PeerOptions): string[] {
  return [
    "peer",
    ...bothClusters(options),
    "--create-resource-slice=false",
    "--create-virtual-node=false",
    ...(options.hasNetworking
      ? [`--gw-server-service-type=${options.gatewayType}`]
      : ["--networking-disabled=true"]),
  ];
}

/** Also removes every slice towards the provider: only for the last reservation of a pair. */
export function unpeerArguments(options: Peering): string[] {
  return ["unpeer", ...bothClusters(options)];
}

/** Removes this cluster's access at the provider and keeps the network for the other direction. */
export function unauthenticateArguments(options: Peering): string[] {
  return ["unauthenticate", ...bothClusters(options)];
}

/** For a provider that is unreachable for good. The ID was checked and cannot look like a flag. */
export function forceUnpeerArguments(liqoId: string, local: Access): string[] {
  return ["force", "unpeer", ...localCluster(local), "--skip-confirm", liqoId];
}

function bothClusters({ local, remoteKubeconfig, liqoNamespace, timeoutMs }: Peering): string[] {
  return [
    ...localCluster(local),
    `--remote-kubeconfig=${remoteKubeconfig}`,
    `--namespace=${liqoNamespace}`,
    `--remote-namespace=${liqoNamespace}`,
    `--timeout=${formatDuration(timeoutMs)}`,
  ];
}

function localCluster({ kubeconfig, context }: Access): string[] {
  return [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context=${context}`]),
  ];
}
