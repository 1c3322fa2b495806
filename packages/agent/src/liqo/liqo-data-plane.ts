import { Fault } from "@resource-broker/base";
import {
  createKubeClient,
  type Environment,
  type KubeClient,
  type ReflectorDeps,
} from "@resource-broker/kube";
import type { DataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import type { AgentIdentity } from "../identity/agent-identity.ts";
import { MANAGER } from "../manifests/labels.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { kubeconfigFolder, privateFiles } from "./liqoctl/kubeconfigs.ts";
import { liqoctl } from "./liqoctl/run-liqoctl.ts";
import { liqoAccounting } from "./node-accounting.ts";
import { liqoProvider } from "./provider/liqo-provider.ts";
import { relayDataPlane } from "./relay/relay-data-plane.ts";
import { liqoRequester } from "./requester/liqo-requester.ts";
import { peeringJobs } from "./requester/peering-jobs.ts";

interface OpenDataPlaneDeps extends ReflectorDeps {
  readonly clusterId: string;
  readonly client: KubeClient;
  readonly env: Environment;
  /** For statements to other clusters. */
  readonly statements?: Pick<BrokerCommunicator, "putStatement" | "listStatements">;
  /** Undefined without `--identity-secret`. */
  readonly identity?: AgentIdentity | undefined;
}

/** The data plane that the settings ask for. */
export function openDataPlane(settings: AgentSettings, deps: OpenDataPlaneDeps): DataPlane {
  const options = providerOptions(settings);
  if (settings["liqo-mode"] === "relay") return { ...openRelay(settings, deps), accounting: liqoAccounting };
  return {
    ...openRequester(settings, deps),
    // Independent of the mode: a provider needs neither liqoctl nor kubeconfigs.
    createProvider: (context) => liqoProvider(options, { ...context, ...deps }),
    accounting: liqoAccounting,
  };
}

function providerOptions(settings: AgentSettings): { namespace: string; isEnforcing: boolean } {
  return { namespace: settings["liqo-namespace"], isEnforcing: settings["liqo-enforce"] };
}

/** The extended resource name that reserved GPUs are requested by. */
function gpuResourceOf(settings: AgentSettings): string {
  const [gpuResource = "nvidia.com/gpu"] = settings["gpu-resources"];
  return gpuResource;
}

function openRelay(settings: AgentSettings, deps: OpenDataPlaneDeps): Omit<DataPlane, "accounting"> {
  const { identity, statements, client, env } = deps;
  if (identity === undefined || statements === undefined)
    throw new Fault("invalid", "--liqo-mode=relay needs --identity-secret, and a broker over http");
  const [namespace = ""] = settings["identity-secret"].split("/");
  const serviceHost = env["KUBERNETES_SERVICE_HOST"];
  return relayDataPlane(
    {
      clusterId: deps.clusterId,
      namespace,
      liqoNamespace: settings["liqo-namespace"],
      isEnforcing: providerOptions(settings).isEnforcing,
      timeoutMs: settings["liqo-timeout"],
      gpuResource: gpuResourceOf(settings),
      ownHosts: [new URL(client.server).host, ...(serviceHost === undefined ? [] : [serviceHost])],
      allowsLoopback: settings["liqo-allow-loopback"],
      fingerprints: new Map(
        settings["peer-fingerprints"].map(({ clusterId, fingerprint }) => [clusterId, fingerprint]),
      ),
      warmPeers: new Set(settings["warm-peers"]),
      warmForMs: settings["warm-for"],
    },
    { ...deps, identity, statements },
  );
}

function openRequester(
  settings: AgentSettings,
  deps: OpenDataPlaneDeps,
): Pick<DataPlane, "requester" | "stop"> {
  if (settings["liqo-mode"] !== "liqoctl") return dataPlaneOff();
  const { kubeconfig, context } = settings;
  const files = privateFiles(deps.env);
  const options = {
    clusterId: deps.clusterId,
    liqoNamespace: settings["liqo-namespace"],
    gatewayType: settings["liqo-gateway-type"],
    hasNetworking: settings["liqo-networking"],
    timeoutMs: settings["liqo-timeout"],
    gpuResource: gpuResourceOf(settings),
    ownAccess: {
      ...(kubeconfig === "" ? {} : { kubeconfig }),
      ...(context === "" ? {} : { context }),
    },
  };
  const requester = liqoRequester(options, {
    ...deps,
    createJobs: (parts) =>
      peeringJobs(options, {
        ...deps,
        ...parts,
        kubeconfigs: kubeconfigFolder(settings["kubeconfigs-dir"]),
        run: liqoctl({ path: settings.liqoctl, env: deps.env }),
        connect: (access) => createKubeClient(access, { ...deps, userAgent: MANAGER }),
        withFile: files.withFile,
      }),
  });
  return { requester, stop: () => requester.stop().finally(files.stop) };
}
