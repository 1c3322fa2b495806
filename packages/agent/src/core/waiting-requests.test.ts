import { Fault, formatTime } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { gate } from "../testing/call-fault.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import { REQUESTS, type TestFleet, testFleet } from "../testing/test-fleet.ts";
import {
  conditionOf,
  connectionLost,
  expectNothing,
  expectReserved,
  fleetWithQueuedRequest,
  HOUR_MS,
  MINUTE_MS,
  onFirstCall,
  startedFleet,
} from "../testing/test-fleet-setups.ts";

const QUEUED = { queue: true } as const;

const pending = ({ broker }: TestFleet) => broker.pending();
const statusOf = ({ rome }: TestFleet, name = "second") => rome.request(name)?.status;
const queuedCondition = (world: TestFleet, name = "second") =>
  statusOf(world, name)?.conditions?.find(({ type }) => type === "Queued");
const callsOf = ({ broker }: TestFleet, method: string) =>
  broker.calls.filter((call) => call.clusterId === "rome" && call.method === method);
const edit = ({ rome }: TestFleet, spec: Partial<ResourceRequest["spec"]>) =>
  rome.edit(REQUESTS, { name: "second", namespace: "default" }, (request) => ({
    ...request,
    spec: { ...request.spec, ...spec },
  }));

/** The second request waits, and its status says where. */
async function fleetWithWaitingRequest() {
  const world = await fleetWithQueuedRequest();
  await world.time.advance(5000);
  const [entry] = pending(world);
  expect(statusOf(world)).toMatchObject({ phase: "Pending", queue: { place: "1/1" } });
  const { uid = "" } = world.rome.request("second")?.metadata ?? {};
  return { ...world, id: entry?.id ?? "", uid };
}

async function restart({ rome, begin }: TestFleet): Promise<void> {
  rome.kill();
  await begin(rome);
}

/** As `expectReserved`, for the request that waited, after the first was deleted. */
function expectGranted(world: TestFleet & { readonly id: string }): void {
  expect(expectReserved(world)).toBe(world.id);
  expect(statusOf(world)).toMatchObject({ phase: "Active", reservationName: world.id });
  expect(pending(world)).toEqual([]);
}

