import { countedResources } from "@resource-broker/accounting";
import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import type { BrokerClient } from "@resource-broker/client";
import {
  createKubeClient,
  type Environment,
  type EventRecorder,
  eventRecorder,
  type KubeClient,
  type KubeConfig,
  leaderElection,
  loadKubeConfig,
} from "@resource-broker/kube";
import { createProbes, createReloads } from "@resource-broker/runtime";
import { type AgentCore, agentCore } from "./core/agent-core.ts";
import type { DataPlane } from "./data-plane/data-plane.ts";
import type { RecordEvent } from "./events/record-event.ts";
import { type OpenedIdentity, openIdentity } from "./identity/open-identity.ts";
import { clusterEndpoint, clusterIdByUid, findClusterId } from "./identity/cluster-identity.ts";
import { openDataPlane } from "./liqo/liqo-data-plane.ts";
import { MANAGER } from "./manifests/labels.ts";
import { createAgentMetrics } from "./metrics/agent-metrics.ts";
import { createPriceSource } from "./price/price-settings.ts";
import { agentChecks, type Progress, refusalOf } from "./readiness.ts";
import { serverClock, serverTime } from "./server-time.ts";
import type { AgentSettings } from "./settings/agent-settings.ts";
import { kubeConfigSources } from "./settings/read-agent-settings.ts";
import type { BrokerCommunicator } from "./transport/broker-communicator.ts";
import { openTransport } from "./transport/open-transport.ts";

export interface AppDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** KUBECONFIG, HOME, and the variables that Kubernetes sets in a pod. */
  readonly env: Environment;
  readonly log: Log;
  /** Called when the agent cannot continue: the process must exit. */
  readonly onFatal: (error: Error) => void;
}

/** A whole agent: client, transport, probes and the core. */
export interface Agent {
  /** Resolves when the cluster was observed once, or when another replica leads. */
  readonly start: () => Promise<{ readonly clusterId: string }>;
  readonly stop: () => Promise<void>;
}

