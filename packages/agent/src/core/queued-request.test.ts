import { describe, expect, test } from "vitest";
import { conditionOf, fleetWithQueuedRequest } from "../testing/test-fleet-setups.ts";

describe("a queued request", () => {
  test("shows its attempts, and is served as soon as capacity is freed", async () => {
    const world = await fleetWithQueuedRequest();
    const { rome, time } = world;
    await time.advance(65_000);
    expect(rome.request("second")?.status).toMatchObject({
      phase: "Pending",
      attempts: 3,
      message: expect.stringMatching(/[^.]; asking again as soon as capacity is freed \(attempt 3\)$/),
      explanation: expect.stringContaining("paris: "),
    });
    expect(conditionOf(world, "second")?.reason).toBe("Queued");
    rome.deleteRequest("first");
    await time.advance(1000);
    expect(rome.request("second")?.status).toMatchObject({ phase: "Active", attempts: 4 });
  });

  test("is repeated after freed capacity also in an agent that restarted", async () => {
    const world = await fleetWithQueuedRequest();
    const { rome, time } = world;
    await time.advance(1000);
    rome.kill();
    await world.begin(rome);
    rome.deleteRequest("first");
    await time.advance(1000);
    expect(rome.request("second")?.status?.phase).toBe("Active");
  });
});
