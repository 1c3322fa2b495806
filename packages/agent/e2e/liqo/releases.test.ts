import {
  FOREIGN_CLUSTERS,
  RESOURCE_SLICES,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import type { KubeClient } from "@resource-broker/kube";
import type { FakeLiqo } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { isActive } from "../testing/resource-request.ts";
import { liqoObjectsIn } from "./testing/liqo-objects.ts";
import { liqoIdOf } from "./testing/liqo-world.ts";
import { oneReservation, peered } from "./testing/one-reservation.ts";

const PARIS = liqoIdOf("paris");
const SLICES = tenantNamespaceOf(PARIS);
/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT = { timeout: 300_000 };
const OFFLOAD = { offload: { namespaces: ["default"] } };

describe("every end is clean", TIMEOUT, () => {
  const stuck = ["slice", "virtual-node", "offloading"] as const;
  test.each(stuck)("though the finalizer of the %s is stuck for ever", async (which) => {
    const { world, rome, paris, ask, seen, remove, clean } = await oneReservation();
    world.liqo.behave({ stuck: [which] });
    await ask(OFFLOAD);
    const request = await seen(isActive);
    expect(peered(request)).toMatchObject({ status: "True" });
    await remove();
    await clean(rome);
    await clean(paris);
  });

  test("though the provider is gone for good", async () => {
    const { world, rome, agents, ask, seen, remove, clean } = await oneReservation();
    await ask(OFFLOAD);
    await seen(isActive);
    await agents.paris.stop();
    world.liqo.disconnect(PARIS);
    const request = await seen((each) => peered(each)?.status === "False");
    expect(peered(request)?.reason).toMatch(/^(NodeNotReady|ProviderUnreachable)$/);
    await anHourAgo(rome.client);
    await remove();
    await clean(rome);
    expect(verbs(world.liqo).at(-1)).toBe("force");
  });

  test("of a reservation that is released while liqoctl still peers", async () => {
    const { world, rome, paris, clock, ask, remove, clean } = await oneReservation();
    world.liqo.liqoctl.failNext("peer", { kind: "hangs" });
    await ask();
    await clock.until("liqoctl was started", async () => world.liqo.liqoctl.calls[0]);
    await remove();
    await clean(rome);
    await clean(paris);
    expect(verbs(world.liqo)[0]).toBe("peer");
  });

  test("of a reservation that is released before its slice was granted", async () => {
    const { world, rome, paris, clock, ask, remove, clean } = await oneReservation();
    world.liqo.behave({ authenticates: "Never" });
    await ask();
    await clock.until("the slice is there", async () =>
      (await liqoObjectsIn(rome)).find((trace) => trace.startsWith("ResourceSlice")),
    );
    await remove();
    await clean(rome);
    await clean(paris);
    expect(verbs(world.liqo)).toEqual(["peer", "unpeer"]);
  });

  test("of a reservation whose time is over before it was established", async () => {
    const { world, rome, paris, ask, seen, clean } = await oneReservation();
    world.liqo.behave({ node: "Absent" });
    await ask({ duration: "5s" });
    const request = await seen(({ status }) => status?.phase === "Released");
    expect(request.status).toMatchObject({ reason: "Expired" });
    await clean(rome);
    await clean(paris);
  });
});

test("a slice that a person made is not ours to delete, and keeps the peering", TIMEOUT, async () => {
  const { world, rome, clock, ask, seen, remove } = await oneReservation();
  await ask();
  const request = await seen(isActive);
  const id = request.status?.reservationName ?? "";
  const ours = await rome.client.get(RESOURCE_SLICES, { name: id, namespace: SLICES });
  const { "rear.fluidos.eu/reservation": _, ...labels } = ours.metadata.labels ?? {};
  await rome.client.create(RESOURCE_SLICES, {
    apiVersion: ours.apiVersion,
    kind: ours.kind,
    metadata: { name: "by-hand", namespace: SLICES, labels },
    spec: { class: "default", providerClusterID: PARIS, resources: { cpu: "1" } },
  });
  await remove();
  await clock.until("the loan is gone", async () =>
    (await liqoObjectsIn(rome)).some((trace) => trace.includes(id)) ? undefined : true,
  );
  expect(await rome.client.find(RESOURCE_SLICES, { name: "by-hand", namespace: SLICES })).toBeDefined();
  expect(await rome.client.find(VIRTUAL_NODES, { name: id, namespace: SLICES })).toBeUndefined();
  expect(verbs(world.liqo)).toEqual(["peer"]);
});

/** Liqo has not reached the provider since then. */
async function anHourAgo(client: KubeClient): Promise<void> {
  const foreign = await client.get(FOREIGN_CLUSTERS, { name: PARIS });
  const lastTransitionTime = new Date(performance.timeOrigin - 3_600_000).toISOString();
  const conditions = foreign.status?.conditions?.map((each) => ({ ...each, lastTransitionTime }));
  const patch = { kind: "merge", body: { status: { conditions } } } as const;
  await client.patch(FOREIGN_CLUSTERS, { name: { name: PARIS }, patch }, { subresource: "status" });
}

test("a slice that a provider refused as it started is brought there again", TIMEOUT, async () => {
  const { world, rome, clock, ask, seen } = await oneReservation();
  world.liqo.behave({ isRefused: true });
  await ask();
  const request = await seen((each) => peered(each)?.reason === "AwaitingAuthentication");
  const name = { name: request.status?.reservationName ?? "", namespace: SLICES };
  const versions: (string | undefined)[] = [];
  await clock.until("the slice is refused, and Liqo changes it no more", async () => {
    versions.push((await rome.client.get(RESOURCE_SLICES, name)).metadata.resourceVersion);
    const last = versions.slice(-5);
    return world.liqo.refusals() === 1 && last.length === 5 && new Set(last).size === 1 ? true : undefined;
  });
  world.liqo.resetBehaviour();
  expect(peered(await seen(isActive))).toMatchObject({ reason: "NodeReady" });
});

/** What liqoctl was started for, in order. */
function verbs({ liqoctl }: FakeLiqo): (string | undefined)[] {
  return liqoctl.calls.map(([verb]) => verb);
}
