import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import {
  ADVERTISEMENTS,
  advertisementBody,
  type BrokerClient,
  createInProcessAgent,
  nodeObject,
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type RealControlPlane,
  startBroker,
  startControlPlane,
  testCertificates,
  until,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import { recordTwice, runAgentLifecycle } from "./lifecycle.ts";
import type { RbacObject, Right } from "./rights.ts";

const CRDS = join(import.meta.dirname, "../../../../../deploy/crds");
const SYSTEM = "rear-agent";
const ACCOUNT = { namespace: SYSTEM, name: "resource-broker-agent" };
const USER = `system:serviceaccount:${SYSTEM}:${ACCOUNT.name}`;
const LARGE = { cpu: 64, memoryGi: 256 };
/** So that every right there is has a use. */
const FLAGS = [
  "--leader-elect",
  `--leader-election-namespace=${SYSTEM}`,
  `--price-configmap=${SYSTEM}/prices`,
  `--identity-secret=${SYSTEM}/resource-broker-agent-identity`,
];
/** Made empty, as the chart does. */
const KEYS = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "resource-broker-agent-identity", namespace: SYSTEM },
};
const KEYS_PATH = `/api/v1/namespaces/${SYSTEM}/secrets/${KEYS.metadata.name}`;

/**
 * A real control plane, a broker, and the agent of rome as a service account with the rights that are shipped. paris
 * lends to rome and berlin borrows from it: both only talk to the broker.
 */
export interface RightsSetup {
  readonly plane: RealControlPlane;
  readonly rome: WorldCluster;
  /** Writes roles, and resolves when the API server goes by them: `right` is then given, or is not. */
  readonly give: (objects: readonly RbacObject[], right: Right, isGiven: boolean) => Promise<void>;
  /** Whether the agent's account may do this. */
  readonly may: (right: Omit<Right, "role">, namespace?: string) => Promise<boolean>;
  /**
   * An agent lives through one reservation on each side, from the first advertisement to the last trace. It hurries to
   * the end as soon as it has said something that `isEnough`. Returns what it said.
   */
  readonly runLifecycle: (isEnough: (line: string) => boolean) => Promise<readonly string[]>;
  readonly dispose: () => Promise<void>;
}

export async function rightsSetup(rights: readonly RbacObject[]): Promise<RightsSetup> {
  const directory = await mkdtemp(join(tmpdir(), "rights-"));
  const certificates = await testCertificates();
  const plane = await startControlPlane({ name: "rome" });
  const broker = await startBroker({ certificates });
  const done = async (args: readonly string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  };
  await done(["apply", "--server-side", "-f", CRDS]);
  await done(["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
  await plane.seed([
    ...rights,
    KEYS,
    nodeObject("rome-1", { cpu: "32", memory: "128Gi" }),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "prices", namespace: SYSTEM },
      data: { cpuCost: "0.04", memoryCost: "0.005", currency: "EUR" },
    },
  ]);
  const kubeconfig = await plane.kubeconfigFor(ACCOUNT);
  const [rome, limited] = await Promise.all([
    worldCluster({ name: "rome", kubeconfig: plane.kubeconfig, kubeconfigFile: join(directory, "admin") }),
    worldCluster({ name: "rome", kubeconfig, kubeconfigFile: join(directory, "agent") }),
  ]);

  let keys: object | undefined;

  const may: RightsSetup["may"] = async ({ verb, group, resource, objectName }, namespace) => {
    const [plural, subresource] = resource.split("/");
    const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name: objectName };
    const review = await plane.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: USER, groups: ["system:authenticated"], resourceAttributes },
    });
    return (review.body as { status: { allowed: boolean } }).status.allowed;
  };

  const forget = async (): Promise<void> => {
    for (const { plural, group, version } of [
      RESOURCE_REQUESTS,
      RESERVATION_INSTRUCTIONS,
      PROVIDER_INSTRUCTIONS,
      ADVERTISEMENTS,
    ]) {
      await plane.request("DELETE", `/apis/${group}/${version}/namespaces/default/${plural}`);
    }
    await plane.request("DELETE", `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/${ACCOUNT.name}`);
    // As an admin: only rome's agent has the identity key that the broker has bound.
    await giveBack(broker.admin());
    await broker
      .clientFor("paris")
      .request("POST", PATH.advertisements, { body: advertisementBody("paris", LARGE) });
  };

  const runLifecycle: RightsSetup["runLifecycle"] = async (isEnough) => {
    await forget();
    const ends: string[] = [];
    const agent = await createInProcessAgent({
      clusterId: "rome",
      brokerUrl: `https://127.0.0.1:${broker.port}`,
      certificates,
      kubeconfigFile: limited.kubeconfigFile,
      flags: FLAGS,
    });
    try {
      // Without a right it may never have seen the whole cluster, and then it is stopped before it has started; or it does not start.
      void agent.start().catch((error: unknown) => void ends.push(String(error)));
      await runAgentLifecycle({ broker, rome, isEnough: () => [...agent.log, ...ends].some(isEnough) });
    } finally {
      await agent.stop();
    }
    return [...ends, ...agent.log, ...(await recordTwice(limited, rome))];
  };

  return {
    plane,
    rome,
    give: async (objects, right, isGiven) => {
      // The agent writes only into a Secret without keys. Then it gets back those that the broker knows.
      if (right.verb === "update" && right.resource === "secrets") {
        if (!isGiven) keys = ((await plane.request("GET", KEYS_PATH)).body as { data?: object }).data;
        await plane.request("PUT", KEYS_PATH, isGiven && keys ? { ...KEYS, data: keys } : KEYS);
      }
      await plane.seed(objects);
      await until("the API server goes by the new rules", async () => {
        const now = await may(right, right.role.metadata.namespace);
        return now === isGiven || undefined;
      });
    },
    may,
    runLifecycle,
    dispose: async () => {
      for (const { client } of [rome, limited]) client.close();
      await broker.dispose();
      await plane.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function giveBack(client: BrokerClient): Promise<void> {
  const { body } = await client.request("GET", PATH.reservations);
  for (const { id, status } of body as ReservationDTO[]) {
    if (!isFinal(status.phase)) await client.request("DELETE", PATH.reservation(id));
  }
}
