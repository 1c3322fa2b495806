import { PATH, type QueuePageDTO } from "@resource-broker/contract";
import { RESOURCE_REQUESTS, startWorld, until, type World } from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { askFor, untilActive } from "./testing/resource-request.ts";

const TIMEOUT_MS = 300_000;
const MOST = { requestedCPU: "5", requestedMemory: "4Gi" };

const WAYS = [
  { transport: "http", world: {} },
  { transport: "kubernetes", world: { hub: "hub" } },
] as const;

describe.each(WAYS)("a request that waits at a real broker ($transport)", ({ transport, world: more }) => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({
      clusters: [
        { name: "rome", nodes: [{ cpu: "1", memory: "4Gi" }], transport },
        { name: "paris", nodes: [{ cpu: "8", memory: "32Gi" }], transport },
      ],
      ...more,
    });
    return world.dispose;
  }, TIMEOUT_MS);

  const queue = async (): Promise<QueuePageDTO> => {
    const { status, body } = await world.broker.admin().request("GET", PATH.queue);
    expect(status).toBe(200);
    return body as QueuePageDTO;
  };
  const untilTotal = (total: number) =>
    until(`${total} requests wait`, async () => {
      const page = await queue();
      return page.total === total ? page : undefined;
    });
  const remove = (name: string) =>
    world.cluster("rome").client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
  /** Resolves when its status names its place in the queue. */
  const untilQueued = async (name: string) => {
    const found = await world
      .cluster("rome")
      .until(RESOURCE_REQUESTS, name, ({ status }) => status?.queue !== undefined);
    return found.status ?? {};
  };

  test("is granted when another is released", { timeout: TIMEOUT_MS }, async () => {
    const rome = world.cluster("rome");
    await askFor(rome, "first", MOST);
    await untilActive(rome, "first");
    await askFor(rome, "second", { ...MOST, queue: true });
    const waits = await untilQueued("second");
    expect(waits).toMatchObject({ phase: "Pending", tenant: "rome", attempts: 1, queue: { place: "1/1" } });
    expect(waits.nextAttemptTime).toBeUndefined();
    expect(waits.conditions).toContainEqual(expect.objectContaining({ type: "Queued", status: "True" }));
    expect(await queue()).toMatchObject({
      total: 1,
      items: [{ id: waits.reservationName, namespace: "default" }],
    });
    await remove("first");
    const granted = await untilActive(rome, "second");
    expect(granted).toMatchObject({ reservationName: waits.reservationName, targetClusterID: "paris" });
    expect(granted.request.status?.queue).toBeUndefined();
    expect(await queue()).toMatchObject({ total: 0 });
  });

  test("leaves the queue when it is deleted", { timeout: TIMEOUT_MS }, async () => {
    await askFor(world.cluster("rome"), "third", { ...MOST, queue: true, queueTimeout: "1h" });
    await untilTotal(1);
    await remove("third");
    expect(await untilTotal(0)).toMatchObject({ items: [] });
  });

  test("for longer than the policy allows is refused with the broker's message", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const rome = world.cluster("rome");
    await askFor(rome, "patient", { ...MOST, queue: true, queueTimeout: "1000h" });
    const { status } = await rome.until(
      RESOURCE_REQUESTS,
      "patient",
      (each) => each.status?.phase === "Failed",
    );
    expect(status).toMatchObject({ reason: "Invalid", message: expect.stringContaining("queue.maxWait") });
  });
});
