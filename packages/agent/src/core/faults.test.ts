import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { gate } from "../testing/call-fault.ts";
import { testFleet } from "../testing/test-fleet.ts";
import {
  conditionOf,
  connectionLost,
  expectNothing,
  expectReserved,
  fleetWithReservation,
  HOUR_MS,
  MINUTE_MS,
  onFirstCall,
} from "../testing/test-fleet-setups.ts";

describe("the broker", () => {
  test.each([
    ["before it has booked", false],
    ["after it has booked", true],
  ])("killed mid-request, %s, reserves once", async (_, isDone) => {
    const world = testFleet();
    const { broker, rome, time, begin } = world;
    await begin();
    broker.setCallFaults(onFirstCall("reserve", connectionLost(isDone)));
    broker.setEventTransform(() => []);
    rome.createRequest("more");
    await time.advance(1);
    expect(conditionOf(world, "more")?.reason).toBe("BrokerUnreachable");
    broker.setEventTransform(undefined);
    broker.down();
    await time.advance(MINUTE_MS);
    broker.up();
    await time.advance(MINUTE_MS);
    expectReserved(world);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", attempts: 1 });
  });

  test("with an empty database: nothing is torn down, both sides offer, and everything is as before", async () => {
    const world = await fleetWithReservation();
    const { broker, rome, paris, time, id } = world;
    broker.forget();
    await time.advance(500);
    expect(rome.reservationInstructions()).toEqual([id]);
    expect(paris.providerInstructions()).toEqual([id]);
    await time.advance(2 * MINUTE_MS);
    expect(expectReserved(world)).toBe(id);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", reservationName: id });
    expect(conditionOf(world, "more")).toMatchObject({ status: "True", reason: "Granted" });
    for (const { status } of [...rome.all(RESERVATION_INSTRUCTIONS), ...paris.all(PROVIDER_INSTRUCTIONS)]) {
      expect(status?.conditions?.find(({ type }) => type === "UnknownToBroker")?.status).toBe("False");
    }
    rome.deleteRequest("more");
    await time.advance(1000);
    expectNothing(world);
  });

  test("with an empty database hears of a hold that is not wanted any more, so that its provider is set free", async () => {
    const world = await fleetWithReservation();
    const { broker, rome, paris, time, id } = world;
    broker.down();
    broker.forget();
    rome.deleteRequest("more");
    await time.advance(1000);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(paris.providerInstructions()).toEqual([id]);
    broker.up();
    await time.advance(4 * MINUTE_MS);
    expectNothing(world);
  });

  test("with an empty database is not asked twice by an agent that restarts", async () => {
    const world = await fleetWithReservation();
    const { broker, rome, time, id } = world;
    rome.kill();
    broker.forget();
    // Instructions come last: what is reserved must be known before anything is asked for.
    const slow = gate();
    rome.setCallFaults(({ verb, plural }) =>
      verb === "list" && plural === RESERVATION_INSTRUCTIONS.plural ? { until: slow.passed } : undefined,
    );
    const started = rome.start();
    await time.advance(5000);
    slow.open();
    await time.advance(3 * MINUTE_MS);
    await started;
    expect(expectReserved(world)).toBe(id);
    expect(broker.calls.filter(({ method }) => method === "reserve")).toHaveLength(1);
  });

  test("that made a reservation again under its old name is believed, though it counts from one again", async () => {
    const world = await fleetWithReservation();
    const { broker, rome, paris, time, id } = world;
    rome.kill();
    rome.remove(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
    broker.forget();
    await time.advance(MINUTE_MS);
    const started = rome.start();
    await time.advance(2 * MINUTE_MS);
    await started;
    expect(expectReserved(world)).toBe(id);
    rome.deleteRequest("more");
    await time.advance(1000);
    expect(paris.providerInstructions()).toEqual([]);
  });
});

describe("an agent", () => {
  test("killed between the broker's answer and the instruction takes it up where it was, with the same key", async () => {
    const world = testFleet();
    const { broker, rome, time, begin } = world;
    await begin();
    const late = gate();
    broker.setCallFaults(onFirstCall("reserve", { isDone: true, until: late.passed }));
    broker.setEventTransform((clusterId, event) => (clusterId === "rome" ? [] : [event]));
    rome.createRequest("more");
    await time.advance(100);
    expect(broker.live()).toHaveLength(1);
    rome.kill();
    late.open();
    await time.advance(MINUTE_MS);
    expect(rome.reservationInstructions()).toEqual([]);
    const started = rome.start();
    await time.advance(1000);
    await started;
    expectReserved(world);
  });

  test.each([
    ["an hour fast", HOUR_MS],
    ["an hour slow", -HOUR_MS],
  ])("whose clock is %s, or jumps, ends nothing early and nothing late", async (_, ms) => {
    const world = testFleet();
    const { broker, rome, paris, time, begin } = world;
    rome.setClockError(ms);
    paris.setClockError(ms);
    await begin();
    rome.createRequest("more", { duration: "10m" });
    await time.advance(5 * MINUTE_MS);
    expectReserved(world);
    rome.setClockError(0);
    paris.setClockError(0);
    broker.down();
    await time.advance(5 * MINUTE_MS + 55_000);
    expect(rome.reservationInstructions()).toHaveLength(1);
    expect(paris.providerInstructions()).toHaveLength(1);
    await time.advance(10_000);
    expect(rome.reservationInstructions()).toEqual([]);
    expect(paris.providerInstructions()).toEqual([]);
  });

  test("stops in good order, and the next one continues", async () => {
    const world = await fleetWithReservation();
    const { rome, paris, time } = world;
    await rome.stop();
    await paris.stop();
    const before = world.broker.calls.length;
    await time.advance(5 * MINUTE_MS);
    expect(world.broker.calls).toHaveLength(before);
    await world.begin();
    await time.advance(MINUTE_MS);
    expectReserved(world);
  });
});

describe("an API server that is gone for a minute", () => {
  const moments: readonly (readonly [string, { verb: string; plural: string }])[] = [
    ["the requester's instruction", { verb: "apply", plural: "reservationinstructions" }],
    ["its status", { verb: "patch", plural: "reservationinstructions" }],
    ["the request's status", { verb: "patch", plural: "resourcerequests" }],
    ["the provider's instruction", { verb: "apply", plural: "providerinstructions" }],
    ["the status of that", { verb: "patch", plural: "providerinstructions" }],
    ["taking the requester's instruction away", { verb: "delete", plural: "reservationinstructions" }],
    ["taking the provider's instruction away", { verb: "delete", plural: "providerinstructions" }],
  ];
  const rows = moments.flatMap(([what, call]) =>
    [false, true].map((isDone) => [isDone ? "after" : "before", what, call, isDone] as const),
  );

  test.each(rows)("just %s %s loses nothing", async (_, __, { verb, plural }, isDone) => {
    const world = testFleet();
    const { rome, paris, time, begin } = world;
    await begin();
    for (const cluster of [rome, paris]) {
      let isOver = false;
      cluster.setCallFaults((call) => {
        if (isOver || call.verb !== verb || call.plural !== plural) return undefined;
        isOver = true;
        // Down from this call on, and back after a minute.
        void Promise.resolve().then(() => cluster.down());
        time.after(MINUTE_MS, cluster.up);
        return connectionLost(isDone);
      });
    }
    rome.createRequest("more");
    await time.advance(3 * MINUTE_MS);
    expectReserved(world);
    expect(rome.request("more")?.status?.phase).toBe("Active");
    rome.deleteRequest("more");
    await time.advance(3 * MINUTE_MS);
    expectNothing(world);
  });
});
