import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { gate } from "../testing/call-fault.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import {
  expectNothing,
  fleetWithQueuedRequest,
  fleetWithReservation,
  MINUTE_MS,
  onFirstCall,
  startedFleet,
} from "../testing/test-fleet-setups.ts";

describe("a deleted request", () => {
  test.each([
    ["before the broker was reached", false],
    ["while its answer was on the way", true],
  ])("holds nothing, though it was deleted %s", async (_, isDone) => {
    const world = await startedFleet();
    const { broker, rome, time } = world;
    const late = gate();
    broker.setCallFaults(onFirstCall("reserve", { isDone, until: late.passed }));
    rome.createRequest("more");
    await time.advance(100);
    rome.deleteRequest("more");
    await time.advance(100);
    late.open();
    await time.advance(1000);
    expectNothing(world);
    // The key was closed: what arrives late reserves nothing, not even for a moment.
    expect(broker.ledger().reservations.size).toBe(isDone ? 1 : 0);
  });

  test("holds nothing, though the answer was lost and an older attempt's number is all that was seen", async () => {
    const world = await fleetWithQueuedRequest();
    const { broker, rome, time } = world;
    await time.advance(1000);
    rome.setWatchLag(10 * MINUTE_MS);
    const late = gate();
    broker.setCallFaults((call) =>
      call.method === "reserve"
        ? { isDone: true, until: late.passed, fault: new Fault("unreachable", "lost") }
        : undefined,
    );
    broker.run({ kind: "release", ...asAdmin, id: broker.live()[0]?.id ?? "" });
    await time.advance(1000);
    expect(broker.live()).toHaveLength(1);
    rome.setWatchLag(0);
    rome.deleteRequest("second");
    late.open();
    await time.advance(12 * MINUTE_MS);
    expectNothing(world);
  });

  test("and a new one under the same name are two: neither gets the other's answer", async () => {
    const world = await startedFleet({ cpu: "6" });
    const { broker, rome, time } = world;
    const late = gate();
    broker.setCallFaults(onFirstCall("reserve", { until: late.passed }));
    rome.createRequest("more", { requestedCPU: "100" });
    await time.advance(100);
    rome.setWatchLag(5000);
    rome.deleteRequest("more");
    const { metadata } = rome.createRequest("more", { requestedCPU: "2" });
    late.open();
    await time.advance(1000);
    expect(rome.request("more")?.status).toBeUndefined();
    await time.advance(30_000);
    expect(rome.request("more")).toMatchObject({
      metadata: { uid: metadata.uid },
      status: { phase: "Active" },
    });
    expect(broker.live()).toMatchObject([{ key: `${metadata.uid}-1` }]);
  });

  test("while the broker is away and the agent restarts is given back after two resyncs", async () => {
    const world = await fleetWithReservation();
    const { broker, rome, time } = world;
    broker.down();
    rome.deleteRequest("more");
    await time.advance(1000);
    rome.kill();
    await world.begin(rome);
    broker.up();
    // Each new stream makes the agent compare again; two lists in a row may both be stale.
    for (const restMs of [10_000, 10_000, 9000]) {
      broker.cutStreams();
      await time.advance(restMs);
    }
    expect(broker.live()).toHaveLength(1);
    await time.advance(2 * MINUTE_MS);
    expectNothing(world);
  });
});