describe("a request that waits", () => {
  test("says where and why, and is asked for once", async () => {
    const world = await fleetWithWaitingRequest();
    expect(pending(world)).toMatchObject([{ namespace: "default", key: expect.stringMatching(/-1$/) }]);
    const message = "Waits for 4 CPU / 8Gi Memory at position 1 of 1: no cluster that suits it has room";
    expect(statusOf(world)).toMatchObject({
      phase: "Pending",
      reservationName: world.id,
      attempts: 1,
      message,
      tenant: "rome",
      queue: { position: 1, of: 1, reason: "Capacity", place: "1/1" },
    });
    expect(queuedCondition(world)).toMatchObject({ status: "True", reason: "Capacity", message });
    expect(conditionOf(world, "second")).toMatchObject({ status: "False", reason: "Queued" });
    const asked = callsOf(world, "reserve").length;
    await world.time.advance(HOUR_MS);
    expect(callsOf(world, "reserve")).toHaveLength(asked);
    expect(statusOf(world)?.nextAttemptTime).toBeUndefined();
    expect(world.rome.reservationInstructions()).toHaveLength(1);
    expect(callsOf(world, "adopt")).toEqual([]);
    expect(world.rome.events.filter(({ reason }) => reason === "Queued")).toHaveLength(1);
  });

  test("is granted by push when something is released, delivered and activated", async () => {
    const world = await fleetWithWaitingRequest();
    const lists = callsOf(world, "listWaiting").length;
    world.rome.deleteRequest("first");
    await world.time.advance(1000);
    expectGranted(world);
    expect(callsOf(world, "listWaiting")).toHaveLength(lists);
    expect(statusOf(world)?.queue).toBeUndefined();
    expect(queuedCondition(world)).toMatchObject({ status: "False", reason: "NotWaiting" });
    expect(world.rome.logLines.filter((line) => line.includes("waiting in the broker's queue"))).toHaveLength(
      1,
    );
    await world.time.advance(HOUR_MS);
    expectGranted(world);
  });

  test("is granted though no event arrives", async () => {
    const world = await fleetWithWaitingRequest();
    // Else paris would still hold the first when it is to hold the second.
    world.broker.setEventTransform((clusterId, event) => (clusterId === "rome" ? [] : [event]));
    world.rome.deleteRequest("first");
    await world.time.advance(2 * MINUTE_MS);
    expectGranted(world);
  });

  test("is granted though the answer to it was lost", async () => {
    const world = await fleetWithQueuedRequest();
    world.broker.setCallFaults(onFirstCall("reserve", connectionLost(true)));
    await world.time.advance(5000);
    const [entry, ...others] = pending(world);
    expect(others).toEqual([]);
    world.rome.deleteRequest("first");
    await world.time.advance(1000);
    expectGranted({ ...world, id: entry?.id ?? "" });
  });

  test("asks for all places at once, not more than once a minute, and only while there are any", async () => {
    const world = await fleetWithWaitingRequest();
    const { rome, broker, time } = world;
    const from = callsOf(world, "listWaiting").length;
    for (const name of ["third", "fourth", "fifth"]) {
      rome.createRequest(name, QUEUED);
      await time.advance(2000);
    }
    await time.advance(4 * MINUTE_MS);
    expect(pending(world)).toHaveLength(4);
    expect(statusOf(world, "fifth")?.queue).toMatchObject({ position: 4, of: 4 });
    const lists = callsOf(world, "listWaiting").length - from;
    expect(lists).toBeGreaterThanOrEqual(3);
    expect(lists).toBeLessThanOrEqual(5);
    for (const name of ["first", "second", "third", "fourth", "fifth"]) rome.deleteRequest(name);
    await time.advance(5000);
    const idle = callsOf(world, "listWaiting").length;
    await time.advance(HOUR_MS);
    expect(callsOf(world, "listWaiting")).toHaveLength(idle);
    expect(broker.live()).toEqual([]);
  });

  test("fails after its time, and says why", async () => {
    const world = await startedFleet({ cpu: "6" });
    const { rome, time } = world;
    rome.createRequest("first");
    await time.advance(1000);
    rome.createRequest("second", { ...QUEUED, queueTimeout: "10m" });
    await time.advance(9 * MINUTE_MS);
    expect(statusOf(world)?.phase).toBe("Pending");
    await time.advance(2 * MINUTE_MS);
    expect(statusOf(world)).toMatchObject({
      phase: "Failed",
      reason: "WaitTimeout",
      message: expect.stringMatching(/^Failed \(WaitTimeout: .*4 CPU/),
    });
    expect(statusOf(world)?.queue).toBeUndefined();
    expect(queuedCondition(world)).toMatchObject({ status: "False", reason: "WaitTimeout" });
    rome.deleteRequest("first");
    await time.advance(5 * MINUTE_MS);
    expectNothing(world);
    expect(statusOf(world)?.phase).toBe("Failed");
  });

  test("without a time of its own waits as long as the policy allows", async () => {
    const world = await fleetWithWaitingRequest();
    const [entry] = pending(world);
    expect((entry?.until ?? 0) - (entry?.createdAt ?? 0)).toBe(24 * HOUR_MS);
  });

  test("for longer than the policy allows is invalid, with the broker's message", async () => {
    const world = await startedFleet();
    world.rome.createRequest("second", { ...QUEUED, queueTimeout: "48h" });
    await world.time.advance(1000);
    expect(statusOf(world)).toMatchObject({
      phase: "Failed",
      reason: "Invalid",
      message: expect.stringContaining("queue.maxWait"),
    });
    expect(callsOf(world, "reserve")).toHaveLength(1);
  });

  test.each([true, false])(
    "or shall be served at once is invalid above its tenant's priority: queue %s",
    async (queue) => {
      const world = await startedFleet();
      world.broker.setPolicy({ tenants: { default: { weight: 1, quota: {}, members: [], maxPriority: 5 } } });
      world.rome.createRequest("second", { queue, priority: 50 });
      await world.time.advance(MINUTE_MS);
      expect(statusOf(world)).toMatchObject({
        phase: "Failed",
        reason: "Invalid",
        message: "priority 50 is above the maximum of rome, 5",
      });
      expect(callsOf(world, "reserve")).toHaveLength(1);
      expect(world.rome.events.map(({ reason }) => reason)).toEqual(["Refused"]);
    },
  );

  test("and is released by an admin ends, also if the event is lost", async () => {
    for (const isLost of [false, true]) {
      const world = await fleetWithWaitingRequest();
      if (isLost) world.broker.setEventTransform(() => []);
      world.broker.run({ kind: "release", ...asAdmin, id: world.id });
      await world.time.advance(isLost ? 2 * MINUTE_MS : 1000);
      expect(statusOf(world)).toMatchObject({ phase: "Released", reason: "ReleasedByAdmin" });
      await world.time.advance(MINUTE_MS);
      expect(callsOf(world, "reserve")).toHaveLength(2);
    }
  });

  test("at a full queue is asked for again, with the broker's message", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.setPolicy({ queue: { ...broker.policy().queue, max: 1 } });
    rome.createRequest("third", QUEUED);
    await time.advance(MINUTE_MS);
    const message = "the broker's queue is full: 1 requests wait already; the policy allows 1 (queue.max)";
    expect(statusOf(world, "third")).toMatchObject({ phase: "Pending", message: `${message}; asking again` });
    expect(conditionOf(world, "third")).toMatchObject({
      status: "False",
      reason: "QueueFull",
      message: `${message}; asking again`,
    });
    const ofThird = rome.events.filter(({ regarding }) => regarding.metadata.name === "third");
    expect(ofThird).toMatchObject([
      { type: "Warning", reason: "QueueFull", message: `${message}; asking again` },
    ]);
    rome.deleteRequest("second");
    await time.advance(MINUTE_MS);
    expect(statusOf(world, "third")?.queue?.place).toBe("1/1");
    expect(statusOf(world, "third")?.attempts).toBe(1);
  });

  test("for a quota says so", async () => {
    const world = await startedFleet();
    const { broker, rome, time } = world;
    broker.setPolicy({ quotas: { rome: { reservations: 1 } } });
    rome.createRequest("first");
    await time.advance(1000);
    rome.createRequest("second", QUEUED);
    await time.advance(5000);
    expect(queuedCondition(world)).toMatchObject({ status: "True", reason: "Quota" });
  });
});

