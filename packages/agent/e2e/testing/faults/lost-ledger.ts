import { rm } from "node:fs/promises";
import { PATH, type ReservationDTO } from "@resource-broker/contract";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS, until } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import type { FaultSetup } from "./fault-setup.ts";

/** The broker forgets, and the agents remember. */
export function testLostLedger(setup: () => FaultSetup): void {
  test("the broker comes back with an empty database", async () => {
    const { world, rome, paris, ask, deleteRequest, expectOneOfEach } = setup();
    await ask("remembered");
    const { reservationName: id } = await expectOneOfEach("remembered");
    const uids = async () => ({
      borrowed: (await rome.find(RESERVATION_INSTRUCTIONS, id))?.metadata.uid,
      held: (await paris.find(PROVIDER_INSTRUCTIONS, `${id}-provider`))?.metadata.uid,
    });
    const before = await uids();
    await world.broker.stop();
    await rm(world.broker.storeDirectory, { recursive: true });
    await world.broker.restart();
    const restored = await until("both have brought it back", async () => {
      const { body } = await world.broker.clientFor("rome").request("GET", PATH.reservation(id));
      return (body as Partial<ReservationDTO>).id === id ? (body as ReservationDTO) : undefined;
    });
    expect(restored).toMatchObject({ targetClusterID: "paris", status: { phase: "Active" } });
    expect(await uids()).toEqual(before);
    await paris.until(
      PROVIDER_INSTRUCTIONS,
      `${id}-provider`,
      ({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "UnknownToBroker" && is === "False") ===
        true,
    );
    await deleteRequest("remembered");
    await paris.untilGone(PROVIDER_INSTRUCTIONS, `${id}-provider`);
  });
}
