import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  LIQO_LABEL,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SLICE_CLASS,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { creatorUser, until } from "@resource-broker/testkit";
import { expect } from "vitest";
import {
  ask,
  logSeen,
  nodeOf,
  release,
  TIMEOUT_MS,
  untilReady,
  untilRequest,
} from "../../liqo/testing/directions.ts";
import { listingsOf, untilSame } from "../../liqo/testing/listings.ts";
import { type RealDirection, type RealLiqoWorld, realDirection } from "./real-liqo-world.ts";

const RESERVED = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** Slices that ask for more than is reserved, or for what nobody has reserved. */
export async function expectNothingForGreed(world: RealLiqoWorld): Promise<void> {
  const direction = realDirection(world, "rome", "paris");
  const before = await listingsOf(world);
  await ask(direction, "modest");
  const reservation = await untilReady(direction, "modest");
  await raised(direction, reservation);
  await nobodys(direction);
  await release(direction, "modest");
  await untilSame(world, before);
}

async function raised(direction: RealDirection, reservation: string): Promise<void> {
  const { world, requester, provider, at } = direction;
  const agent = world.agent(requester.name);
  // Otherwise it takes it back at once.
  await agent.kill("SIGKILL");
  const slice = { name: reservation, namespace: tenantNamespaceOf(at.provider.liqoId) };
  const body = { spec: { resources: { cpu: "12" } } };
  await requester.client.patch(RESOURCE_SLICES, { name: slice, patch: { kind: "merge", body } });
  const replica = await untilEvaluated(direction, reservation, "TooMuch");
  expect(replica.spec.resources?.["cpu"]).toBe("12");
  expect(replica.status?.resources).toEqual(RESERVED);
  const quota = await provider.client.get(QUOTAS, {
    name: creatorUser(reservation, at.requester.liqoId),
    namespace: tenantNamespaceOf(at.requester.liqoId),
  });
  expect(quota.spec.resources).toEqual(RESERVED);
  logSeen(`a slice raised to 12 CPU by hand is granted ${JSON.stringify(quota.spec.resources)}`);
  await agent.restart();
  await until(
    "the slice asks for what is reserved again",
    async () => {
      const { spec } = await requester.client.get(RESOURCE_SLICES, slice);
      return spec.resources?.["cpu"] === "4" ? true : undefined;
    },
    TIMEOUT_MS,
  );
  await untilEvaluated(direction, reservation, "Reserved");
  expect((await nodeOf(direction, reservation)).status?.allocatable).toEqual(RESERVED);
}

async function nobodys(direction: RealDirection): Promise<void> {
  const { requester, at } = direction;
  const { liqoId } = at.provider;
  const name = { name: "rsv-rome-aaaaaaaaaaaaaaaa", namespace: tenantNamespaceOf(liqoId) };
  await requester.client.create(RESOURCE_SLICES, {
    apiVersion: `${RESOURCE_SLICES.group}/${RESOURCE_SLICES.version}`,
    kind: RESOURCE_SLICES.kind,
    metadata: {
      ...name,
      labels: {
        [LIQO_LABEL.replication]: "true",
        [LIQO_LABEL.destination]: liqoId,
        [LIQO_LABEL.remoteCluster]: liqoId,
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    },
    spec: { class: SLICE_CLASS, providerClusterID: liqoId, resources: RESERVED },
  });
  const replica = await untilEvaluated(direction, name.name, "UnknownReservation");
  expect(grantOf(replica)).toMatchObject({ status: "Denied" });
  expect(await requester.client.find(VIRTUAL_NODES, name)).toBeUndefined();
  logSeen("a slice that nobody has reserved is denied, and there is no virtual node for it");
  await requester.client.delete(RESOURCE_SLICES, name);
}

function untilEvaluated(
  { provider, at }: RealDirection,
  name: string,
  reason: string,
): Promise<ResourceSlice> {
  const namespace = tenantNamespaceOf(at.requester.liqoId);
  return until(
    `the provider says ${reason} of ${name}`,
    async () => {
      const replica = await provider.client.get(RESOURCE_SLICES, { name, namespace });
      if (grantOf(replica)?.reason === reason) return replica;
      throw new Error(JSON.stringify(replica.status));
    },
    TIMEOUT_MS,
  );
}

function grantOf({ status }: ResourceSlice) {
  return status?.conditions?.find(({ type }) => type === "Resources");
}

/** The provider runs another minor version of Liqo: nothing is tried, and it is said. */
export async function expectVersionMismatch(world: RealLiqoWorld): Promise<void> {
  const direction = realDirection(world, "rome", "paris");
  const { plane, kubeconfigFile } = direction.at.provider;
  const deployment = "deployment/liqo-controller-manager";
  const setTag = async (tag: string): Promise<void> => {
    const args = ["-n", "liqo", "set", "image", deployment, `controller-manager=liqotech/none:${tag}`];
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
    await plane.kubectl(["-n", "liqo", "rollout", "status", deployment, "--timeout=120s"]);
  };
  // A peering user may not see which version the provider has.
  const used = join(world.liqo.kubeconfigs("rome"), "paris.kubeconfig");
  const peeringUser = await readFile(used);
  await copyFile(kubeconfigFile, used);
  await setTag("v1.9.0");
  const before = await listingsOf(world);
  const calls = (await world.liqoctlCalls("rome")).length;
  await ask(direction, "other-version");
  const isReported = (request: ResourceRequest): boolean => peeredOf(request)?.reason === "VersionMismatch";
  const request = await untilRequest(direction, "other-version", isReported);
  logSeen(`another version of Liqo: ${peeredOf(request)?.message}`);
  expect((await world.liqoctlCalls("rome")).slice(calls)).toEqual([]);
  await release(direction, "other-version");
  await untilSame(world, before);
  await setTag("v1.2.0");
  await writeFile(used, peeringUser);
}

function peeredOf({ status }: ResourceRequest) {
  return status?.conditions?.find(({ type }) => type === "Peered");
}
