import { describe, expect, test } from "vitest";
import { begun } from "../testing/lending.ts";

describe("a provider that refuses afterwards", () => {
  test("makes the requester tear down and ask again, with the next attempt", async () => {
    const { broker, rome, paris, berlin, time, begin } = await begun();
    paris.occupy("crowd", "14");
    rome.ask("more");
    await time.advance(200);
    expect(paris.holds()).toEqual([]);
    expect(paris.events.map(({ reason }) => reason)).toContain("HoldRefused");
    expect(rome.request("more")?.status).toMatchObject({
      phase: "Failed",
      reason: "NoCapacity",
      attempts: 2,
    });
    expect(rome.events.map(({ reason }) => reason)).toContain("ProviderRefused");
    expect(rome.borrowings()).toEqual([]);
    rome.unask("more");
    await begin(berlin);
    rome.ask("again");
    await time.advance(1000);
    expect(broker.live()).toMatchObject([{ provider: "berlin" }]);
    expect(rome.request("again")?.status).toMatchObject({ phase: "Active", targetClusterID: "berlin" });
  });
});
