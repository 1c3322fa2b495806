import { endpointProblem } from "../settings/forms.ts";

export interface EndpointSources {
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
