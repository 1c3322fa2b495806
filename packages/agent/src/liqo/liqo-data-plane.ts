import {
  createKubeClient,
  type Environment,
  type KubeClient,
  type ReflectorDeps,
} from "@resource-broker/kube";
import type { DataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import { MANAGER } from "../manifests/labels.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import { kubeconfigFolder, privateFiles } from "./liqoctl/kubeconfigs.ts";
import { liqoctl } from "./liqoctl/run-liqoctl.ts";
import { liqoAccounting } from "./node-accounting.ts";
import { liqoProvider } from "./provider/liqo-provider.ts";
import { liqoRequester } from "./requester/liqo-requester.ts";

interface OpenDataPlaneDeps extends ReflectorDeps {
  readonly clusterId: string;
  readonly client: KubeClient;
  readonly env: Environment;
}

/** The data plane that the settings ask for. */
export function openDataPlane(settings: AgentSettings, deps: OpenDataPlaneDeps): DataPlane {
  const options = { namespace: settings["liqo-namespace"], isEnforcing: settings["liqo-enforce"] };
  return {
    ...openRequester(settings, deps),
    // Independent of the mode: a provider needs neither liqoctl nor kubeconfigs.
    createProvider: (context) => liqoProvider(options, { ...context, ...deps }),
    accounting: liqoAccounting,
  };
}

function openRequester(
  settings: AgentSettings,
  deps: OpenDataPlaneDeps,
): Pick<DataPlane, "requester" | "stop"> {
  if (settings["liqo-mode"] !== "liqoctl") return dataPlaneOff();
  const { kubeconfig, context } = settings;
  const files = privateFiles(deps.env);
  const [gpuResource = "nvidia.com/gpu"] = settings["gpu-resources"];
  const requester = liqoRequester(
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
      connect: (access) => createKubeClient(access, { ...deps, userAgent: MANAGER }),
      withFile: files.withFile,
    },
  );
  return { requester, stop: () => requester.stop().finally(files.stop) };
}
