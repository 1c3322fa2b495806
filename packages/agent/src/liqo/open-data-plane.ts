import { createKubeClient, type Environment, type KubeClient } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import { MANAGER } from "../forge/labels.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import { liqoDataPlane } from "./consumer/liqo-data-plane.ts";
import { foreignConfig } from "./liqoctl/foreign-access.ts";
import { kubeconfigFolder } from "./liqoctl/kubeconfigs.ts";
import { privateFiles } from "./liqoctl/private-file.ts";
import { liqoctl } from "./liqoctl/run-liqoctl.ts";

export interface OpenDataPlaneDeps {
  readonly clusterId: string;
  readonly client: KubeClient;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Log;
}

/** The data plane that the settings ask for. */
export function openDataPlane(
  settings: AgentSettings,
  deps: OpenDataPlaneDeps,
): { readonly dataPlane: DataPlane; readonly stop: () => Promise<void> } {
  if (settings["liqo-mode"] !== "liqoctl") return { dataPlane: dataPlaneOff(), stop: async () => undefined };
  const { kubeconfig, context } = settings;
  const files = privateFiles(deps.env);
  const [gpuResource = "nvidia.com/gpu"] = settings["gpu-resources"];
  const dataPlane = liqoDataPlane(
    {
      clusterId: deps.clusterId,
      liqoNamespace: settings["liqo-namespace"],
      gatewayType: settings["liqo-gateway-type"],
      hasNetworking: settings["liqo-networking"],
      timeoutMs: settings["liqo-timeout"],
      gpuResource,
      ownAccess: {
        ...(kubeconfig === "" ? {} : { kubeconfig }),
        ...(context === "" ? {} : { context }),
      },
    },
    {
      ...deps,
      kubeconfigs: kubeconfigFolder(settings["kubeconfigs-dir"]),
      run: liqoctl({ path: settings.liqoctl, env: deps.env }),
      connect: async (access, origin) =>
        createKubeClient(foreignConfig(access, origin), { ...deps, userAgent: MANAGER }),
      withFile: files.withFile,
    },
  );
  return { dataPlane, stop: () => dataPlane.stop().finally(files.stop) };
}
