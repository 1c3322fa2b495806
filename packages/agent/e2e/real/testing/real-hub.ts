import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  kubeClientFor,
  type RealControlPlane,
  startBroker,
  startControlPlane,
  type TestCertificates,
  type TransportUnderTest,
  until,
} from "@resource-broker/testkit";
import { kubernetesTransport } from "../../../src/transport/kubernetes/kubernetes-transport.ts";
import { RESERVATIONS } from "../../../src/transport/kubernetes/manifests.ts";

const DEPLOY = join(import.meta.dirname, "../../../../../deploy");
const CLUSTERS = ["rome", "paris", "berlin"];
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The broker's cluster on a real API server, with the role and the admission rules that are shipped for agents. */
export interface RealHub {
  /** A broker without memory in a namespace of its own, and agents that have no more rights than issued ones. */
  readonly makeTransport: () => Promise<TransportUnderTest>;
  readonly dispose: () => Promise<void>;
}

export async function startRealHub(certificates: TestCertificates): Promise<RealHub> {
  const plane = await startControlPlane({ name: "hub" });
  const folder = await mkdtemp(join(tmpdir(), "hub-"));
  const kubeconfigFile = join(folder, "kubeconfig.json");
  await writeFile(kubeconfigFile, plane.kubeconfig);
  await done(plane, "apply", "--server-side", "-f", join(DEPLOY, "crds"));
  await done(plane, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  await done(plane, "apply", "-f", join(DEPLOY, "admission/agent-writes.yaml"));
  const way = await plane.proxied();
  let made = 0;

  const makeTransport = async (): Promise<TransportUnderTest> => {
    const namespace = `hub-${++made}`;
    await prepare(plane, namespace);
    const flags = ["--broker-interface=http,kubernetes", `--kubeconfig=${kubeconfigFile}`];
    const broker = await startBroker({ certificates, flags: [...flags, `--http-namespace=${namespace}`] });
    return {
      connect: async (clusterId) => {
        const account = { namespace, name: `agent-${clusterId}` };
        const client = kubeClientFor(await way.kubeconfigFor(account));
        await mayWrite(client, namespace);
        return kubernetesTransport(
          { namespace, clusterId: "" },
          {
            client,
            clock: systemClock(() => Math.round(performance.timeOrigin + performance.now())),
            random: () => 0.5,
            randomBytes,
            log: quiet,
          },
        );
      },
      cut: way.proxy.cut,
      loseLedger: async () => {
        await broker.kill("SIGKILL");
        await rm(broker.storeDirectory, { recursive: true });
        await broker.restart();
      },
      remove: () => broker.dispose(),
    };
  };

  return {
    makeTransport,
    dispose: async () => {
      await plane.dispose();
      await rm(folder, { recursive: true });
    },
  };
}

async function prepare(plane: RealControlPlane, namespace: string): Promise<void> {
  await done(plane, "create", "namespace", namespace);
  await done(plane, "apply", "-n", namespace, "-f", join(DEPLOY, "rbac/broker-agents.yaml"));
  const accounts = CLUSTERS.map((id) => ({ namespace, name: `agent-${id}` }));
  await plane.seed([
    ...accounts.map((metadata) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata })),
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "agents", namespace },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "resource-broker-agents" },
      subjects: accounts.map((account) => ({ kind: "ServiceAccount", ...account })),
    },
  ]);
}

/** The API server reads roles some time after they are written. */
async function mayWrite(client: KubeClient, namespace: string): Promise<void> {
  await until("the agent's role is in force", async () => {
    await client.list(RESERVATIONS, { namespace }, () => undefined);
    return true;
  });
}

async function done(plane: RealControlPlane, ...args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await plane.kubectl(args);
  if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
}
