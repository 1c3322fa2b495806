import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { parseToken } from "@resource-broker/contract";
import {
  type AgentProcess,
  type BrokerProcess,
  nodeObject,
  type RealLiqoCluster,
  realLiqoControlPlanes,
  startAgent,
  startBroker,
  until,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import { deployAssetsFolder } from "../../../../../deploy/tests/testing/helm.ts";

const ROOT = join(import.meta.dirname, "../../../../..");
const AGENT = { namespace: "rear-agent", name: "resource-broker-agent" };
/** A process has other ports than a container. */
const PORTS = /^--(metrics|health-probe)-bind-address=/;

/** A cluster in which nothing of ours is installed. */
export interface EmptyCluster {
  readonly name: string;
  readonly world: WorldCluster;
  readonly liqo: RealLiqoCluster;
}

export interface EmptyClusters {
  readonly of: (name: string) => EmptyCluster;
  readonly dispose: () => Promise<void>;
}

/** Where an admin works: the folder with the authorities, and the broker. */
export interface Admin {
  readonly folder: string;
  readonly broker: Pick<BrokerProcess, "port">;
}

const certsOf = (folder: string): string => join(folder, "certs");

async function contentsOf(folder: string, name: string) {
  const textOf = (file: string) => readFile(join(certsOf(folder), name, file), "utf8");
  const [cert = "", key = "", ca = ""] = await Promise.all(["tls.crt", "tls.key", "ca.crt"].map(textOf));
  return { cert, key, ca };
}

interface Call {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What it wrote; rejects when it fails. */
export async function runBrokerctl(
  { folder, broker }: Admin,
  args: readonly string[],
  { stdin = "", env = {} }: Call = {},
): Promise<{ readonly out: string; readonly err: string }> {
  const program = spawn(process.execPath, [join(ROOT, "apps/cli/bin/brokerctl.mjs"), ...args], {
    cwd: folder,
    env: {
      HOME: folder,
      PATH: `${deployAssetsFolder()}:${dirname(process.execPath)}:/usr/bin:/bin`,
      BROKERCTL_BROKER: `https://127.0.0.1:${broker.port}`,
      BROKERCTL_CERTS: join(certsOf(folder), "clusters/ops"),
      BROKERCTL_CERTS_DIR: certsOf(folder),
      ...env,
    },
  });
  program.stdin.end(stdin);
  const [out, err] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.exitCode === null ? once(program, "close") : undefined,
  ]);
  if (program.exitCode !== 0) throw new Error(`brokerctl ${args.join(" ")}: ${err}`);
  return { out, err };
}

/** A broker that signs certificates for those who are invited, and the certificate of an admin. */
export async function startInvitingBroker(folder: string): Promise<BrokerProcess> {
  const nowhere = { folder, broker: { port: 0 } };
  await runBrokerctl(nowhere, ["certs", "init"]);
  await runBrokerctl(nowhere, ["certs", "issue", "ops", "--admin"]);
  const [own, admin] = [await contentsOf(folder, "broker"), await contentsOf(folder, "clusters/ops")];
  return startBroker({
    directory: join(folder, "broker"),
    certificates: { broker: own, cluster: () => admin, admin: () => admin },
    flags: [
      `--http-cert-path=${join(certsOf(folder), "broker")}`,
      `--enrollment-cert-path=${join(certsOf(folder), "enrollment")}`,
    ],
  });
}

/** Clusters of these sizes, with Liqo. */
export async function startEmptyClusters(
  folder: string,
  cpus: Readonly<Record<string, string>>,
): Promise<EmptyClusters> {
  const planes = realLiqoControlPlanes({ names: Object.keys(cpus), mode: "relay", hasRights: false });
  const clusters = new Map<string, EmptyCluster>();
  const dispose = async (): Promise<void> => {
    for (const { world } of clusters.values()) world.client.close();
    await planes.stop();
  };
  const start = async ([name, cpu]: readonly [string, string]): Promise<void> => {
    const node = nodeObject(`${name}-1`, { cpu, memory: "64Gi", ephemeralStorage: "200Gi" });
    const { kubeconfig } = await planes.start(name, [node]);
    const kubeconfigFile = join(folder, `${name}.kubeconfig`);
    const world = await worldCluster({ name, kubeconfig, kubeconfigFile });
    clusters.set(name, { name, world, liqo: planes.cluster(name) });
  };
  const starts = Object.entries(cpus).map(start);
  // Also after a failure: what was started is stopped.
  await Promise.allSettled(starts);
  await Promise.all(starts).catch(async (error: unknown) => {
    await dispose();
    throw error;
  });
  return {
    of: (name) => {
      const found = clusters.get(name);
      if (found === undefined) throw new Error(`there is no cluster ${name}`);
      return found;
    },
    dispose,
  };
}

interface Joined {
  readonly agent: AgentProcess;
  /** What brokerctl wrote. */
  readonly said: string;
  /** The secret part of the invitation's token. */
  readonly token: string;
}

/**
 * `brokerctl invite | brokerctl join`. kwok says that the agent's pod runs; what runs is a process with the arguments and
 * the ServiceAccount of that pod.
 */
export async function joinCluster(admin: Admin, { name, world, liqo }: EmptyCluster): Promise<Joined> {
  const { out: invitation } = await runBrokerctl(admin, ["invite", name]);
  const joining = runBrokerctl(admin, ["join", "--yes", "--set", "liqo.mode=relay"], {
    stdin: invitation,
    // Who joins has no certificate of an admin.
    env: { KUBECONFIG: world.kubeconfigFile, BROKERCTL_CERTS: "", BROKERCTL_BROKER: "" },
  });
  const [{ err: said }, agent] = await Promise.all([joining, runAgent(admin, name, liqo)]);
  const [, token = ""] = /token: "?(rbj1\.[^\s"]+)/.exec(invitation) ?? [];
  const { secret } = parseToken(token) ?? {};
  if (secret === undefined) throw new Error(`there is no token in the invitation of ${name}`);
  return { agent, said, token: secret };
}

async function runAgent(
  { folder, broker }: Admin,
  name: string,
  { plane }: RealLiqoCluster,
): Promise<AgentProcess> {
  const path = `/apis/apps/v1/namespaces/${AGENT.namespace}/deployments/${AGENT.name}`;
  const spec = await until("the agent is installed", async () => {
    const { status, body } = await plane.request("GET", path);
    return status === 200 ? (body as Installed).spec.template.spec : undefined;
  });
  const account = { namespace: AGENT.namespace, name: spec.serviceAccountName };
  const own = await contentsOf(folder, "broker");
  return startAgent({
    clusterId: name,
    broker,
    directory: join(folder, name),
    certificates: { cluster: () => own },
    kubeconfig: await plane.kubeconfigFor(account),
    waits: false,
    environment: { POD_NAMESPACE: AGENT.namespace },
    flags: [
      "--broker-url=",
      "--broker-cert-path=",
      ...(spec.containers[0]?.args ?? []).filter((arg) => !PORTS.test(arg)),
    ],
  });
}

interface Installed {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly args?: readonly string[] }[];
      };
    };
  };
}
