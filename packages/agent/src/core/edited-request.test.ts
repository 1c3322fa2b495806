import { describe, expect, test } from "vitest";
import { REQUESTS, type TestFleet } from "../testing/test-fleet.ts";
import {
  conditionOf,
  connectionLost,
  expectReserved,
  fleetWithReservation,
  MINUTE_MS,
  startedFleet,
} from "../testing/test-fleet-setups.ts";

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
      if (isOver || call.method !== "requestReservation") return undefined;
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
