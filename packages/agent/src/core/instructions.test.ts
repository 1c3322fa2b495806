import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import {
  connectionLost,
  expectNothing,
  expectReserved,
  fleetWithReservation,
  MINUTE_MS,
  startedFleet,
} from "../testing/test-fleet-setups.ts";

describe("instructions", () => {
  test("that are lost on the stream come with the answer to the next advertisement, also where no resync works", async () => {
    const { broker, rome, paris, time } = await startedFleet();
    broker.setEventTransform(() => []);
    broker.setCallFaults(({ method }) => (method === "listReservations" ? connectionLost(false) : undefined));
    rome.createRequest("more");
    await time.advance(35_000);
    expect(paris.providerInstructions()).toEqual(broker.live().map(({ id }) => id));
    expect(broker.live()).toHaveLength(1);
  });

  test("deleted by hand are written again while their reservation lives, and not after", async () => {
    const world = await fleetWithReservation();
    const { rome, paris, time, id } = world;
    rome.remove(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" });
    paris.remove(PROVIDER_INSTRUCTIONS, { name: `${id}-provider`, namespace: "default" });
    await time.advance(1000);
    expectReserved(world);
    world.broker.run({ kind: "release", ...asAdmin, id });
    await time.advance(5 * MINUTE_MS);
    expectNothing(world);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Released", reason: "ReleasedByAdmin" });
  });

  test("edited by hand say what they should again", async () => {
    const world = await fleetWithReservation();
    const { paris, time, id } = world;
    const name = { name: `${id}-provider`, namespace: "default" };
    paris.edit(PROVIDER_INSTRUCTIONS, name, (instruction) => ({
      ...instruction,
      spec: { ...instruction.spec, requestedCPU: "400" },
    }));
    await time.advance(1000);
    expect(paris.find(PROVIDER_INSTRUCTIONS, name)?.spec.requestedCPU).toBe("4");
  });
});
