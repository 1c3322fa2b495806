import { EVENTS } from "@resource-broker/kube";
import { RESOURCE_REQUESTS, until } from "@resource-broker/testkit";
import { beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { ask, nodeOf, release, TIMEOUT_MS, untilReady, untilRequest } from "./testing/directions.ts";
import {
  type Direction,
  directionOf,
  type RealLiqoWorld,
  startRealLiqoWorld,
  TWO_CLUSTERS,
} from "./testing/real-liqo-world.ts";
import { deploy, undeploy, untilPods, untilRunning } from "./testing/workloads.ts";

/** Two of them do not fit at paris. */
const MOST = { requestedCPU: "10", requestedMemory: "16Gi", queue: true };
const OFFLOAD = { offload: { namespaces: ["shop", "night"] } };
const SHOP = { namespace: "shop", name: "web", replicas: 1, requests: { cpu: "1", memory: "1Gi" } };
const LATE = { ...SHOP, namespace: "night", name: "train" };
const POLICY = {
  staleness: "20s",
  tenants: { default: { maxPriority: 100 } },
  preemption: { victims: "spot", grace: "60s", minRun: "0s" },
} as const;

describe("a reservation under notice, through the real Liqo", { timeout: TIMEOUT_MS }, () => {
  let world: RealLiqoWorld;
  let direction: Direction;
  let id: string;

  beforeAll(async () => {
    const flags = ["--advertisement-requeue-interval=5s"];
    const plans = TWO_CLUSTERS.map((plan) => ({ ...plan, flags }));
    world = await startRealLiqoWorld(plans, "liqoctl", POLICY);
    direction = directionOf(world, "rome", "paris");
    return world.dispose;
  }, TIMEOUT_MS);
  beforeEach(() => onTestFailed(world.printLastLines));

  const untilNotice = (reason: string) =>
    untilRequest(direction, "spot", ({ status }) =>
      (status?.conditions ?? []).some((each) => each.type === "Preempting" && each.reason === reason),
    );
  const untilCordoned = (isWanted: boolean) =>
    until(
      `the node of ${id} is ${isWanted ? "" : "un"}cordoned`,
      async () => ((await nodeOf(direction, id)).spec?.unschedulable === true) === isWanted || undefined,
      TIMEOUT_MS,
    );
  const untilPodEvent = (wanted: string) =>
    until(`a pod of shop has the event ${wanted}`, async () => {
      let found: true | undefined;
      await direction.requester.client.list(EVENTS, { namespace: SHOP.namespace }, (event) => {
        if (event.reason === wanted && event.involvedObject.kind === "Pod") found = true;
      });
      return found;
    });

  test("gets no new pods, and those that run are told", async () => {
    await ask(direction, "spot", { ...MOST, ...OFFLOAD, tier: "spot" });
    id = await untilReady(direction, "spot");
    await deploy(direction, SHOP, { node: id, by: "selector" });
    await untilRunning(direction, SHOP, id);
    await ask(direction, "urgent", { ...MOST, priority: 50 });
    await untilNotice("Notice");
    await untilCordoned(true);
    await untilPodEvent("Preempting");
    await deploy(direction, LATE, { node: id, by: "selector" });
    const pods = await untilPods(direction.requester, LATE.namespace, ({ length }) => length === 1);
    await untilRunning(direction, SHOP, id);
    expect(pods.map(({ spec }) => spec?.nodeName)).toEqual([undefined]);
  });

  test("gets new pods when it is reprieved", async () => {
    await release(direction, "urgent");
    await untilNotice("Reprieved");
    await untilCordoned(false);
    await untilPodEvent("Reprieved");
    await untilRunning(direction, LATE, id);
    expect(await untilReady(direction, "spot")).toBe(id);
  });

  test("is torn down after its end, waits in its old place, and comes again", async () => {
    await ask(direction, "urgent", { ...MOST, priority: 50 });
    const { status } = await untilRequest(direction, "spot", (each) => each.status?.queue !== undefined);
    expect(status).toMatchObject({ phase: "Pending", resumes: id, attempts: 2 });
    expect(status?.message).toContain("so that it waits since");
    const urgent = await untilReady(direction, "urgent");
    await untilPods(direction.requester, SHOP.namespace, (pods) =>
      pods.every(({ spec }) => spec?.nodeName !== id),
    );
    expect(urgent).not.toBe(id);
    await release(direction, "urgent");
    expect(await untilReady(direction, "spot")).toBe(status?.reservationName);
    for (const workload of [SHOP, LATE]) await undeploy(direction, workload);
    await direction.requester.client.delete(RESOURCE_REQUESTS, { name: "spot", namespace: "default" });
  });
});
