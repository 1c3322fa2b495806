import { type Advertisement, advertisementKind } from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { testFleet } from "../testing/test-fleet.ts";
import { HOUR_MS } from "../testing/test-fleet-setups.ts";

const ADVERTISEMENTS = customResource(advertisementKind);
const PLACE = { name: "cluster-advertisement", namespace: "default" };

async function alone() {
  const world = testFleet({ isRomeAlone: true });
  await world.begin(world.rome);
  const advertisement = (): Advertisement | undefined => world.rome.find(ADVERTISEMENTS, PLACE);
  return { ...world, advertisement };
}

describe("an agent without a broker", () => {
  test("keeps its Advertisement up to date, and says that nobody hears it", async () => {
    const { rome, time, advertisement } = await alone();
    expect(advertisement()?.spec.resources).toMatchObject({
      allocatable: { cpu: "1" },
      allocated: { cpu: "0" },
    });
    rome.occupy("web", "500m");
    await time.advance(10_000);
    expect(advertisement()?.spec.resources.allocated.cpu).toBe("500m");
    expect(advertisement()?.status).toMatchObject({
      phase: "Active",
      published: false,
      message: "no broker is configured (--broker-transport=none): nothing can be reserved here",
      conditions: [{ type: "Published", status: "False", reason: "NoBroker" }],
    });
    expect(rome.core().provider.lastPublication()?.ok).toBe(true);
  });

  test("leaves requests Pending with the reason NoBroker, and writes that once", async () => {
    const { rome, time, broker } = await alone();
    rome.createRequest("more");
    await time.advance(HOUR_MS);
    const { status, metadata } = rome.request("more") ?? {};
    expect(status).toMatchObject({
      phase: "Pending",
      message: "no broker is configured (--broker-transport=none): nothing can be reserved",
    });
    expect(status?.conditions?.find(({ type }) => type === "Reserved")).toMatchObject({ reason: "NoBroker" });
    await time.advance(HOUR_MS);
    expect(rome.request("more")?.metadata.resourceVersion).toBe(metadata?.resourceVersion);
    expect(broker.calls).toEqual([]);
    expect(rome.logLines.filter((line) => line.startsWith("warn") || line.startsWith("error"))).toEqual([]);
    rome.deleteRequest("more");
    await time.advance(HOUR_MS);
    expect(rome.logLines.filter((line) => line.startsWith("warn") || line.startsWith("error"))).toEqual([]);
  });
});