describe("the status of a waiting request", () => {
  const writes = ({ rome }: TestFleet, name: string) =>
    rome.calls.filter((call) => call.verb === "patch" && call.name === name).length;

  /** Eight wait; the last of them is "8". */
  async function fleetWithQueue() {
    const world = await startedFleet({ cpu: "6" });
    world.rome.createRequest("first");
    await world.time.advance(1000);
    for (let index = 1; index <= 8; index++) {
      world.rome.createRequest(String(index), QUEUED);
      await world.time.advance(10);
    }
    await world.time.advance(2 * MINUTE_MS);
    expect(statusOf(world, "8")?.queue?.place).toBe("8/8");
    return world;
  }

  test("is not written for every step, but when its position is half of what it was", async () => {
    const world = await fleetWithQueue();
    const before = writes(world, "8");
    for (const gone of ["1", "2", "3"]) {
      world.rome.deleteRequest(gone);
      await world.time.advance(2 * MINUTE_MS);
    }
    expect(statusOf(world, "8")?.queue?.place).toBe("8/8");
    expect(writes(world, "8")).toBe(before);
    world.rome.deleteRequest("4");
    await world.time.advance(2 * MINUTE_MS);
    expect(statusOf(world, "8")?.queue?.place).toBe("4/4");
    expect(statusOf(world, "8")?.message).toContain("position 4 of 4");
    expect(writes(world, "8")).toBe(before + 1);
  });

  test("is written when the reason changes", async () => {
    const world = await fleetWithQueue();
    world.broker.setPolicy({ quotas: { rome: { reservations: 1 } } });
    await world.time.advance(2 * MINUTE_MS);
    expect(queuedCondition(world, "8")?.reason).toBe("Quota");
    expect(statusOf(world, "8")?.queue?.place).toBe("8/8");
  });

  test("names a time before which it cannot start", async () => {
    const world = await startedFleet({ cpu: "6" });
    const { rome, time } = world;
    rome.createRequest("first", { duration: "30m" });
    await time.advance(1000);
    rome.createRequest("second", QUEUED);
    await time.advance(3 * MINUTE_MS);
    expect(statusOf(world)?.queue?.expectedStart).toBe(formatTime(Date.UTC(2026, 6, 1, 10, 35, 2)));
    expect(statusOf(world)?.message).toContain("not before 2026-07-01T10:35:02");
  });

  test("names the cluster that keeps capacity for it", async () => {
    const world = testFleet();
    const { rome, paris, berlin, time } = world;
    await world.begin(rome, paris, berlin);
    for (const name of ["one", "two"]) {
      rome.createRequest(name, { requestedCPU: "10" });
      await time.advance(1000);
    }
    rome.createRequest("second", { ...QUEUED, requestedCPU: "7" });
    await time.advance(15 * MINUTE_MS);
    expect(statusOf(world)?.queue?.nominatedTo).toMatch(/paris|berlin/);
    expect(statusOf(world)?.message).toContain("is kept for it");
  });
});

