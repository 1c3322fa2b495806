import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IDENTITIES, RESOURCE_SLICES, TENANTS } from "../objects.ts";
import { type RelayPair, relayPair } from "./testing/relay-pair.ts";

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

describe("a warm pair", () => {
  test("stays peered for a while, is no reservation, and ends by itself", async () => {
    await pair.stop();
    pair = relayPair({ warmPeers: ["rome", "paris"] });
    pair.reserve();
    await pair.untilPeered();
    pair.end();
    expect(await pair.release()).toEqual({ kind: "clean" });
    expect(await pair.rome.plane().requester.listReservationIds()).toEqual([]);
    await pair.run(20 * 60_000);
    expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
    expect(pair.paris.cluster.all(TENANTS)).toHaveLength(1);
    await pair.run(15 * 60_000);
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    expect(pair.rome.cluster.all(RESOURCE_SLICES)).toEqual([]);
  });

  test.each(["rome", "paris"] as const)("is none when only %s names the other", async (side) => {
    await pair[side].restart({ warmPeers: new Set(["rome", "paris"]) });
    pair.reserve();
    await pair.untilPeered();
    pair.end();
    await pair.release();
    await pair.run(60_000);
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
  });

  test.each([
    ["both name", ["rome", "paris"], 44, 46],
    ["only the provider names", [], 14, 16],
  ])(
    "ends at the provider also without the requester, where %s the other",
    async (_, named, before, after) => {
      await pair.rome.restart({ warmPeers: new Set(named) });
      await pair.paris.restart({ warmPeers: new Set(["rome"]) });
      pair.reserve();
      await pair.untilPeered();
      await pair.run(1000);
      pair.end();
      // It goes on to state that it wants the peering, and never ends it.
      const wants = [...pair.broker.history].reverse().find(({ from }) => from === "rome");
      expect(wants).toBeDefined();
      await pair.run(before * 60_000);
      expect(pair.paris.cluster.all(TENANTS)).toHaveLength(1);
      await pair.run((after - before) * 60_000 + 60_000);
      expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    },
  );
});
