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
      policy: { tenants: { default: { maxPriority: 5 } }, queue: { perTenant: 1 } },
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

  test("at a full queue says so, and waits when there is room", { timeout: TIMEOUT_MS }, async () => {
    const rome = world.cluster("rome");
    await askFor(rome, "fourth", { ...MOST, queue: true });
    await untilTotal(1);
    await askFor(rome, "fifth", { ...MOST, queue: true });
    const { status } = await rome.until(RESOURCE_REQUESTS, "fifth", (each) => each.status !== undefined);
    const message = expect.stringMatching(
      /^the broker's queue is full: .*\(queue\.perTenant\); asking again$/,
    );
    expect(status).toMatchObject({ phase: "Pending", message });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Reserved", reason: "QueueFull", message }),
    );
    await remove("fourth");
    // Its status names the reservation that it waits for; its place is asked for within a minute.
    await rome.until(RESOURCE_REQUESTS, "fifth", (each) => each.status?.reservationName !== undefined);
    expect(await queue()).toMatchObject({ total: 1 });
    await remove("fifth");
    await untilTotal(0);
  });

  test.each([
    { name: "for longer than the policy allows", spec: { queueTimeout: "1000h" }, says: "queue.maxWait" },
    { name: "above its tenant's priority", spec: { priority: 50 }, says: "above the maximum of rome, 5" },
  ])("$name is refused with the broker's message", { timeout: TIMEOUT_MS }, async ({ name, spec, says }) => {
    const rome = world.cluster("rome");
    const patient = name.replaceAll(/[^a-z]/g, "-");
    await askFor(rome, patient, { ...MOST, queue: true, ...spec });
    const { status } = await rome.until(
      RESOURCE_REQUESTS,
      patient,
      (each) => each.status?.phase === "Failed",
    );
    expect(status).toMatchObject({ reason: "Invalid", message: expect.stringContaining(says) });
  });
});
