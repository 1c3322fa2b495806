import { describe, expect, test } from "vitest";
import { MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import { cluster, request } from "../testing/builders.ts";
import { openWorld, type World } from "../testing/world.ts";

function worldWithParis(policy: Parameters<typeof openWorld>[0] = {}): World {
  const world = openWorld(policy);
  world.advertise(cluster("paris"), cluster("rome"));
  return world;
}

describe("quota", () => {
  test("limits what a requester holds in all, and says so", () => {
    const world = worldWithParis({ quotas: { rome: { cpuMillis: 6000 } } });
    world.grant("rome", request({ cpu: 4 }));
    expect(world.reserve("rome", request({ cpu: 4 }))).toEqual({
      kind: "rejected",
      code: "quota-exceeded",
      message: "rome may hold 6 CPU; it holds 4 CPU and asks for 4 CPU",
    });
    expect(world.reserve("rome", request({ cpu: 2 })).kind).toBe("granted");
  });

  test("of a requester that has none of its own keeps half of any provider for others", () => {
    const world = openWorld();
    const small = request({ cpu: 0.001, memoryGi: 1 });
    world.advertise(cluster("paris", { memoryGi: 10_000 }));
    const most = MAX_RESERVATIONS_PER_PROVIDER / 2;
    for (let index = 0; index < most; index++) world.grant("rome", small);
    expect(world.reserve("rome", small)).toEqual({
      kind: "rejected",
      code: "quota-exceeded",
      message:
        "rome may hold 500 reservations at once and holds 500; release some, or have an admin raise quotas.rome.reservations in the policy",
    });
    expect(world.reserve("oslo", small).kind).toBe("granted");
  });

  test("of its own counts for what it names, the default one for the rest", () => {
    const world = worldWithParis({
      defaultQuota: { reservations: 1, cpuMillis: 4000, extended: { "amd.com/gpu": 0 } },
      quotas: { rome: { reservations: 3, extended: { "a.example/fpga": 1 } } },
    });
    world.grant("rome", request({ cpu: 1 }));
    expect(world.reserve("rome", request({ cpu: 4 }))).toMatchObject({ code: "quota-exceeded" });
    expect(world.reserve("rome", request({ cpu: 1, extended: { "amd.com/gpu": 1 } }))).toMatchObject({
      code: "quota-exceeded",
    });
    expect(world.reserve("rome", request({ cpu: 1 })).kind).toBe("granted");
    world.grant("oslo", request({ cpu: 1 }));
    expect(world.reserve("oslo", request({ cpu: 1 }))).toMatchObject({ code: "quota-exceeded" });
  });
});
