import type { Clock, Log } from "@resource-broker/base";
import { type BrokerClient, createBrokerClient } from "@resource-broker/client";
import { createKubeClient, type Environment, loadKubeConfig } from "@resource-broker/kube";
import { type CertificateSet, observedCertificates, type Reloads } from "@resource-broker/runtime";
import { agentCertificates } from "../identity/agent-certificates.ts";
import type { BrokerCredentials } from "../identity/open-identity.ts";
import { MANAGER } from "../manifests/labels.ts";
import { AGENT_HINTS, type AgentSettings } from "../settings/agent-settings.ts";
import { type BrokerCommunicator, brokerCommunicator } from "./broker-communicator.ts";
import { kubernetesTransport } from "./kubernetes/kubernetes-transport.ts";
import { noBroker } from "./no-broker.ts";

export interface TransportDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly env: Environment;
  readonly log: Log;
  /** The UID of the agent's own kube-system, for a kubeconfig that names no cluster. */
  readonly clusterIdByUid: () => Promise<string>;
  readonly reloads: Pick<Reloads, "source">;
  /** With `--identity-secret`. Absent: the flags name address and certificates. */
  readonly credentials?: BrokerCredentials | undefined;
  /** Called with the certificates in use, where the transport has any. */
  readonly onCertificates: (set: CertificateSet) => void;
}

/** The transport that the settings choose. */
export interface Transport {
  readonly communicator: BrokerCommunicator;
  /** Over HTTP only. */
  readonly client?: BrokerClient;
  /** The broker's address, for the log. */
  readonly label: string;
}

export async function openTransport(settings: AgentSettings, deps: TransportDeps): Promise<Transport> {
  const { clock, random, randomBytes, env, log, reloads } = deps;
  if (settings["broker-transport"] === "none")
    return { communicator: brokerCommunicator(noBroker()), label: "none" };
  if (settings["broker-transport"] !== "kubernetes") {
    const { brokerUrls, ...credentials } = deps.credentials ?? credentialsByFlags(settings, deps);
    const certificates = observedCertificates(credentials.certificates, deps.onCertificates);
    const client = await createBrokerClient(
      { brokerUrls },
      { clock, random, log, ...credentials, certificates },
    );
    return { communicator: brokerCommunicator(client), client, label: brokerUrls.join(",") };
  }
  const config = await loadKubeConfig({ env, files: [settings["broker-kubeconfig"]] });
  const client = createKubeClient(config, { clock, log, env, userAgent: MANAGER, reloads });
  const namespace = settings["broker-namespace"];
  const options = { namespace, clusterId: settings["cluster-id"], clusterIdByUid: deps.clusterIdByUid };
  try {
    const transport = await kubernetesTransport(options, {
      client,
      clock,
      random,
      randomBytes,
      log,
    });
    return { communicator: brokerCommunicator(transport), label: `${client.server}, namespace ${namespace}` };
  } catch (error) {
    client.close();
    throw error;
  }
}

function credentialsByFlags(
  settings: AgentSettings,
  { clock, log, reloads }: TransportDeps,
): BrokerCredentials {
  const report = reloads.source("certificates");
  const certificates = agentCertificates(settings["broker-cert-path"], { clock, log, report });
  return { certificates, brokerUrls: settings["broker-url"], hints: AGENT_HINTS };
}
