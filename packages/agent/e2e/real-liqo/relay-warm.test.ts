import { IDENTITIES, tenantNamespaceOf, TENANTS } from "@resource-broker/agent/liqo";
import { until } from "@resource-broker/testkit";
import { beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { ask, logSeen, release, untilReady } from "./testing/directions.ts";
import {
  type Direction,
  directionOf,
  type RealLiqoWorld,
  startRealLiqoWorld,
  TWO_CLUSTERS,
} from "./testing/real-liqo-world.ts";

const TIMEOUT_MS = 1_800_000;
const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };
const WARM = ["--warm-peers=rome,paris", "--warm-for=45s"];

describe("a warm pair of clusters with the real Liqo", { timeout: TIMEOUT_MS }, () => {
  let world: RealLiqoWorld;
  let direction: Direction;

  beforeAll(async () => {
    const plans = TWO_CLUSTERS.map((plan) => ({ ...plan, flags: WARM }));
    world = await startRealLiqoWorld(plans, "relay");
    direction = directionOf(world, "rome", "paris");
    return world.dispose;
  }, TIMEOUT_MS);
  beforeEach(() => onTestFailed(world.printLastLines));

  const timed = async (name: string): Promise<number> => {
    const began = performance.now();
    await ask(direction, name, SMALL);
    await untilReady(direction, name);
    const tookMs = Math.round(performance.now() - began);
    logSeen(`the node of ${name} was ready ${tookMs} ms after the request`);
    return tookMs;
  };
  const peeringOf = async () => {
    const { requester, provider, at } = direction;
    const identity = {
      name: `controlplane-${at.provider.liqoId}`,
      namespace: tenantNamespaceOf(at.provider.liqoId),
    };
    const tenant = { name: at.requester.liqoId, namespace: tenantNamespaceOf(at.requester.liqoId) };
    return {
      identity: (await requester.client.find(IDENTITIES, identity))?.metadata.uid,
      tenant: (await provider.client.find(TENANTS, tenant))?.metadata.uid,
    };
  };

  test("stays peered between reservations: the next nodes need no new peering", async () => {
    const first = await timed("first");
    const before = await peeringOf();
    await release(direction, "first");
    const times: number[] = [];
    for (const name of ["second", "third", "fourth"]) {
      times.push(await timed(name));
      expect(await peeringOf()).toEqual(before);
      await release(direction, name);
    }
    // For docs/liqo.md; on a busy machine a time proves nothing.
    logSeen(`cold ${first} ms, warm ${times.join(", ")} ms`);
    expect(before.identity).toBeDefined();
    expect(before.tenant).toBeDefined();
    expect((await world.liqoctlCalls("rome")).filter((call) => call === "peer")).toEqual(["peer"]);
  });

  test("ends by itself, on both sides", async () => {
    await until(
      "both sides have ended the peering",
      async () => {
        const { identity, tenant } = await peeringOf();
        return identity === undefined && tenant === undefined ? true : undefined;
      },
      240_000,
    );
    expect(await world.liqoctlCalls("rome")).toEqual(["peer", "unpeer"]);
  });
});
