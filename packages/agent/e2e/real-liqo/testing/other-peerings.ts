import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  RESOURCE_SLICES,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { CONFIG_MAPS, NAMESPACES, SECRETS } from "@resource-broker/kube";
import { listingOf, until, WHOLE_NODES, type WholeNode } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, nodeOf, release, TIMEOUT_MS, untilReady } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { deploy, undeploy, untilPods, untilRunning, type Workload } from "./workloads.ts";
import { type Direction, type RealLiqoWorld, directionOf } from "./real-liqo-world.ts";

const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };
const WEB = { namespace: "shop", name: "web", replicas: 1, requests: { cpu: "1", memory: "1Gi" } };
/** Not the same namespace: Liqo's virtual kubelet takes the other direction's mapping for its own (docs/liqo.md). */
const BATCH = { ...WEB, namespace: "night", name: "batch" };

/** Two clusters that lend to each other: the end of one reservation is none of the other's business. */
export async function expectBothDirections(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const out = directionOf(world, "rome", "paris");
  const back = directionOf(world, "paris", "rome");
  await Promise.all([askWith(out, "out", WEB), askWith(back, "back", BATCH)]);
  const [outNode, backNode] = await Promise.all([untilReady(out, "out"), untilReady(back, "back")]);
  await Promise.all([deploy(out, WEB, { node: outNode }), deploy(back, BATCH, { node: backNode })]);
  await untilRunning(out, WEB, outNode);
  await untilRunning(back, BATCH, backNode);
  logSeen("rome borrows from paris and paris from rome: a pod runs on each side of both");
  const alive = await aliveOf(back, backNode);
  await undeploy(out, WEB);
  await release(out, "out");
  await untilUnpeered(out);
  expect(await aliveOf(back, backNode)).toEqual(alive);
  await untilRunning(back, BATCH, backNode);
  logSeen("rome has released and unpeered: the node and the pod of paris are the same, and live");
  await undeploy(back, BATCH);
  await release(back, "back");
  await untilUnpeered(back);
  await untilSame(world, before);
}

/** A reservation that is none of what happens beside it. */
export interface Standing {
  /** Its node and its pod are the same ones, and live. */
  readonly expectSame: () => Promise<void>;
  readonly end: () => Promise<void>;
}

export async function standingReservation(direction: Direction): Promise<Standing> {
  await askWith(direction, "standing", BATCH);
  const node = await untilReady(direction, "standing");
  await deploy(direction, BATCH, { node });
  await untilRunning(direction, BATCH, node);
  await untilReflected(direction);
  const alive = await aliveOf(direction, node);
  return {
    expectSame: async () => {
      await untilNodeReady(direction, node);
      expect(await aliveOf(direction, node)).toEqual(alive);
      await untilRunning(direction, BATCH, node);
    },
    end: async () => {
      await undeploy(direction, BATCH);
      await release(direction, "standing");
      await untilUnpeered(direction);
    },
  };
}

/** Liqo copies the authority of the requester's API server some time after the first pod runs: a listing before that is too early. */
async function untilReflected({ provider, at }: Direction): Promise<void> {
  const namespace = `${BATCH.namespace}-${at.requester.liqoId}`;
  await until(
    `Liqo has copied everything to ${namespace}`,
    async () => {
      let isThere = false;
      await provider.client.list(CONFIG_MAPS, { namespace }, ({ metadata }) => {
        isThere ||= metadata.name.startsWith("kube-root-ca.crt.liqo-");
      });
      return isThere || undefined;
    },
    TIMEOUT_MS,
  );
}

function askWith(direction: Direction, name: string, { namespace }: Workload) {
  const offload = { namespaces: [namespace], podOffloadingStrategy: "Remote" as const };
  return ask(direction, name, { ...SMALL, offload });
}

/** What must not be another one afterwards. */
async function aliveOf(direction: Direction, node: string) {
  const { metadata, status } = await nodeOf(direction, node);
  const [pod] = await untilPods(direction.requester, BATCH.namespace, (pods) => pods.length === 1);
  return { node: metadata.uid, isReady: isReady({ status } as WholeNode), pod: pod?.metadata.uid };
}

function isReady({ status }: WholeNode): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}

/** Resolves when the requester's agent has ended its peering. */
async function untilUnpeered({ requester, provider }: Direction): Promise<void> {
  const mark = `ConfigMap liqo/liqo-peering-liqo-${provider.name}`;
  await until(
    `${requester.name} has ended its peering with ${provider.name}`,
    async () => {
      const found = (await listingOf(requester.client)).find((line) => line.startsWith(mark));
      if (found === undefined) return true;
      throw new Error(found);
    },
    TIMEOUT_MS,
  );
}