export function createAgent(settings: AgentSettings, deps: AppDeps): Agent {
  const { clock, random, log } = deps;
  const reloads = createReloads();
  const metrics = createAgentMetrics(reloads.statuses);
  const cleanups: (() => Promise<unknown> | undefined)[] = [];
  const hasIdentity = settings["identity-secret"] !== "";
  const joining = new AbortController();
  /** The data plane compares times in objects of the cluster with it: the agent's own clock may be wrong. */
  const clusterTime = serverTime(clock);
  let progress: Progress = { kind: "starting" };
  let access: OpenedIdentity | undefined;
  let background: Promise<unknown> = Promise.resolve();
  const probes = createProbes(settings, {
    checks: agentChecks(() => progress, hasIdentity ? () => access?.problem() : undefined),
    metrics,
    clock,
    log,
    reloads,
  });

  const start = async (): Promise<{ readonly clusterId: string }> => {
    const config = await loadKubeConfig(kubeConfigSources(settings, deps.env));
    const client = createKubeClient(config, {
      clock,
      log,
      env: deps.env,
      userAgent: MANAGER,
      reloads,
      onDate: clusterTime.observe,
    });
    cleanups.push(async () => client.close());
    // Runs while certificates are read and ports are opened; its result is awaited below.
    const apiServerCheck = checkApiServer(client, config);
    apiServerCheck.catch(() => undefined);
    if (hasIdentity) {
      await apiServerCheck;
      access = await openIdentity(settings, {
        ...deps,
        client,
        reloads,
        onRenewal: metrics.certificateRenewal,
      });
    }
    const { enrollment } = access ?? {};
    if (enrollment === undefined) return run(client, apiServerCheck);
    await startProbes();
    // Returns at once: an admin may take days to accept this agent.
    background = enrollment
      .complete(joining.signal)
      .then(() => (isStopping ? undefined : run(client, apiServerCheck)))
      .catch((error: unknown) => deps.onFatal(error instanceof Error ? error : toFault(error)));
    return { clusterId: settings["cluster-id"] };
  };

  const startProbes = async (): Promise<void> => {
    await probes.start();
    cleanups.push(probes.stop);
  };

  /** The rest of the start, which needs a certificate. */
  const run = async (client: KubeClient, apiServerCheck: Promise<void>): Promise<{ clusterId: string }> => {
    const transport = await openTransport(settings, {
      ...deps,
      clusterIdByUid: () => clusterIdByUid(client),
      reloads,
      onCertificates: metrics.certificatesInForce,
      credentials: await access?.credentials(),
    });
    const { communicator, label: broker } = transport;
    cleanups.push(communicator.close);
    if (access?.enrollment === undefined) await startProbes();
    if (transport.client !== undefined) startRenewal(transport.client);
    const sources = {
      flag: settings["cluster-id"],
      commonName: communicator.identity(),
      certificate:
        hasIdentity && settings["broker-cert-path"] === "" ? "--identity-secret" : "--broker-cert-path",
    };
    const [clusterId] = await Promise.all([findClusterId(sources, client), apiServerCheck]);
    const recorder = recorderOf(client, clusterId);
    cleanups.push(recorder.stop);
    const dataPlane = openDataPlane(settings, {
      ...deps,
      clock: serverClock(clock, clusterTime),
      clusterId,
      client,
      statements: communicator,
      identity: access?.identity,
      observer: { onRestart: metrics.watchRestarted },
    });
    cleanups.push(dataPlane.stop);
    const core = coreOf({ clusterId, client, communicator, recorder, dataPlane });
    log.info({ clusterId, server: client.server, broker }, "the agent starts");
    if (settings["leader-elect"]) await whenLeading(client, core);
    else await startCore(core);
    return { clusterId };
  };

  const startRenewal = (broker: BrokerClient): void => {
    if (access === undefined) return;
    if (settings["broker-cert-path"] === "") metrics.certificateRenewal("none");
    cleanups.push(access.startRenewal(broker, () => refusalOf(progress)));
  };

  interface Parts {
    readonly clusterId: string;
    readonly client: KubeClient;
    readonly communicator: BrokerCommunicator;
    readonly recorder: EventRecorder;
    readonly dataPlane: DataPlane;
  }

  const recorderOf = (client: KubeClient, clusterId: string): EventRecorder =>
    eventRecorder(
      { component: MANAGER, instance: deps.env["HOSTNAME"] ?? clusterId },
      { client, clock, random, log },
    );

  const coreOf = ({ clusterId, client, communicator, recorder, dataPlane }: Parts): AgentCore =>
    agentCore(
      {
        clusterId,
        clusterName: settings["cluster-name"] || undefined,
        endpointUrl: clusterEndpoint({
          flag: settings["cluster-endpoint"],
          server: client.server,
          serviceHost: deps.env["KUBERNETES_SERVICE_HOST"],
        }),
        labels: Object.fromEntries(settings["cluster-labels"].map(({ name, value }) => [name, value])),
        toleratedTaints: settings["tolerated-taints"],
        resources: countedResources({
          gpuResources: settings["gpu-resources"],
          extendedResources: settings["extended-resources"],
        }),
        withoutBroker: settings["broker-transport"] === "none",
        intervalMs: settings["advertisement-requeue-interval"],
        pollIntervalMs: settings["instruction-poll-interval"],
        advertisement: {
          name: settings["advertisement-name"],
          namespace: settings["advertisement-namespace"],
        },
        instructionNamespace: settings["instruction-namespace"],
      },
      {
        client,
        communicator,
        prices: createPriceSource(settings, {
          client,
          clock,
          random,
          log,
          reloads,
          observer: { onRestart: metrics.watchRestarted },
        }),
        dataPlane,
        clock,
        random,
        newInstance: () => Buffer.from(deps.randomBytes(8)).toString("hex"),
        recordEvent: recordEventWith(recorder),
        observer: metrics,
        log,
      },
    );

  const startCore = async (core: AgentCore): Promise<void> => {
    progress = { kind: "working", core };
    metrics.setSources(core);
    cleanups.push(core.stop);
    await core.start();
    log.info({}, "the agent is running");
  };

  /** Returns at once: another replica may lead for days. */
  const whenLeading = async (client: KubeClient, core: AgentCore): Promise<void> => {
    const identity = `${deps.env["HOSTNAME"] ?? "agent"}-${Buffer.from(deps.randomBytes(6)).toString("hex")}`;
    const election = leaderElection(
      {
        name: settings["leader-election-id"],
        namespace: settings["leader-election-namespace"],
        identity,
        onLead: () => startCore(core),
        onLose: () => {
          if (!isStopping)
            deps.onFatal(new Fault("unreachable", "the lease was lost: another replica takes over"));
        },
      },
      { client, clock, random, log },
    );
    progress = { kind: "waiting" };
    election.start();
    cleanups.push(election.stop);
  };

  let isStopping = false;
  const stop = async (): Promise<void> => {
    isStopping = true;
    joining.abort();
    await background;
    // Stops in reverse order of start; each part is stopped even if another fails.
    for (const end of cleanups.splice(0).reverse()) {
      await end()?.catch((error: unknown) =>
        log.warn({ error: toFault(error).message }, "a part of the agent failed to stop"),
      );
    }
    log.info({}, "the agent has stopped");
  };

  return { start, stop };
}

/** A kubeconfig without a reachable API server fails at start; it is not retried. */
async function checkApiServer(client: KubeClient, config: KubeConfig): Promise<void> {
  try {
    await client.read("/version");
  } catch (error) {
    const { message } = toFault(error);
    throw new Fault("invalid", `the API server of ${config.origin} does not answer: ${message}`, {
      cause: error,
    });
  }
}

function recordEventWith(recorder: EventRecorder): RecordEvent {
  return ({ regarding, type, reason, message }) => {
    const { name, namespace, uid } = regarding.metadata;
    recorder.record({
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
      },
      type,
      reason,
      message,
    });
  };
}
