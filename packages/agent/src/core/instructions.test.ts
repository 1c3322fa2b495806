import { type ReservationDTO } from "@resource-broker/contract";
import { request as aRequest } from "@resource-broker/domain/testing";
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

  test("that are lost on the stream are found by the next resync", async () => {
    const world = await startedFleet();
    const { broker, rome, paris, time } = world;
    broker.setEventTransform(() => []);
    rome.createRequest("more");
    await time.advance(2 * MINUTE_MS);
    expectReserved(world);
    rome.deleteRequest("more");
    await time.advance(2 * MINUTE_MS);
    expect(paris.providerInstructions()).toEqual([]);
  });

  test("that are lost on the stream come with the answer to the next advertisement, also where no resync works", async () => {
    const { broker, rome, paris, time } = await startedFleet();
    broker.setEventTransform(() => []);
    broker.setCallFaults(({ method }) =>
      method === "fetchReservations" ? connectionLost(false) : undefined,
    );
    rome.createRequest("more");
    await time.advance(35_000);
    expect(paris.providerInstructions()).toEqual(broker.live().map(({ id }) => id));
    expect(broker.live()).toHaveLength(1);
  });

  test("for another cluster are ignored, with a line in the log", async () => {
    const world = await fleetWithReservation();
    const { broker, paris, time } = world;
    const foreign: ReservationDTO = {
      id: "rsv-rome-foreign",
      requesterID: "rome",
      targetClusterID: "berlin",
      requestedResources: { cpu: "1", memory: "1Gi" },
      status: { phase: "Reserved", message: "" },
      createdAt: "2026-07-01T10:00:00Z",
      generation: 1,
    };
    broker.send("paris", { kind: "instruction", reservation: foreign });
    await time.advance(1000);
    expectReserved(world);
    expect(paris.logLines.join("\n")).toContain("an instruction for another cluster is ignored");
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

  test("come of a reservation that an admin made, too", async () => {
    const world = await startedFleet();
    const { broker, rome, paris, time } = world;
    const made = broker.run({
      kind: "reserve",
      requester: "rome",
      request: aRequest({ cpu: 2, memoryGi: 1 }),
      reservationId: "rsv-rome-byadmin",
      decisionId: "dec-1",
    });
    expect(made.kind).toBe("granted");
    await time.advance(1000);
    expectReserved(world);
    expect(rome.reservationInstructions()).toEqual(["rsv-rome-byadmin"]);
    expect(paris.providerInstructions()).toEqual(["rsv-rome-byadmin"]);
    // Nobody's deleted request: it stays.
    await time.advance(5 * MINUTE_MS);
    expectReserved(world);
  });
});
