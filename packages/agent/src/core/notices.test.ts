import { Fault } from "@resource-broker/base";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { fakeDataPlane } from "../testing/fake-data-plane.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import type { EventTransform } from "../testing/fake-stream.ts";
import { type TestFleet, testFleet } from "../testing/test-fleet.ts";
import { connectionLost, expectReserved, MINUTE_MS, onFirstCall } from "../testing/test-fleet-setups.ts";

const GRACE_MS = 5 * MINUTE_MS;
const PREEMPTION = { ...DEFAULT_POLICY.preemption, victims: "spot", graceMs: GRACE_MS } as const;

const statusOf = ({ rome }: TestFleet, name: string) => rome.request(name)?.status;
const conditionOf = (world: TestFleet, name: string, type = "Preempting") =>
  statusOf(world, name)?.conditions?.find((each) => each.type === type);
const instructionCondition = ({ rome }: TestFleet, id: string) =>
  rome
    .find(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" })
    ?.status?.conditions?.find(({ type }) => type === "Preempting");
const eventsOf = ({ rome }: TestFleet, ...reasons: readonly string[]) =>
  rome.events.filter(({ reason }) => reasons.includes(reason));
const noticeEvents = (world: TestFleet) =>
  eventsOf(world, "Preempting", "Reprieved").map(({ type, reason, regarding }) =>
    [type, reason, regarding.metadata.name].join(" "),
  );

/** rome's spot reservation holds what paris lends; rome's request that is not spot waits for it. */
async function fleetUnderNotice({ queue = true } = {}) {
  const plane = fakeDataPlane();
  const world = testFleet({ cpu: "6", dataPlane: plane });
  world.broker.setPolicy({ preemption: PREEMPTION });
  await world.begin();
  world.rome.createRequest("spot", { tier: "spot", queue });
  await world.time.advance(1000);
  const id = expectReserved(world);
  await world.time.advance(11 * MINUTE_MS);
  world.rome.createRequest("urgent", { queue: true, priority: 50 });
  await world.time.advance(MINUTE_MS);
  const { preemption, createdAt } = world.broker.ledger().reservations.get(id) ?? {};
  expect(preemption).toMatchObject({ priority: 50 });
  const at = new Date(preemption?.at ?? 0).toISOString();
  const since = new Date(createdAt ?? 0).toISOString();
  const { uid = "" } = world.rome.request("spot")?.metadata ?? {};
  return { ...world, plane, id, uid, at, since };
}

/** Its events are lost. */
const notTo =
  (lost: string): EventTransform =>
  (clusterId, event) =>
    clusterId === lost ? [] : [event];

async function restart({ rome, begin }: TestFleet): Promise<void> {
  rome.kill();
  await begin(rome);
}

const waitsOf = ({ broker }: TestFleet, uid: string) =>
  broker.pending().filter(({ key }) => key.startsWith(uid));

/** The preempted request waits once, with its second key, in the place of its first reservation. */
function expectWaitsAgain(world: Awaited<ReturnType<typeof fleetUnderNotice>>): void {
  const { broker, uid, since, id } = world;
  expect(waitsOf(world, uid)).toMatchObject([{ key: `${uid}-2`, since: Date.parse(since) }]);
  expect(broker.ledger().reservations.get(id)).toMatchObject({ reason: "Preempted" });
  expect(broker.live()).toMatchObject([{ request: { tier: "on-demand" } }]);
  expect(statusOf(world, "spot")).toMatchObject({
    phase: "Pending",
    attempts: 2,
    resumes: id,
    reservationName: waitsOf(world, uid)[0]?.id,
    message: expect.stringContaining(`${id} was preempted, so that it waits since ${since}`),
  });
}

describe("a reservation under notice", () => {
  test("gets no new pods, and its request and instruction say when it ends and for which priority", async () => {
    const world = await fleetUnderNotice();
    const { id, at, plane, broker } = world;
    expect([...plane.cordoned]).toEqual([id]);
    const message = `ends at ${at}: a waiting request of priority 50 needs its capacity`;
    const expected = { status: "True", reason: "Notice", message };
    expect(conditionOf(world, "spot")).toMatchObject(expected);
    expect(instructionCondition(world, id)).toMatchObject(expected);
    expect(conditionOf(world, "spot", "Ready")).toMatchObject({ status: "True" });
    expect(statusOf(world, "spot")).toMatchObject({ phase: "Active", reservationName: id });
    expect(conditionOf(world, "urgent")).toBeUndefined();
    await world.time.advance(3 * MINUTE_MS);
    expect(plane.there.has(id)).toBe(true);
    expect(world.paris.providerInstructions()).toEqual([id]);
    expect(broker.live()).toMatchObject([{ id, phase: "Active" }]);
  });

  test("is announced by one event, also when the agent restarts", async () => {
    const world = await fleetUnderNotice();
    expect(noticeEvents(world)).toEqual(["Warning Preempting spot"]);
    expect(eventsOf(world, "Preempting")[0]?.message).toContain(
      `reservation ${world.id} ends at ${world.at}`,
    );
    await restart(world);
    await world.time.advance(2 * MINUTE_MS);
    expect(noticeEvents(world)).toEqual(["Warning Preempting spot"]);
    expect([...world.plane.cordoned]).toEqual([world.id]);
  });

  test.each([
    ["while the agent looks on", false],
    ["while the agent is away", true],
  ])("gets new pods again when the notice is withdrawn: %s", async (_, isAway) => {
    const world = await fleetUnderNotice();
    const { rome, broker, plane, id, time } = world;
    if (isAway) rome.kill();
    for (const { id: waiting } of broker.pending()) broker.run({ kind: "release", ...asAdmin, id: waiting });
    if (isAway) await world.begin(rome);
    await time.advance(MINUTE_MS);
    expect([...plane.cordoned]).toEqual([]);
    for (const condition of [conditionOf(world, "spot"), instructionCondition(world, id)])
      expect(condition).toMatchObject({ status: "False", reason: "Reprieved" });
    expect(noticeEvents(world)).toEqual(["Warning Preempting spot", "Normal Reprieved spot"]);
    await time.advance(10 * MINUTE_MS);
    expect(noticeEvents(world)).toHaveLength(2);
    expect(expectReserved(world)).toBe(id);
    expect(eventsOf(world, "Delivered")).toHaveLength(1);
  });

  test("is known though no event arrives", async () => {
    const world = await fleetUnderNotice();
    world.broker.setEventTransform(notTo("rome"));
    for (const { id } of world.broker.pending()) world.broker.run({ kind: "release", ...asAdmin, id });
    await world.time.advance(3 * MINUTE_MS);
    expect([...world.plane.cordoned]).toEqual([]);
    expect(conditionOf(world, "spot")).toMatchObject({ status: "False", reason: "Reprieved" });
  });

  test("stays as it is while the broker is away, also beyond its end", async () => {
    const world = await fleetUnderNotice();
    world.broker.down();
    await world.time.advance(2 * GRACE_MS);
    expect(world.rome.reservationInstructions()).toEqual([world.id]);
    expect([...world.plane.there]).toEqual([world.id]);
    expect(conditionOf(world, "spot")).toMatchObject({ status: "True" });
  });
});

describe("a preempted request that may wait", () => {
  test("waits again in its old place, and is granted with its second key", async () => {
    const world = await fleetUnderNotice();
    const { rome, time, plane, id, uid } = world;
    await time.advance(GRACE_MS + MINUTE_MS);
    expectWaitsAgain(world);
    expect(conditionOf(world, "spot")).toMatchObject({ status: "False", reason: "Ended" });
    expect(conditionOf(world, "spot", "Queued")).toMatchObject({ status: "True" });
    expect(eventsOf(world, "Preempted")).toMatchObject([{ type: "Warning" }]);
    expect([...plane.there]).not.toContain(id);
    expect(statusOf(world, "urgent")?.phase).toBe("Active");
    rome.deleteRequest("urgent");
    await time.advance(MINUTE_MS);
    expect(world.broker.live()).toMatchObject([{ key: `${uid}-2` }]);
    expectReserved(world);
    expect(statusOf(world, "spot")).toMatchObject({ phase: "Active", attempts: 2 });
    expect(statusOf(world, "spot")?.resumes).toBeUndefined();
  });

  const crashes: readonly (readonly [string, (world: TestFleet) => void])[] = [
    ["before the end is heard of", ({ broker }) => broker.setEventTransform(notTo("rome"))],
    [
      "before the broker is asked",
      ({ broker }) => broker.setCallFaults(onFirstCall("reserve", connectionLost(false))),
    ],
    [
      "after it was asked",
      ({ broker }) => broker.setCallFaults(onFirstCall("reserve", connectionLost(true))),
    ],
    [
      "while the status is written",
      ({ rome }) => {
        let left = 3;
        rome.setCallFaults((call) =>
          call.verb === "patch" && call.name === "spot" && left-- > 0
            ? connectionLost(left % 2 === 0)
            : undefined,
        );
      },
    ],
  ];
  test.each(crashes)("waits once though the agent is killed %s", async (_, disturb) => {
    const world = await fleetUnderNotice();
    const { rome, broker, time } = world;
    disturb(world);
    for (let kills = 0; kills < 4; kills++) {
      await time.advance(GRACE_MS / 3 + 7);
      await restart(world);
    }
    broker.setEventTransform(undefined);
    rome.setCallFaults(undefined);
    await time.advance(2 * MINUTE_MS);
    expectWaitsAgain(world);
  });

  test("waits at the end if the broker does not give it its place", async () => {
    const world = await fleetUnderNotice();
    const refusal = { fault: new Fault("invalid", "resumes: not here"), isDone: false };
    world.broker.setCallFaults(onFirstCall("reserve", refusal));
    await world.time.advance(GRACE_MS + MINUTE_MS);
    const [entry, ...others] = waitsOf(world, world.uid);
    expect(others).toEqual([]);
    expect(entry?.since).toBe(entry?.createdAt);
    expect(statusOf(world, "spot")?.message).toMatch(/was preempted$/);
  });

  test("that is deleted meanwhile leaves nothing behind", async () => {
    const world = await fleetUnderNotice();
    world.broker.setCallFaults(onFirstCall("reserve", connectionLost(true)));
    await world.time.advance(GRACE_MS - MINUTE_MS / 2);
    world.rome.deleteRequest("spot");
    await world.time.advance(MINUTE_MS);
    expect(waitsOf(world, world.uid)).toEqual([]);
  });
});

test("a preempted request that may not wait fails, and is asked for no more", async () => {
  const world = await fleetUnderNotice({ queue: false });
  await world.time.advance(GRACE_MS + MINUTE_MS);
  expect(statusOf(world, "spot")).toMatchObject({ phase: "Failed", reason: "Preempted", attempts: 1 });
  expect(conditionOf(world, "spot")).toMatchObject({ status: "False", reason: "Ended" });
  await world.time.advance(10 * MINUTE_MS);
  expect(waitsOf(world, world.uid)).toEqual([]);
});

test("the provider's side of a notice says so, and keeps everything", async () => {
  const world = await fleetUnderNotice();
  const [instruction] = world.paris.objects.all("providerinstructions");
  expect(instruction?.status).toMatchObject({ enforced: true });
  expect(JSON.stringify(instruction?.status)).toContain('"Preempting","status":"True"');
  expect(world.broker.live()).toMatchObject([{ acknowledged: true }]);
});
