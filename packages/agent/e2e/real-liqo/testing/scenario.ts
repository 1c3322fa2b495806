import { creatorUserOf, NAMESPACE_OFFLOADINGS, QUOTAS, tenantNamespaceOf } from "@resource-broker/agent/liqo";
import { PATH } from "@resource-broker/contract";
import { RESOURCE_REQUESTS, until } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, nodeOf, release, untilAdvertised, untilReady, untilRequest } from "./directions.ts";
import { type Listings, listingsOf, untilSame } from "./listings.ts";
import type { Direction } from "./real-liqo-world.ts";
import { deploy, undeploy, untilPods, untilRunning } from "./workloads.ts";

const SHOP = { namespace: "shop", name: "web", replicas: 2, requests: { cpu: "1", memory: "1Gi" } };
const NIGHT = {
  namespace: "night",
  name: "train",
  replicas: 1,
  requests: { cpu: "1", memory: "2Gi", "nvidia.com/gpu": "1" },
};
const REMOTE = "Remote" as const;

/** Two reservations of one pair, from the first request until nothing is left. */
export interface Scenario {
  readonly direction: Direction;
  /** Filled in by its steps. */
  readonly seen: { before: Listings; calls: number; first: string; second: string };
}

export function newScenario(direction: Direction): Scenario {
  return { direction, seen: { before: new Map(), calls: 0, first: "", second: "" } };
}

interface Step {
  readonly name: string;
  readonly expectIt: (scenario: Scenario) => Promise<void>;
}

export const STEPS: readonly Step[] = [
  {
    name: "it becomes a ready node of its size",
    expectIt: async ({ direction, seen }) => {
      const { world, requester, provider, at } = direction;
      seen.before = await listingsOf(world);
      seen.calls = (await world.liqoctlCalls(requester.name)).length;
      const began = performance.now();
      await ask(direction, "first", {
        requestedGPU: "1",
        requestedStorage: "30Gi",
        offload: { namespaces: [SHOP.namespace], podOffloadingStrategy: REMOTE },
      });
      seen.first = await untilReady(direction, "first");
      logSeen(`the node was ready ${Math.round(performance.now() - began)} ms after the request`);
      const { status } = await nodeOf(direction, seen.first);
      logSeen(`it has ${JSON.stringify(status?.allocatable)}`);
      expect(status?.allocatable).toEqual({
        cpu: "4",
        memory: "8Gi",
        pods: "110",
        "ephemeral-storage": "30Gi",
        "nvidia.com/gpu": "1",
      });
      const who = at.requester.liqoId;
      const quota = { name: creatorUserOf(seen.first, who), namespace: tenantNamespaceOf(who) };
      const { spec } = await provider.client.get(QUOTAS, quota);
      expect(spec.resources).toEqual(status?.allocatable);
    },
  },
  {
    name: "pods run on both sides, counted once",
    expectIt: async ({ direction, seen: { first } }) => {
      const { requester, provider } = direction;
      const offloading = { name: "offloading", namespace: SHOP.namespace };
      await until("the namespace is offloaded", async () => {
        const { status } = await requester.client.get(NAMESPACE_OFFLOADINGS, offloading);
        return status?.offloadingPhase === "Ready" || undefined;
      });
      const before = await untilAdvertised(direction, provider.name, ({ usage = [] }) => usage.length === 1);
      const own = await untilAdvertised(direction, requester.name, () => true);
      await deploy(direction, SHOP, { node: first });
      await untilRunning(direction, SHOP, first);
      const after = await untilAdvertised(direction, provider.name, ({ usage = [] }) =>
        usage.some(({ reservationID, used }) => reservationID === first && used.cpu === "2"),
      );
      logSeen(
        `${provider.name} says ${JSON.stringify(after.resources)}, in use ${JSON.stringify(after.usage)}`,
      );
      expect(after.resources).toEqual(before.resources);
      const { resources } = await untilAdvertised(direction, requester.name, () => true);
      expect(resources).toEqual(own.resources);
    },
  },
  {
    name: "a second has its node, and is renewed",
    expectIt: async ({ direction, seen }) => {
      await ask(direction, "second", {
        requestedCPU: "2",
        requestedMemory: "4Gi",
        requestedGPU: "1",
        duration: RENEWED_FOR,
        offload: { namespaces: [NIGHT.namespace], podOffloadingStrategy: REMOTE },
      });
      const isGranted = untilRequest(
        direction,
        "second",
        ({ status }) => status?.reservationName !== undefined,
      );
      const second = (await isGranted).status?.reservationName ?? "";
      seen.second = second;
      await renewing(direction, second, async () => {
        await untilReady(direction, "second");
        expect((await nodeOf(direction, second)).status?.allocatable).toEqual({
          cpu: "2",
          memory: "4Gi",
          pods: "110",
          "ephemeral-storage": "20Gi",
          "nvidia.com/gpu": "1",
        });
        await deploy(direction, NIGHT, { node: second, by: "selector" });
        await untilRunning(direction, NIGHT, second);
      });
      const calls = await direction.world.liqoctlCalls(direction.requester.name);
      expect(calls.slice(seen.calls)).toEqual(["peer"]);
    },
  },
  {
    name: "one is released, and the other expires",
    expectIt: async ({ direction, seen: { first, second } }) => {
      const { requester } = direction;
      const { metadata } = await nodeOf(direction, second);
      await renewing(direction, second, async () => {
        await release(direction, "first");
        await untilPods(requester, SHOP.namespace, (pods) =>
          pods.every(({ spec }) => spec?.nodeName !== first),
        );
        expect((await nodeOf(direction, second)).metadata.uid).toBe(metadata.uid);
      });
      const { status } = await untilRequest(direction, "second", (each) => each.status?.phase === "Released");
      expect(status).toMatchObject({ reason: "Expired" });
      await untilPods(requester, NIGHT.namespace, (pods) =>
        pods.every(({ spec }) => spec?.nodeName !== second),
      );
    },
  },
  {
    name: "nothing is left in either cluster",
    expectIt: async ({ direction, seen: { before, calls } }) => {
      const { world, requester } = direction;
      await undeploy(direction, SHOP);
      await undeploy(direction, NIGHT);
      await requester.client.delete(RESOURCE_REQUESTS, { name: "second", namespace: "default" });
      await untilSame(world, before);
      const done = (await world.liqoctlCalls(requester.name)).slice(calls);
      logSeen(`liqoctl was started for ${done.join(", ")}`);
    },
  },
];

const RENEWED_FOR = "20s";
const RENEW_EVERY_MS = 2000;

/** Keeps a reservation alive while something is done with it. */
async function renewing(
  { world, requester }: Direction,
  id: string,
  act: () => Promise<void>,
): Promise<void> {
  const { request, close } = await world.callerAs(requester.name);
  const renew = async (): Promise<void> => {
    const { status, body } = await request("POST", PATH.renew(id), { body: { duration: RENEWED_FOR } });
    if (status !== 200) throw new Error(`it cannot be renewed: ${JSON.stringify(body)}`);
  };
  await renew();
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS);
  try {
    await act();
  } finally {
    clearInterval(timer);
    close();
  }
}
