import { join } from "node:path";
import { type KubeClient, LEASES, type Resource } from "@resource-broker/kube";
import { kubeClientFor, type RealControlPlane, startControlPlane, until } from "@resource-broker/testkit";
import {
  ADVERTISEMENTS,
  advertisementOf,
  HELD,
  knownAdvertisement,
  LEASE,
  NAMESPACE,
  offerBy,
  RESERVATIONS,
  SHOWN,
} from "./access-objects.ts";

const DEPLOY = join(import.meta.dirname, "../../../../../deploy");
export const POLICIES = join(DEPLOY, "admission/agent-writes.yaml");
const RBAC = "rbac.authorization.k8s.io";
const ROLE = "resource-broker-agents";

/** A real API server with the shipped role and rules, and the agents of some clusters with tokens of their own. */
export interface AccessEnvironment {
  readonly plane: RealControlPlane;
  readonly admin: KubeClient;
  /** The agent of this cluster, with the rights that are shipped. */
  readonly agentOf: (clusterId: string) => KubeClient;
  /** An account that no role stops: what is refused there is refused by the policies. */
  readonly privileged: (account: string) => Promise<KubeClient>;
  /** The same few objects as at first. */
  readonly reset: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export async function accessEnvironment(clusterIds: readonly string[]): Promise<AccessEnvironment> {
  const plane = await startControlPlane({ name: "access" });
  const done = async (...args: readonly string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0 || stderr !== "") throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  };
  await done("apply", "--server-side", "-f", join(DEPLOY, "crds"));
  await done("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  await done("create", "namespace", NAMESPACE);
  await done("apply", "-n", NAMESPACE, "-f", join(DEPLOY, "rbac/broker-agents.yaml"));
  await done("apply", "-f", POLICIES);
  const accounts = clusterIds.map((id) => ({ namespace: NAMESPACE, name: `agent-${id}` }));
  await plane.seed([...accounts.map(serviceAccount), bindingOf("agents", ROLE, accounts), EVERYTHING]);
  const admin = kubeClientFor(plane.kubeconfig);
  const agents = new Map<string, KubeClient>();
  for (const [index, account] of accounts.entries()) {
    agents.set(clusterIds[index] ?? "", kubeClientFor(await plane.kubeconfigFor(account)));
  }
  const agentOf = (clusterId: string): KubeClient => {
    const agent = agents.get(clusterId);
    if (agent === undefined) throw new Error(`there is no agent of ${clusterId} here`);
    return agent;
  };
  const privileged: AccessEnvironment["privileged"] = async (name) => {
    const account = { namespace: NAMESPACE, name };
    await plane.seed([
      serviceAccount(account),
      bindingOf(`mighty-${name}`, EVERYTHING.metadata.name, [account]),
    ]);
    const client = kubeClientFor(await plane.kubeconfigFor(account));
    others.push(client);
    await until(`the role of ${name} is in force`, async () => {
      await client.list(LEASES, { namespace: NAMESPACE }, () => undefined);
      return true;
    });
    return client;
  };
  const others: KubeClient[] = [admin];
  await inForce(agentOf("rome"));
  return {
    plane,
    admin,
    agentOf,
    privileged,
    reset: () => reset(admin),
    dispose: async () => {
      for (const client of [...others, ...agents.values()]) client.close();
      await plane.dispose();
    },
  };
}

interface Account {
  readonly namespace: string;
  readonly name: string;
}

const EVERYTHING = {
  apiVersion: `${RBAC}/v1`,
  kind: "Role",
  metadata: { name: "everything", namespace: NAMESPACE },
  rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }],
};

const serviceAccount = (metadata: Account) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata });

const bindingOf = (name: string, role: string, accounts: readonly Account[]) => ({
  apiVersion: `${RBAC}/v1`,
  kind: "RoleBinding",
  metadata: { name, namespace: NAMESPACE },
  roleRef: { apiGroup: RBAC, kind: "Role", name: role },
  subjects: accounts.map((account) => ({ kind: "ServiceAccount", ...account })),
});

/** The API server reads roles and policies some time after they are written: each of them must have its say. */
async function inForce(rome: KubeClient): Promise<void> {
  const probes: readonly (readonly [string, Resource<unknown>, object])[] = [
    ["agents-advertise", ADVERTISEMENTS, advertisementOf("oslo")],
    ["agents-reserve", RESERVATIONS, { ...HELD, metadata: { name: "rsv-oslo", namespace: NAMESPACE } }],
  ];
  for (const [policy, resource, object] of probes) {
    await until(`${policy} is in force`, async () => {
      const answer = await rome.create(resource, object, { dryRun: true }).then(String, String);
      return answer.includes(policy) || undefined;
    });
  }
}

async function reset(admin: KubeClient): Promise<void> {
  await clear(admin, RESERVATIONS);
  await clear(admin, ADVERTISEMENTS);
  await clear(admin, LEASES);
  await admin.create(LEASES, LEASE);
  const shown = { ...knownAdvertisement("paris").metadata, labels: { "broker.fluidos.eu/view": "true" } };
  for (const object of [knownAdvertisement("rome"), { ...knownAdvertisement("paris"), metadata: shown }]) {
    await make(admin, ADVERTISEMENTS, object);
  }
  for (const object of [HELD, SHOWN, offerBy("paris")]) await make(admin, RESERVATIONS, object);
}

interface Object {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly finalizers?: readonly string[];
  };
}

async function clear<T extends Object>(admin: KubeClient, resource: Resource<T>): Promise<void> {
  const found: T[] = [];
  await admin.list(resource, { namespace: NAMESPACE }, (object) => found.push(object));
  for (const { metadata } of found) {
    const name = { name: metadata.name, namespace: NAMESPACE };
    await admin.delete(resource, name);
    if (metadata.finalizers === undefined) continue;
    await admin.patch(resource, { name, patch: { kind: "merge", body: { metadata: { finalizers: null } } } });
  }
}

/** The status goes its own way. */
async function make<T extends Object & { readonly status?: unknown }>(
  admin: KubeClient,
  resource: Resource<T>,
  object: T,
): Promise<void> {
  const name = { name: object.metadata.name, namespace: NAMESPACE };
  await admin.create(resource, object);
  if (object.status === undefined) return;
  const patch = { kind: "merge", body: { status: object.status } } as const;
  await admin.patch(resource, { name, patch }, { subresource: "status" });
}
