import { tenantNamespaceOf, TENANTS } from "@resource-broker/agent/liqo";
import { CONFIG_MAPS, NAMESPACES, SECRETS } from "@resource-broker/kube";
import { kubeClientFor, until, type WorldCluster } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, release, TIMEOUT_MS, untilReady, untilRequest } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { type Direction, directionOf, type RealLiqoWorld } from "./real-liqo-world.ts";

const AGENT = { namespace: "rear-agent", name: "resource-broker-agent" };
const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };

/** While clusters are peered both ways, the only keys to another cluster are those that Liqo made for itself. */
export async function expectNoKubeconfigs(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const both = [directionOf(world, "rome", "paris"), directionOf(world, "paris", "rome")];
  await Promise.all(both.map((direction) => ask(direction, "alone", SMALL)));
  await Promise.all(both.map((direction) => untilReady(direction, "alone")));
  const found = (await Promise.all(world.clusters.map(kubeconfigsIn))).flat();
  expect(found.sort()).toEqual([
    "paris Secret kubeconfig-controlplane-liqo-rome",
    "paris Secret kubeconfig-resourceslice-<slice>",
    "rome Secret kubeconfig-controlplane-liqo-paris",
    "rome Secret kubeconfig-resourceslice-<slice>",
  ]);
  for (const direction of both) await expectNoRights(direction);
  await Promise.all(both.map((direction) => release(direction, "alone")));
  await untilSame(world, before);
}

/** Whatever holds one, under whatever name. */
export async function kubeconfigsIn({ name: cluster, client }: WorldCluster): Promise<string[]> {
  const found: string[] = [];
  const look = (kind: string, name: string, texts: Readonly<Record<string, string>>): void => {
    const isOne = ([key, text]: [string, string]): boolean =>
      /kubeconfig/i.test(key) || /\bkind"?: *"?Config\b/.test(text);
    if (Object.entries(texts).some(isOne))
      found.push(`${cluster} ${kind} ${name.replace(/-rsv-.*$/, "-<slice>")}`);
  };
  await client.list(SECRETS, {}, ({ metadata, data = {} }) => {
    const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]);
    look("Secret", metadata.name, Object.fromEntries(texts) as Record<string, string>);
  });
  await client.list(CONFIG_MAPS, {}, ({ metadata, data = {} }) => look("ConfigMap", metadata.name, data));
  return found;
}

interface Binding {
  readonly metadata: { readonly name: string };
  readonly roleRef: { readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** The requester's agent cannot log in at the provider, and nobody from there has a role but Liqo's own. */
async function expectNoRights({ requester, provider, at }: Direction): Promise<void> {
  const [own, there] = await Promise.all(
    [at.requester, at.provider].map(({ plane }) => plane.kubeconfigFor(AGENT)),
  );
  const tokenOf = (text = ""): string => /token"?: *"?([\w.-]+)/.exec(text)?.[1] ?? "";
  const stranger = kubeClientFor((there ?? "").replaceAll(tokenOf(there), tokenOf(own)));
  try {
    expect(tokenOf(own)).not.toBe(tokenOf(there));
    const listing = stranger.list(NAMESPACES, {}, () => undefined);
    await expect(listing).rejects.toThrow(/401|credentials/i);
  } finally {
    stranger.close();
  }
  const roles = new Set<string>();
  for (const plural of ["rolebindings", "clusterrolebindings"]) {
    const path = `/apis/rbac.authorization.k8s.io/v1/${plural}`;
    const { items } = (await provider.client.read(path)) as { readonly items: readonly Binding[] };
    const isTheirs = ({ subjects = [] }: Binding): boolean =>
      subjects.some(({ kind, name }) => kind !== "ServiceAccount" && name.includes(requester.name));
    for (const { roleRef } of items.filter(isTheirs)) roles.add(roleRef.name);
  }
  logSeen(
    `who comes from ${requester.name} has in ${provider.name} the roles ${[...roles].sort().join(", ")}`,
  );
  expect(roles.size).toBeGreaterThan(0);
  expect([...roles].filter((role) => !role.startsWith("liqo-"))).toEqual([]);
}

/** Liqo makes its keys anew, as after a new installation with the same ID. */
export async function expectUpAfterReinstall(world: RealLiqoWorld): Promise<void> {
  const direction = directionOf(world, "rome", "paris");
  const { requester, provider, at } = direction;
  await ask(direction, "before", SMALL);
  await untilReady(direction, "before");
  await requester.client.delete(SECRETS, { name: "authentication-keys", namespace: "liqo" });
  const controller = at.requester.kubelet
    .processes()
    .find(({ program }) => program === "liqo-controller-manager");
  if (controller?.pid !== undefined) process.kill(controller.pid, "SIGKILL");
  await until("Liqo has new keys", () =>
    requester.client.find(SECRETS, { name: "authentication-keys", namespace: "liqo" }),
  );
  await world.agent("rome").kill("SIGKILL");
  await world.agent("rome").restart();
  const who = at.requester.liqoId;
  const tenant = { name: who, namespace: tenantNamespaceOf(who) };
  const before = (await provider.client.get(TENANTS, tenant)).spec.publicKey;
  const { status } = await untilRequest(
    direction,
    "before",
    ({ status: now }) =>
      now?.conditions?.some(({ type, status: is }) => type === "Peered" && is === "False") === true,
  );
  const peered = status?.conditions?.find(({ type }) => type === "Peered");
  logSeen(`the keys of Liqo in rome are new: ${peered?.reason}: ${peered?.message}`);
  expect(peered?.reason).toBe("IdentityMissing");
  expect((await provider.client.get(TENANTS, tenant)).spec.publicKey).toBe(before);
  // As the message at the requester says.
  await provider.client.delete(TENANTS, tenant);
  await until(
    "paris has let the new key in",
    async () => {
      const found = await provider.client.find(TENANTS, tenant);
      return found?.spec.publicKey !== undefined && found.spec.publicKey !== before ? true : undefined;
    },
    TIMEOUT_MS,
  );
  await release(direction, "before");
  await ask(direction, "after", SMALL);
  await untilReady(direction, "after");
  logSeen("a person in paris has let them in, and a reservation came up with them");
  await release(direction, "after");
}
