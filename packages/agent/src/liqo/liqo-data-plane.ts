import type { Clock, Log } from "@resource-broker/base";
import {
  createKubeClient,
  type Environment,
  type KubeClient,
  type ReflectorDeps,
} from "@resource-broker/kube";
import type { DataPlane, RequesterDataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import { MANAGER } from "../manifests/labels.ts";
import type { AgentSettings } from "../settings/agent-settings.ts";
import { foreignConfig } from "./liqoctl/foreign-access.ts";
import { kubeconfigFolder } from "./liqoctl/kubeconfigs.ts";
import { privateFiles } from "./liqoctl/private-file.ts";
import { liqoctl } from "./liqoctl/run-liqoctl.ts";
import { liqoAccounting } from "./node-accounting.ts";
import { RESERVATION_LABEL } from "./objects/labels.ts";
import { liqoProvider } from "./provider/liqo-provider.ts";
import { clusterReads } from "./requester/cluster-reads.ts";
import { establisher } from "./requester/establisher.ts";
import {
  type PeeringJobFactoryDeps,
  type PeeringJobFactoryOptions,
  peeringJobFactory,
} from "./requester/peering-job-factory.ts";
import { peeringJobRunner } from "./requester/peering-job-runner.ts";
import { peeringStore } from "./requester/peering-store.ts";
import { peeringTeardown } from "./requester/peering-teardown.ts";
import { claimantsOf } from "./requester/plan-offload.ts";
import { releaser } from "./requester/releaser.ts";
import { reservationObjectsReader } from "./requester/reservation-objects.ts";
import type { SliceAmountTerms } from "./requester/slice-amounts.ts";

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
  const files = privateFiles(deps.env);
  const requester = liqoRequester(requesterOptions(settings, deps.clusterId), {
    ...deps,
    kubeconfigs: kubeconfigFolder(settings["kubeconfigs-dir"]),
    run: liqoctl({ path: settings.liqoctl, env: deps.env }),
    connect: async (access, origin) =>
      createKubeClient(foreignConfig(access, origin), { ...deps, userAgent: MANAGER }),
    withFile: files.withFile,
  });
  return { requester, stop: () => requester.stop().finally(files.stop) };
}

/** What the settings say about virtual nodes. */
export function requesterOptions(settings: AgentSettings, clusterId: string): LiqoOptions {
  const { kubeconfig, context } = settings;
  const [gpuResource = "nvidia.com/gpu"] = settings["gpu-resources"];
  return {
    clusterId,
    liqoNamespace: settings["liqo-namespace"],
    gatewayType: settings["liqo-gateway-type"],
    hasNetworking: settings["liqo-networking"],
    timeoutMs: settings["liqo-timeout"],
    gpuResource,
    ownAccess: {
      ...(kubeconfig === "" ? {} : { kubeconfig }),
      ...(context === "" ? {} : { context }),
    },
  };
}

interface LiqoOptions extends PeeringJobFactoryOptions, SliceAmountTerms {}

interface LiqoDeps extends Omit<PeeringJobFactoryDeps, "client" | "peerings" | "reads" | "teardown"> {
  readonly client: Pick<KubeClient, "find" | "list" | "create" | "update" | "patch" | "delete">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Delivers each reservation as a virtual node of exactly its size, and removes it in time. */
export interface LiqoRequester extends RequesterDataPlane {
  /** Stops running liqoctl jobs; a restarted agent continues from the markers. */
  readonly stop: () => Promise<void>;
}

export function liqoRequester(options: LiqoOptions, deps: LiqoDeps): LiqoRequester {
  const reads = clusterReads(deps.client);
  const peerings = peeringStore(deps.client, options.liqoNamespace);
  const jobs = peeringJobRunner(deps);
  const jobFactory = peeringJobFactory(options, {
    ...deps,
    reads,
    peerings,
    teardown: peeringTeardown({ ...deps, reads }),
  });
  const parts = { ...deps, reads, peerings, jobs, jobFactory };
  return {
    ...establisher(options, parts),
    release: releaser({ ...parts, readObjects: reservationObjectsReader(parts) }),
    listReservationIds: async () => {
      const [slices, offloadings, markers] = await Promise.all([
        reads.labelledSlices(),
        reads.offloadings(),
        peerings.all(),
      ]);
      return [
        ...new Set([
          ...slices.map(({ metadata }) => metadata.labels?.[RESERVATION_LABEL] ?? metadata.name),
          ...offloadings.flatMap(claimantsOf),
          ...markers.flatMap(({ claims }) => claims),
        ]),
      ].sort();
    },
    stop: jobs.stop,
  };
}