describe("a waiting request that is deleted", () => {
  test("leaves the queue, and nothing is granted", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    rome.deleteRequest("second");
    await time.advance(1000);
    expect(pending(world)).toEqual([]);
    rome.deleteRequest("first");
    await time.advance(2 * MINUTE_MS);
    expectNothing(world);
    expect(broker.ledger().reservations.size).toBe(1);
  });

  test.each([
    ["the agent goes on", false],
    ["the agent restarts", true],
  ])(
    "while the broker is down leaves it later, though something was freed meanwhile: %s",
    async (_, isRestarted) => {
      const world = await fleetWithWaitingRequest();
      const { broker, rome, time } = world;
      broker.down();
      rome.deleteRequest("second");
      await time.advance(MINUTE_MS);
      if (isRestarted) await restart(world);
      const [first] = broker.live();
      broker.up();
      broker.run({ kind: "release", ...asAdmin, id: first?.id ?? "" });
      await time.advance(3 * MINUTE_MS);
      expect(pending(world)).toEqual([]);
      expectNothing(world);
    },
  );

  test("while the agent is away is found in the queue by the next one", async () => {
    const world = await fleetWithWaitingRequest();
    world.rome.kill();
    world.rome.deleteRequest("second");
    await world.begin(world.rome);
    await world.time.advance(2 * MINUTE_MS);
    expect(pending(world)).toEqual([]);
    expect(world.broker.live()).toHaveLength(1);
  });

  test.each([
    ["before it was queued", false],
    ["before the answer came", true],
  ])("while it was asked for holds nothing, though it was deleted %s", async (_, isDone) => {
    const world = await fleetWithQueuedRequest();
    const { broker, rome, time } = world;
    const late = gate();
    broker.setCallFaults(onFirstCall("reserve", { isDone, until: late.passed }));
    await time.advance(100);
    rome.deleteRequest("second");
    await time.advance(100);
    late.open();
    await time.advance(5000);
    expect(pending(world)).toEqual([]);
    rome.deleteRequest("first");
    await time.advance(MINUTE_MS);
    expectNothing(world);
  });

  test("while another ledger is asked for it holds nothing, though the call arrives late and its agent is gone", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    const late = gate();
    broker.setCallFaults(onFirstCall("reserve", { until: late.passed }));
    broker.forget();
    await time.advance(MINUTE_MS);
    rome.deleteRequest("second");
    await time.advance(1000);
    rome.kill();
    late.open();
    await time.advance(1000);
    expect(pending(world)).toEqual([]);
    expect(broker.live().map(({ key }) => key)).not.toContain(`${world.uid}-1`);
  });

  test("at the moment of its grant holds nothing", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.setEventTransform(() => []);
    const [first] = broker.live();
    // Granted, and nobody has told the agent when the request is deleted.
    broker.run({ kind: "release", ...asAdmin, id: first?.id ?? "" });
    expect(broker.live()).toMatchObject([{ id: world.id }]);
    rome.deleteRequest("second");
    await time.advance(1000);
    expect(broker.live()).toEqual([]);
    broker.setEventTransform(undefined);
    await time.advance(3 * MINUTE_MS);
    expectNothing(world);
  });
});

