import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import { REQUESTS, type TestFleet } from "../testing/test-fleet.ts";
import {
  conditionOf,
  connectionLost,
  expectReserved,
  fleetWithQueuedRequest,
  fleetWithReservation,
  HOUR_MS,
  MINUTE_MS,
  startedFleet,
} from "../testing/test-fleet-setups.ts";

describe("a provider that refuses afterwards", () => {
  test("makes the requester tear down and ask again, with the next attempt", async () => {
    const { broker, rome, paris, berlin, time, begin } = await startedFleet();
    paris.occupy("crowd", "14");
    rome.createRequest("more");
    await time.advance(200);
    expect(paris.providerInstructions()).toEqual([]);
    expect(paris.events.map(({ reason }) => reason)).toContain("HoldRefused");
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Failed",
      reason: "NoCapacity",
      attempts: 2,
    });
    expect(rome.events.map(({ reason }) => reason)).toContain("ProviderRefused");
    expect(rome.reservationInstructions()).toEqual([]);
    rome.deleteRequest("more");
    await begin(berlin);
    rome.createRequest("again");
    await time.advance(1000);
    expect(broker.live()).toMatchObject([{ provider: "berlin" }]);
    expect(rome.request("again")?.status).toMatchObject({ phase: "Active", targetClusterID: "berlin" });
  });
});

describe("a queued request, at a broker without a queue", () => {
  test("shows its attempts, and is served as soon as capacity is freed", async () => {
    const world = await fleetWithQueuedRequest({ canQueue: false });
    const { rome, time } = world;
    await time.advance(65_000);
    expect(rome.request("second")?.status).toMatchObject({
      phase: "Pending",
      attempts: 3,
      message: expect.stringMatching(/[^.]; asking again as soon as capacity is freed \(attempt 3\)$/),
      explanation: expect.stringContaining("paris: "),
    });
    expect(conditionOf(world, "second")?.reason).toBe("Queued");
    rome.deleteRequest("first");
    await time.advance(1000);
    expect(rome.request("second")?.status).toMatchObject({ phase: "Active", attempts: 4 });
  });
});

const FIVE_MINUTES = { duration: "5m" };

describe("a reservation whose time is over", () => {
  test("while the broker is silent ends a minute later, by the broker's time", async () => {
    const world = await fleetWithReservation({}, FIVE_MINUTES);
    const { broker, rome, paris, time } = world;
    broker.down();
    await time.advance(5 * MINUTE_MS + 50_000);
    expect([rome.reservationInstructions().length, paris.providerInstructions().length]).toEqual([1, 1]);
    await time.advance(15_000);
    expect([rome.reservationInstructions(), paris.providerInstructions()]).toEqual([[], []]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "Expired" });
    const ended = (role: string) =>
      `info reservation ended ${JSON.stringify({ reservation: world.id, role, reason: "Expired" })}`;
    expect(rome.logLines).toContain(ended("requester"));
    expect(paris.logLines).toContain(ended("provider"));
  });

  test("but was renewed meanwhile comes back with the broker", async () => {
    const world = await fleetWithReservation({}, FIVE_MINUTES);
    const { broker, rome, time, id } = world;
    broker.down();
    broker.run({ kind: "renew", ...asAdmin, id, durationMs: HOUR_MS });
    await time.advance(7 * MINUTE_MS);
    expect(rome.reservationInstructions()).toEqual([]);
    broker.up();
    await time.advance(MINUTE_MS);
    expectReserved(world);
    expect(rome.request("more")?.status?.phase).toBe("Active");
  });
});

describe("a spec that is edited", () => {
  const edit = ({ rome }: TestFleet, requestedCPU: string) =>
    rome.edit(REQUESTS, { name: "more", namespace: "default" }, (request) => ({
      ...request,
      spec: { ...request.spec, requestedCPU },
    }));

  test("after the reservation is refused by the API server, or, with older CRDs, ignored and said so", async () => {
    const strict = await fleetWithReservation();
    expect(() => edit(strict, "8")).toThrow("already reserved");
    const world = await fleetWithReservation({ kinds: { areOlder: true } });
    edit(world, "8");
    await world.time.advance(MINUTE_MS);
    expectReserved(world);
    expect(conditionOf(world, "more")).toMatchObject({
      status: "True",
      reason: "SpecChangeIgnored",
      message: expect.stringContaining("create a new one"),
    });
    edit(world, "4000m");
    await world.time.advance(MINUTE_MS);
    expect(conditionOf(world, "more")?.reason).toBe("Granted");
  });

  test("after an answer was lost: what the first wish got is given back, and the second is asked for", async () => {
    const world = await startedFleet();
    const { broker, rome, time } = world;
    broker.setEventTransform(() => []);
    let isOver = false;
    broker.setCallFaults((call) => {
      if (isOver || call.method !== "reserve") return undefined;
      isOver = true;
      edit(world, "8");
      return connectionLost(true);
    });
    rome.createRequest("more");
    await time.advance(1);
    broker.setEventTransform(undefined);
    await time.advance(3 * MINUTE_MS);
    expectReserved(world);
    expect(broker.live()).toMatchObject([{ granted: { cpuMillis: 8000 } }]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", attempts: 2 });
  });
});

const FEW = { pods: 50, ephemeralStorage: "5Gi" };
const MANY = { pods: 500, ephemeralStorage: "1Ti" };

async function withReservation({ rome, time }: TestFleet, name: string): Promise<string> {
  rome.createRequest(name, { requestedCPU: "1", requestedMemory: "1Gi" });
  await time.advance(10_000);
  return rome.request(name)?.status?.reservationName ?? "";
}

/** What the borrower's and the lender's instruction say. */
function sliceDefaultsOf({ rome, paris }: TestFleet, id: string) {
  const instruction = { name: `${id}-provider`, namespace: "default" };
  return [
    rome.find(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" })?.spec.sliceDefaults,
    paris.find(PROVIDER_INSTRUCTIONS, instruction)?.spec.sliceDefaults,
  ];
}

describe("the policy's slice defaults", () => {
  test("reach both instructions, and a new policy counts for the next reservation only", async () => {
    const world = await startedFleet();
    const { broker, rome, paris, time } = world;
    broker.setSliceDefaults(FEW);
    const first = await withReservation(world, "first");
    expect(sliceDefaultsOf(world, first)).toEqual([FEW, FEW]);
    broker.setSliceDefaults(MANY);
    const next = await withReservation(world, "next");
    expect(sliceDefaultsOf(world, next)).toEqual([MANY, MANY]);
    // Also for agents that are asked anew, and for those that know only their instructions.
    rome.kill();
    paris.kill();
    await world.begin();
    broker.setSliceDefaults(undefined);
    await time.advance(5 * MINUTE_MS);
    expect(sliceDefaultsOf(world, first)).toEqual([FEW, FEW]);
    expect(sliceDefaultsOf(world, next)).toEqual([MANY, MANY]);
    expect(broker.live()).toHaveLength(2);
  });

  test.each(["10Ei", "1m"])("that cannot be counted are not taken: %s", async (ephemeralStorage) => {
    const world = await startedFleet();
    world.broker.setSliceDefaults({ pods: 50, ephemeralStorage });
    const id = await withReservation(world, "more");
    expect(sliceDefaultsOf(world, id)).toEqual([undefined, undefined]);
    expect(world.rome.logLines.join("\n")).toContain("unreadable slice defaults");
  });
});