/** A person peers and unpeers with full rights, and at once a reservation needs the same peering. */
export async function expectUpAfterPersonsPeering(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  await byHand(direction, "peer", "--create-resource-slice=false", "--create-virtual-node=false");
  await untilKnown(direction);
  await byHand(direction, "unpeer");
  await ask(direction, "after-a-person", SMALL);
  const node = await untilReady(direction, "after-a-person");
  logSeen(`a person peered and unpeered; then ${node} came up`);
  await release(direction, "after-a-person");
  await untilSame(world, before);
}

/** A peering and a slice that a person made stay when the reservations end. */
export async function expectPersonsSliceStays(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  const { requester, at } = direction;
  await byHand(direction, "peer", "--cpu=1", "--memory=1Gi");
  const theirs = await untilNodeReady(direction, at.provider.liqoId);
  const calls = (await world.liqoctlCalls(requester.name)).length;
  await ask(direction, "beside-a-person", SMALL);
  const node = await untilReady(direction, "beside-a-person");
  logSeen(`beside the person's ${theirs.metadata.name} there is ${node}`);
  await release(direction, "beside-a-person");
  await untilGone(() => requester.client.find(WHOLE_NODES, { name: node }));
  await untilUnpeered(direction);
  const slice = { name: at.provider.liqoId, namespace: tenantNamespaceOf(at.provider.liqoId) };
  expect((await requester.client.get(RESOURCE_SLICES, slice)).metadata.deletionTimestamp).toBeUndefined();
  const still = await untilNodeReady(direction, at.provider.liqoId);
  expect(still.metadata.uid).toBe(theirs.metadata.uid);
  expect((await world.liqoctlCalls(requester.name)).slice(calls)).toEqual([]);
  logSeen("ours has ended; the person's slice and node are as they were, and liqoctl was not started");
  await unpeerInOrder(direction);
  await untilSame(world, before);
}

/**
 * What is not under test: liqoctl alone takes Liqo's rights at the provider first, and Liqo now and then waits for them for ever
 * (docs/liqo.md).
 */
async function unpeerInOrder(direction: Direction): Promise<void> {
  const { client } = direction.requester;
  const { liqoId } = direction.at.provider;
  const namespace = tenantNamespaceOf(liqoId);
  await client.delete(RESOURCE_SLICES, { name: liqoId, namespace });
  await untilGone(() => client.find(WHOLE_NODES, { name: liqoId }));
  await client.delete(IDENTITIES, { name: `controlplane-${liqoId}`, namespace });
  await untilGone(() => client.find(SECRETS, { name: `kubeconfig-controlplane-${liqoId}`, namespace }));
  await byHand(direction, "unpeer");
}

async function untilGone(
  find: () => Promise<{ readonly metadata: { readonly name: string } } | undefined>,
): Promise<void> {
  await until(
    "it is gone",
    async () => {
      const found = await find();
      if (found === undefined) return true;
      throw new Error(`${found.metadata.name} is there`);
    },
    TIMEOUT_MS,
  );
}

/** liqoctl as a person runs it: admin here, and with the peering user of docs/liqo.md there. */
async function byHand(direction: Direction, verb: string, ...flags: string[]): Promise<void> {
  const { world, requester, provider, at } = direction;
  const invited = join(world.liqo.kubeconfigs(requester.name), `${provider.name}.kubeconfig`);
  // In relay mode there is no peering user: this person is an admin there, too.
  const remote = existsSync(invited) ? invited : at.provider.kubeconfigFile;
  const common = [`--remote-kubeconfig=${remote}`, "--skip-confirm"];
  const own = verb === "peer" ? ["--networking-disabled"] : [];
  // liqoctl does not wait for the namespace of an earlier peering by relay, which the provider's agent has just deleted.
  const name = tenantNamespaceOf(at.requester.liqoId);
  await untilGone(async () => {
    const found = await provider.client.find(NAMESPACES, { name });
    return found?.metadata.deletionTimestamp === undefined ? undefined : found;
  });
  await at.requester.liqoctl([verb, ...common, ...own, ...flags]);
}

/** liqoctl ends before Liqo has made the object that unpeer asks for. */
async function untilKnown({ requester, at }: Direction): Promise<void> {
  await until("Liqo knows the other cluster", () =>
    requester.client.find(FOREIGN_CLUSTERS, { name: at.provider.liqoId }),
  );
}

function untilNodeReady({ requester }: Direction, name: string): Promise<WholeNode> {
  return until(
    `node ${name} is ready`,
    async () => {
      const node = await requester.client.get(WHOLE_NODES, { name });
      return isReady(node) ? node : undefined;
    },
    TIMEOUT_MS,
  );
}
