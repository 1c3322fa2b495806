import {
  creatorUserOf,
  LIQO_LABEL,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SLICE_CLASS,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { until } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, nodeOf, release, TIMEOUT_MS, untilReady } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { type Direction, type RealLiqoWorld, directionOf } from "./real-liqo-world.ts";

const RESERVED = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** Slices that ask for more than is reserved, or for what nobody has reserved. */
export async function expectNothingForGreed(world: RealLiqoWorld): Promise<void> {
  const direction = directionOf(world, "rome", "paris");
  const before = await listingsOf(world);
  await ask(direction, "modest");
  const reservation = await untilReady(direction, "modest");
  await raised(direction, reservation);
  await nobodys(direction);
  await release(direction, "modest");
  await untilSame(world, before);
}

async function raised(direction: Direction, reservation: string): Promise<void> {
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
    name: creatorUserOf(reservation, at.requester.liqoId),
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

async function nobodys(direction: Direction): Promise<void> {
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

function untilEvaluated({ provider, at }: Direction, name: string, reason: string): Promise<ResourceSlice> {
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
