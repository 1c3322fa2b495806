import {
  createKubeClient,
  type Environment,
  type KubeClient,
  type KubeClientDeps,
  loadKubeConfig,
} from "@resource-broker/kube";
import type { BrokerSettings } from "./settings/broker-settings.ts";

/** The cluster the broker runs in, or beside: where its objects are. */
export interface BrokerCluster {
  readonly client: KubeClient;
  readonly namespace: string;
}

export const USER_AGENT = "resource-broker";

/** The client is created on first use and then shared. */
export function clusterAccess(
  settings: Pick<BrokerSettings, "kubeconfig" | "context" | "http-namespace">,
  deps: Pick<KubeClientDeps, "clock" | "log" | "reloads"> & { readonly env: Environment },
): { readonly open: () => Promise<BrokerCluster>; readonly close: () => Promise<void> } {
  let opened: Promise<BrokerCluster> | undefined;
  const connect = async (): Promise<BrokerCluster> => {
    const config = await loadKubeConfig({
      env: deps.env,
      ...(settings.kubeconfig === "" ? {} : { files: [settings.kubeconfig] }),
      ...(settings.context === "" ? {} : { context: settings.context }),
    });
    return {
      client: createKubeClient(config, { ...deps, userAgent: USER_AGENT }),
      namespace: settings["http-namespace"],
    };
  };
  return {
    open: () => (opened ??= connect()),
    close: async () => {
      const cluster = await opened?.catch(() => undefined);
      cluster?.client.close();
    },
  };
}