describe("a restarted agent", () => {
  test("finds what waits, and is told of the grant", async () => {
    const world = await fleetWithWaitingRequest();
    await restart(world);
    await world.time.advance(MINUTE_MS);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", reservationName: world.id, attempts: 1 });
    world.rome.deleteRequest("first");
    await world.time.advance(1000);
    expectGranted(world);
    expect(callsOf(world, "reserve")).toHaveLength(2);
  });

  test.each([
    ["granted", "Active"],
    ["released by an admin", "Released"],
  ])("finds what was %s meanwhile", async (what, phase) => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    rome.kill();
    const id = what === "granted" ? (broker.live()[0]?.id ?? "") : world.id;
    broker.run({ kind: "release", ...asAdmin, id });
    await world.begin(rome);
    await time.advance(MINUTE_MS);
    expect(statusOf(world)).toMatchObject({ phase, reservationName: world.id });
  });

  test("that was killed before it wrote the answer down asks with the same key", async () => {
    const world = await fleetWithQueuedRequest();
    const { broker, time } = world;
    broker.setCallFaults(onFirstCall("reserve", { isDone: true, until: gate().passed }));
    await time.advance(1000);
    expect(statusOf(world)).toBeUndefined();
    await restart(world);
    await time.advance(5000);
    expect(pending(world)).toHaveLength(1);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", attempts: 1, queue: { place: "1/1" } });
  });
});

describe("a broker that restarts", () => {
  test("with its ledger still has the queue", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    const before = statusOf(world);
    broker.down();
    await time.advance(5 * MINUTE_MS);
    expect(statusOf(world)).toEqual(before);
    broker.up();
    await time.advance(MINUTE_MS);
    expect(callsOf(world, "reserve")).toHaveLength(2);
    rome.deleteRequest("first");
    await time.advance(1000);
    expectGranted(world);
  });

  test("with another ledger is asked again, with the same key", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.forget();
    await time.advance(2 * MINUTE_MS);
    expect(pending(world)).toMatchObject([{ id: world.id, key: expect.stringMatching(/-1$/) }]);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", attempts: 1, queue: { place: "1/1" } });
    rome.deleteRequest("first");
    await time.advance(MINUTE_MS);
    expectGranted(world);
  });

  test("with another ledger, whose first answer is lost, queues it once", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, time } = world;
    broker.setCallFaults(onFirstCall("reserve", connectionLost(true)));
    broker.forget();
    await time.advance(2 * MINUTE_MS);
    expect(pending(world)).toMatchObject([{ id: world.id }]);
  });
});

