import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS } from "../manifests/labels.ts";
import { asAdmin } from "../testing/fake-broker.ts";
import { expectReserved, fleetWithReservation, HOUR_MS, MINUTE_MS } from "../testing/test-fleet-setups.ts";

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

  test("and was renewed in time continues", async () => {
    const world = await fleetWithReservation({}, FIVE_MINUTES);
    const { broker, rome, paris, time, id } = world;
    broker.run({ kind: "renew", ...asAdmin, id, durationMs: HOUR_MS });
    await time.advance(30 * MINUTE_MS);
    expectReserved(world);
    expect(paris.all(PROVIDER_INSTRUCTIONS)[0]?.spec.expiresAt).toBe(rome.request("more")?.status?.expiresAt);
  });
});
