import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@resource-broker/testkit";
import { ROOT } from "../../../generate/files.ts";
import { chartFolder } from "../../testing/helm.ts";
import { type KindCluster, run, startKindCluster } from "./kind-cluster.ts";
import { readyPod, type Workload } from "./pods.ts";

export const BROKER_NAMESPACE = "resource-broker-system";
export const AGENT_NAMESPACE = "rear-agent";
/** Another one than the pods' 8443: policies are applied after a Service has replaced it. */
const SERVICE_PORT = 9443;
const SERVICE = `resource-broker.${BROKER_NAMESPACE}.svc`;
const NODE_PORT = 30443;
const BROKERCTL = join(ROOT, "bin/brokerctl");

/**
 * Rome has the broker and an agent, which finds it by its Service and has its certificate from a folder; paris has an agent,
 * which comes from outside and has joined by an invitation.
 */
export interface Fleet {
  readonly rome: KindCluster;
  readonly paris: KindCluster;
  readonly broker: Workload;
  /** Of rome and of paris. */
  readonly agents: readonly [Workload, Workload];
  /** Where `brokerctl certs` keeps its authority. */
  readonly certificates: string;
  readonly brokerctl: (line: string) => Promise<string>;
  readonly dispose: () => Promise<void>;
}

const BROKER_VALUES = {
  tls: { certManager: { enabled: false } },
  enrollment: { secretName: "broker-enrollment" },
  adminCA: { existingSecret: "broker-server-tls", key: "admin-ca.crt" },
  service: { type: "NodePort", port: SERVICE_PORT, nodePort: NODE_PORT },
  networkPolicy: {
    apiFrom: [
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": AGENT_NAMESPACE } } },
      // Docker's networks, where the nodes of other clusters are.
      { ipBlock: { cidr: "172.16.0.0/12" } },
    ],
  },
};

/** Both clusters, with nothing of ours in them. */
export async function startFleet(): Promise<Fleet> {
  const [rome, paris] = await Promise.all([startKindCluster("rome"), startKindCluster("paris")]);
  const certificates = mkdtempSync(join(tmpdir(), "kind-certificates-"));
  const format = "{{.NetworkSettings.Networks.kind.IPAddress}}";
  const address = (await run("docker", ["inspect", "--format", format, rome.node])).trim();
  const brokerctl = (line: string): Promise<string> =>
    run(BROKERCTL, line.split(" "), {
      env: {
        BROKERCTL_CERTS_DIR: certificates,
        BROKERCTL_CERTS: join(certificates, "clusters/ops"),
        BROKERCTL_BROKER: `https://${address}:${NODE_PORT}`,
        KUBECONFIG: rome.kubeconfig,
      },
    });
  await brokerctl(`certs init --host ${rome.node} --host ${SERVICE} --host ${address}`);
  await brokerctl("certs issue ops --admin");
  await brokerctl(`certs issue ${rome.name}`);
  const agent = (cluster: KindCluster): Workload => ({
    cluster,
    namespace: AGENT_NAMESPACE,
    name: "deployment/resource-broker-agent",
    program: "agent",
  });
  return {
    rome,
    paris,
    broker: {
      cluster: rome,
      namespace: BROKER_NAMESPACE,
      name: "statefulset/resource-broker",
      program: "broker",
    },
    agents: [agent(rome), agent(paris)],
    certificates,
    brokerctl,
    dispose: async () => {
      await Promise.all([rome.dispose(), paris.dispose()]);
      rmSync(certificates, { recursive: true });
    },
  };
}

/** As docs/install.md says it, without cert-manager. `values` are for the broker's chart. */
export async function installFleet(fleet: Fleet, values: object = {}): Promise<void> {
  const { rome, paris, broker } = fleet;
  await createNamespace(rome, BROKER_NAMESPACE);
  await createBrokerSecret(fleet);
  const install = `install resource-broker ${chartFolder("broker")} -n ${BROKER_NAMESPACE}`;
  await rome.helm(install, { ...BROKER_VALUES, ...values });
  await readyPod(broker);
  await Promise.all([
    installAgent(fleet, rome, `https://${SERVICE}:${SERVICE_PORT}`),
    joinFleet(fleet, paris, `https://${rome.node}:${NODE_PORT}`),
  ]);
  await Promise.all(fleet.agents.map((agent) => readyPod(agent)));
}

/** `brokerctl invite paris | brokerctl join`, by two people: who joins has no certificate of an admin. */
async function joinFleet({ brokerctl }: Fleet, cluster: KindCluster, url: string): Promise<void> {
  // With two brokers, the port is served only a moment after one of them leads.
  await until("the broker answers", () => brokerctl("get members"));
  const invitation = await brokerctl(`invite ${cluster.name} --broker-url ${url}`);
  await run(BROKERCTL, ["join", "--yes"], { stdin: invitation, env: { KUBECONFIG: cluster.kubeconfig } });
}

async function installAgent(fleet: Fleet, cluster: KindCluster, url: string): Promise<void> {
  await createNamespace(cluster, AGENT_NAMESPACE);
  await createAgentSecret(fleet, cluster);
  await cluster.helm(`install resource-broker-agent ${chartFolder("agent")} -n ${AGENT_NAMESPACE}`, {
    clusterID: cluster.name,
    broker: { urls: [url] },
    tls: { certManager: { enabled: false } },
  });
}

export async function createBrokerSecret({ rome, certificates }: Fleet): Promise<void> {
  const from = `--from-file=${certificates}/broker`;
  await rome.kubectl(`create secret generic broker-server-tls -n ${BROKER_NAMESPACE} ${from}`);
  const signs = `--from-file=${certificates}/enrollment`;
  await rome.kubectl(`create secret generic broker-enrollment -n ${BROKER_NAMESPACE} ${signs}`);
}

export async function createAgentSecret({ certificates }: Fleet, cluster: KindCluster): Promise<void> {
  const from = `--from-file=${join(certificates, "clusters", cluster.name)}`;
  await cluster.kubectl(`create secret generic agent-client-tls -n ${AGENT_NAMESPACE} ${from}`);
}

/** Releases everything and uninstalls the charts. Kinds, namespaces and the ledger stay. */
export async function uninstallFleet({ rome, paris }: Fleet): Promise<void> {
  await rome.kubectl("delete resourcerequests -A --all");
  await until("nothing is held in paris", async () => {
    const held = await paris.kubectl("get providerinstructions -A -o name");
    return held === "" || undefined;
  });
  await paris.helm(`uninstall resource-broker-agent -n ${AGENT_NAMESPACE} --wait`);
  await rome.helm(`uninstall resource-broker-agent -n ${AGENT_NAMESPACE} --wait`);
  await rome.helm(`uninstall resource-broker -n ${BROKER_NAMESPACE} --wait`);
}

/** Removes what uninstalling leaves. */
export async function removeRest({ rome, paris, brokerctl }: Fleet): Promise<void> {
  await brokerctl("finalizers clear -A --yes");
  for (const { kubectl, kubeconfig } of [rome, paris]) {
    await run("make", ["-C", ROOT, "uninstall", `KUBECTL=kubectl --kubeconfig ${kubeconfig}`]);
    await kubectl(`delete namespace ${BROKER_NAMESPACE} ${AGENT_NAMESPACE} --ignore-not-found`);
  }
}

async function createNamespace(cluster: KindCluster, name: string): Promise<void> {
  await cluster.kubectl(`create namespace ${name}`);
  await cluster.kubectl(`label namespace ${name} pod-security.kubernetes.io/enforce=restricted`);
}
