import { describe, expect, test } from "vitest";
import { begun, conditionOf, expectLent, lending, lost, MINUTE_MS } from "../testing/lending.ts";
import { REQUESTS, type SmallWorld } from "../testing/small-world.ts";

describe("a spec that is edited", () => {
  const edit = ({ rome }: SmallWorld, requestedCPU: string) =>
    rome.edit(REQUESTS, { name: "more", namespace: "default" }, (request) => ({
      ...request,
      spec: { ...request.spec, requestedCPU },
    }));

  test("after the reservation is refused by the API server, or, with older CRDs, ignored and said so", async () => {
    const strict = await lending();
    expect(() => edit(strict, "8")).toThrow("already reserved");
    const world = await lending({ kinds: { areOlder: true } });
    edit(world, "8");
    await world.time.advance(MINUTE_MS);
    expectLent(world);
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
    const world = await begun();
    const { broker, rome, time } = world;
    broker.setDistortion(() => []);
    let isOver = false;
    broker.setMishaps((call) => {
      if (isOver || call.method !== "requestReservation") return undefined;
      isOver = true;
      edit(world, "8");
      return lost(true);
    });
    rome.ask("more");
    await time.advance(1);
    broker.setDistortion(undefined);
    await time.advance(3 * MINUTE_MS);
    expectLent(world);
    expect(broker.live()).toMatchObject([{ granted: { cpuMillis: 8000 } }]);
    expect(rome.request("more")?.status).toMatchObject({ phase: "Active", attempts: 2 });
  });
});
