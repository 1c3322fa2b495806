import { startWorld } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { crowd } from "./testing/kubernetes-load.ts";

const LONG = process.env["LONG"] !== undefined;
const SIZE = LONG
  ? { agents: 50, reservations: 200, forMs: 60_000 }
  : { agents: 20, reservations: 60, forMs: 6000 };

test("a crowd of agents publishes while people reserve: no conflict surfaces, nothing is lent twice, sums are right", async () => {
  const world = await startWorld({ clusters: [], hub: "hub" });
  try {
    expect(await crowd(world, SIZE)).toEqual([]);
  } finally {
    await world.dispose();
  }
});
