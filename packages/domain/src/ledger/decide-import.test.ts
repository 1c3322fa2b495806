import { describe, expect, test } from "vitest";
import type { Reservation } from "../reservation/reservation.ts";
import { cluster, request, reservation } from "../testing/builders.ts";
import { actor, openWorld } from "../testing/world.ts";

describe("a take-over of an older broker's reservations", () => {
  const left = (id: string, cpu: number, more: Partial<Reservation> = {}): Reservation =>
    reservation({ id, ...more }, { cpu, memoryGi: 0 });

  test("counts them against their providers, also beyond what those have", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const reservations = [left("rsv-rome-1", 10), left("rsv-rome-2", 10, { phase: "Active" })];
    expect(world.reply({ kind: "import", reservations })).toEqual({ kind: "imported", count: 2 });
    expect(world.account("paris")).toMatchObject({
      reserved: { cpuMillis: 20_000 },
      available: { cpuMillis: 0 },
    });
  });

  test("is refused by a ledger that knows, or knew, any reservation", () => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    const { id } = world.grant("rome", request());
    world.run({ kind: "release", by: actor("rome"), id });
    expect(world.reply({ kind: "import", reservations: [left("rsv-rome-1", 1)] })).toMatchObject({
      kind: "rejected",
      code: "ledger-conflict",
    });
  });

  test.each([
    ["has ended", [left("rsv-rome-1", 1, { phase: "Released" })]],
    ["is named twice", [left("rsv-rome-1", 1), left("rsv-rome-1", 1)]],
    ["is nothing", [left("rsv-rome-1", 0)]],
    ["cannot be added up", [left("a", 2 ** 42), left("b", 2 ** 43)]],
  ])("is refused when something %s", (_, reservations) => {
    expect(openWorld().reply({ kind: "import", reservations })).toMatchObject({ code: "invalid" });
  });
});
