import { describe, expect, test } from "vitest";
import { startedFleet } from "../testing/test-fleet-setups.ts";

describe("a provider that refuses afterwards", () => {
  test("makes the requester tear down and ask again, with the next attempt", async () => {
    const { broker, rome, paris, berlin, time, begin } = await startedFleet();
    paris.occupy("crowd", "14");
    rome.createRequest("more");
    await time.advance(200);
    expect(paris.providerInstructions()).toEqual([]);
    expect(paris.events.map(({ reason }) => reason)).toContain("HoldRefused");
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Failed",
      reason: "NoCapacity",
      attempts: 2,
    });
    expect(rome.events.map(({ reason }) => reason)).toContain("ProviderRefused");
    expect(rome.reservationInstructions()).toEqual([]);
    rome.deleteRequest("more");
    await begin(berlin);
    rome.createRequest("again");
    await time.advance(1000);
    expect(broker.live()).toMatchObject([{ provider: "berlin" }]);
    expect(rome.request("again")?.status).toMatchObject({ phase: "Active", targetClusterID: "berlin" });
  });
});
