import { type ReservationDTO } from "@resource-broker/contract";
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
  test.each<["twice" | "swapped"]>([["twice"], ["swapped"]])("that come %s change nothing", async (fault) => {
    const world = await startedFleet();
    const { broker, rome, paris, time } = world;
    let kept: Parameters<Parameters<typeof broker.setEventTransform>[0] & object>[1] | undefined;
    broker.setEventTransform((_, event) => {
      if (fault === "twice") return [event, event];
      const before = kept;
      kept = before === undefined ? event : undefined;
      return before === undefined ? [] : [event, before];
    });
    rome.createRequest("more");
    await time.advance(MINUTE_MS);
    const id = expectReserved(world);
    rome.deleteRequest("more");
    await time.advance(3 * MINUTE_MS);
    expectNothing(world);
    // A late word from before the end does not bring it back.
    const old: ReservationDTO = {
      id,
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources: { cpu: "4", memory: "8Gi" },
      status: { phase: "Active", message: "" },
      createdAt: "2026-07-01T10:00:00Z",
      generation: 2,
    };
    broker.setEventTransform(undefined);
    broker.send("paris", { kind: "instruction", reservation: old });
    broker.send("rome", { kind: "reservation", reservation: old });
    await time.advance(MINUTE_MS);
    expect(paris.providerInstructions()).toEqual([]);
    expect(rome.reservationInstructions()).toEqual([]);
  });

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
