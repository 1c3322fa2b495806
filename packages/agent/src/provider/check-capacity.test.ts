import { clusterSums, nodeFacts } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { availableOf } from "../publish/advertisement.ts";
import { aReservation } from "../testing/samples.ts";
import { checkCapacity } from "./plan-provider-instruction.ts";

function observed() {
  const sums = clusterSums();
  const allocatable = { cpu: "64", memory: "256Gi" };
  const conditions = [{ type: "Ready", status: "True" }];
  sums.putNode(nodeFacts({ metadata: { name: "one" }, status: { allocatable, conditions } }).facts);
  return { totals: sums.totals(), labels: {}, gpus: [] };
}

const UNREADABLE = aReservation({ id: "rsv-odd", requestedResources: { cpu: "1e18", memory: "1Gi" } });

describe("a reservation whose amounts cannot be read", () => {
  test("finds no room", () => {
    expect(checkCapacity(aReservation(), observed(), [])).toEqual({ kind: "fits" });
    expect(checkCapacity(UNREADABLE, observed(), [])).toEqual({
      kind: "short",
      reason: "the amounts of the reservation cannot be read",
    });
  });

  test("takes all that the cluster has once it is held", () => {
    expect(availableOf(observed(), [])).toMatchObject({ cpuMillis: 64_000 });
    expect(availableOf(observed(), [UNREADABLE])).toMatchObject({ cpuMillis: 0, memoryBytes: 0 });
    expect(checkCapacity(aReservation(), observed(), [UNREADABLE])).toMatchObject({ kind: "short" });
  });
});