describe("a broker without a queue", () => {
  test("that learns to queue lets the request wait at its next attempt", async () => {
    const world = await fleetWithQueuedRequest({ canQueue: false });
    const { broker, time } = world;
    await time.advance(1000);
    expect(statusOf(world)?.nextAttemptTime).toBeDefined();
    expect(queuedCondition(world)).toBeUndefined();
    broker.setQueue(true);
    await time.advance(35_000);
    expect(pending(world)).toMatchObject([{ key: expect.stringMatching(/-2$/) }]);
    expect(statusOf(world)).toMatchObject({
      phase: "Pending",
      attempts: 2,
      reservationName: expect.any(String),
    });
    expect(statusOf(world)?.nextAttemptTime).toBeUndefined();
  });

  test("that took the place of one with a queue is asked again every 30 seconds", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.forget();
    broker.setQueue(false);
    await time.advance(5 * MINUTE_MS);
    expect(pending(world)).toEqual([]);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", nextAttemptTime: expect.any(String) });
    expect(statusOf(world)?.queue).toBeUndefined();
    expect(queuedCondition(world)).toMatchObject({ status: "False" });
    rome.deleteRequest("first");
    await time.advance(MINUTE_MS);
    expect(statusOf(world)?.phase).toBe("Active");
  });

  test("over which the same broker is reached holds nothing twice: what waits leaves the queue", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.setQueue(false);
    await time.advance(3 * MINUTE_MS);
    expect(pending(world)).toEqual([]);
    rome.deleteRequest("first");
    await time.advance(MINUTE_MS);
    expect(broker.live()).toHaveLength(1);
    expect(statusOf(world)?.phase).toBe("Active");
  });

  test("that answers in place of one with a queue refuses at once what shall not wait", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.setCallFaults(({ method, clusterId }) => {
      if (method !== "reserve" || clusterId !== "rome") return undefined;
      broker.setCallFaults(undefined);
      return { fault: new Fault("unsupported", "too old") };
    });
    rome.createRequest("third");
    await time.advance(1000);
    expect(statusOf(world, "third")).toMatchObject({ phase: "Failed", reason: "NoCapacity" });
  });
});

describe("a waiting request whose spec is edited", () => {
  test("leaves the queue and is asked for as it is now", async () => {
    const world = await fleetWithWaitingRequest();
    edit(world, { requestedCPU: "2" });
    await world.time.advance(1000);
    expect(statusOf(world)?.phase).toBe("Active");
    expect(world.broker.live()).toMatchObject([
      {},
      { granted: { cpuMillis: 2000 }, key: expect.stringMatching(/-2$/) },
    ]);
    expect(pending(world)).toEqual([]);
  });

  test("and shall not wait any more is refused", async () => {
    const world = await fleetWithWaitingRequest();
    edit(world, { queue: false });
    await world.time.advance(1000);
    expect(statusOf(world)).toMatchObject({ phase: "Failed", reason: "NoCapacity" });
    expect(pending(world)).toEqual([]);
  });

  test("keeps its place when nothing that is asked for changes", async () => {
    const world = await fleetWithWaitingRequest();
    edit(world, { offload: { namespaces: ["shop"] } });
    await world.time.advance(5000);
    expect(pending(world)).toMatchObject([{ id: world.id }]);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", attempts: 1, observedGeneration: 2 });
  });

  test("and finds the queue full says so, and waits again once there is room", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, rome, time } = world;
    broker.setPolicy({ queue: { ...broker.policy().queue, max: 0 } });
    edit(world, { requestedCPU: "5" });
    await time.advance(MINUTE_MS);
    expect(conditionOf(world, "second")).toMatchObject({ status: "False", reason: "QueueFull" });
    expect(statusOf(world)?.message).toContain("the policy allows 0 (queue.max)");
    expect(queuedCondition(world)).toMatchObject({ status: "False", reason: "NotWaiting" });
    expect(rome.events.map(({ reason }) => reason)).toContain("QueueFull");
    broker.setPolicy({ queue: { ...broker.policy().queue, max: 1 } });
    await time.advance(MINUTE_MS);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", attempts: 2, queue: { place: "1/1" } });
  });

  test("while the broker is down waits as before, and leaves the queue later", async () => {
    const world = await fleetWithWaitingRequest();
    const { broker, time } = world;
    broker.down();
    edit(world, { requestedCPU: "5" });
    await time.advance(2 * MINUTE_MS);
    expect(statusOf(world)).toMatchObject({ phase: "Pending", reservationName: world.id });
    broker.up();
    await time.advance(MINUTE_MS);
    expect(pending(world)).toMatchObject([{ request: { resources: { cpuMillis: 5000 } } }]);
  });
});
