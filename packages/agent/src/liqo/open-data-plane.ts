import { Fault } from "@resource-broker/contract";
import { createKubeClient, type Environment, type KubeClient, loadKubeConfig } from "@resource-broker/kube";
import type { Log, MachineTime } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import { MANAGER } from "../forge/labels.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import { liqoDataPlane } from "./consumer/liqo-data-plane.ts";
import { foreignProblem } from "./liqoctl/foreign-kubeconfig.ts";
import { kubeconfigFolder } from "./liqoctl/kubeconfigs.ts";
import { liqoctl } from "./liqoctl/run-liqoctl.ts";

export interface OpenDataPlaneDeps {
  readonly clusterId: string;
  readonly client: KubeClient;
  readonly env: Environment;
  readonly machine: MachineTime;
  readonly log: Log;
}

/** The data plane that the settings ask for. */
export function openDataPlane(
  settings: AgentSettings,
  deps: OpenDataPlaneDeps,
): { readonly dataPlane: DataPlane; readonly stop: () => Promise<void> } {
  if (settings["liqo-mode"] !== "liqoctl") return { dataPlane: dataPlaneOff(), stop: async () => undefined };
  const { kubeconfig, context } = settings;
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
      connect: (file) => connect(file, deps),
    },
  );
  return { dataPlane, stop: dataPlane.stop };
}

async function connect(file: string, { env, machine, log }: OpenDataPlaneDeps): Promise<KubeClient> {
  const config = await loadKubeConfig({ env, files: [file] });
  const problem = foreignProblem(config);
  if (problem !== undefined) throw new Fault("invalid", `it ${problem}`);
  return createKubeClient(config, { machine, log, env, userAgent: MANAGER });
}
