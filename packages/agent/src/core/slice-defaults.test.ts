import { describe, expect, test } from "vitest";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import type { TestFleet } from "../testing/test-fleet.ts";
import { MINUTE_MS, startedFleet } from "../testing/test-fleet-setups.ts";

const FEW = { pods: 50, ephemeralStorage: "5Gi" };
const MANY = { pods: 500, ephemeralStorage: "1Ti" };

async function withReservation({ rome, time }: TestFleet, name: string): Promise<string> {
  rome.createRequest(name, { requestedCPU: "1", requestedMemory: "1Gi" });
  await time.advance(10_000);
  return rome.request(name)?.status?.reservationName ?? "";
}

/** What the borrower's and the lender's instruction say. */
function sliceDefaultsOf({ rome, paris }: TestFleet, id: string) {
  const instruction = { name: `${id}-provider`, namespace: "default" };
  return [
    rome.find(RESERVATION_INSTRUCTIONS, { name: id, namespace: "default" })?.spec.sliceDefaults,
    paris.find(PROVIDER_INSTRUCTIONS, instruction)?.spec.sliceDefaults,
  ];
}

describe("the policy's slice defaults", () => {
  test("reach both instructions, and a new policy counts for the next reservation only", async () => {
    const world = await startedFleet();
    const { broker, rome, paris, time } = world;
    broker.setSliceDefaults(FEW);
    const first = await withReservation(world, "first");
    expect(sliceDefaultsOf(world, first)).toEqual([FEW, FEW]);
    broker.setSliceDefaults(MANY);
    const next = await withReservation(world, "next");
    expect(sliceDefaultsOf(world, next)).toEqual([MANY, MANY]);
    // Also for agents that are asked anew, and for those that know only their instructions.
    rome.kill();
    paris.kill();
    await world.begin();
    broker.setSliceDefaults(undefined);
    await time.advance(5 * MINUTE_MS);
    expect(sliceDefaultsOf(world, first)).toEqual([FEW, FEW]);
    expect(sliceDefaultsOf(world, next)).toEqual([MANY, MANY]);
    expect(broker.live()).toHaveLength(2);
  });

  test("do not come later to a reservation that was made without a word of them", async () => {
    const world = await startedFleet();
    const { broker, rome, time } = world;
    const id = await withReservation(world, "more");
    broker.setSliceDefaults(FEW);
    rome.kill();
    await world.begin(rome);
    await time.advance(5 * MINUTE_MS);
    expect(sliceDefaultsOf(world, id)).toEqual([undefined, undefined]);
    expect(broker.live()).toHaveLength(1);
  });

  test("are unknown to an older broker, and nothing is missed", async () => {
    const world = await startedFleet();
    world.broker.setOlder(true);
    world.broker.setSliceDefaults(FEW);
    const id = await withReservation(world, "more");
    expect(id).not.toBe("");
    expect(sliceDefaultsOf(world, id)).toEqual([undefined, undefined]);
  });

  test.each(["10Ei", "1m"])("that cannot be counted are not taken: %s", async (ephemeralStorage) => {
    const world = await startedFleet();
    world.broker.setSliceDefaults({ pods: 50, ephemeralStorage });
    const id = await withReservation(world, "more");
    expect(sliceDefaultsOf(world, id)).toEqual([undefined, undefined]);
    expect(world.rome.logLines.join("\n")).toContain("unreadable slice defaults");
  });
});
