import { NO_RESOURCES } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { describeProblem } from "../schema/problem.ts";
import { validate } from "../schema/validate.ts";
import { reservationRequestSchema } from "../wire/reservation-request.ts";
import { fromReservationRequest, toReservationRequest } from "./reservation-request.ts";

const GI = 1024 ** 3;

function requestOf(input: object) {
  const validated = validate(reservationRequestSchema, input);
  if (!validated.ok) throw new Error(validated.problems.map(describeProblem).join());
  return toReservationRequest(validated.value);
}

describe("a request", () => {
  const requestedResources = { cpu: "500m", memory: "512Mi" };

  test("is read whole", () => {
    const dto = {
      requestedResources: {
        cpu: "1500m",
        memory: "8Gi",
        gpu: "2",
        storage: "20Gi",
        extended: { "amd.com/gpu": "1" },
      },
      extended: { "intel.com/fpga": 3 },
      priority: 10,
      duration: "1h30m",
      targetClusterID: "paris",
      constraints: { regions: ["eu"], labels: { tier: "gold" }, excludeClusters: ["tokyo"] },
      perNode: { cpu: "1", gpu: "1" },
      tier: "spot",
      start: "2026-07-01T12:00:00+02:00",
    };
    const extended = { "amd.com/gpu": 1, "intel.com/fpga": 3 };
    expect(requestOf(dto)).toEqual({
      ok: true,
      value: {
        resources: { cpuMillis: 1500, memoryBytes: 8 * GI, gpus: 2, storageBytes: 20 * GI, extended },
        priority: 10,
        durationMs: 5_400_000,
        target: "paris",
        constraints: { regions: ["eu"], labels: { tier: "gold" }, excludeClusters: ["tokyo"] },
        perNode: { ...NO_RESOURCES, cpuMillis: 1000, gpus: 1 },
        tier: "spot",
        start: Date.UTC(2026, 6, 1, 10),
      },
    });
  });

  test.each([
    [
      "in other units",
      { requestedResources: { cpu: 0.5 + 0.5, memory: "1Gi" } },
      { requestedResources: { cpu: "1000m", memory: 1073741824 } },
    ],
    [
      "with defaults written out",
      { requestedResources },
      { requestedResources, priority: 0, tier: "on-demand", constraints: { regions: [], labels: {} } },
    ],
    [
      "with lists in another order",
      { requestedResources, constraints: { regions: ["a", "b"] } },
      { requestedResources, constraints: { regions: ["b", "a", "b"] } },
    ],
    [
      "with extended resources in the other place",
      { requestedResources, extended: { "amd.com/gpu": "1" } },
      { requestedResources: { ...requestedResources, extended: { "amd.com/gpu": "1" } } },
    ],
  ])("is the same request %s", (_, one, other) => {
    expect(requestOf(one)).toEqual(requestOf(other));
  });

  test.each([
    [
      "too large to be counted",
      { requestedResources: { cpu: "1", memory: "8Ei" } },
      'requestedResources.memory: "8Ei" is too large: the most that can be counted is "9007199254740991".',
    ],
    [
      "for GPUs under another name",
      { requestedResources: { ...requestedResources, extended: { "nvidia.com/gpu": "1" } } },
      'extended["nvidia.com/gpu"]: is counted as gpu; write gpu instead',
    ],
    [
      "stated twice",
      {
        requestedResources: { ...requestedResources, extended: { "a.b/c": "1" } },
        extended: { "a.b/c": "2" },
      },
      'extended["a.b/c"]: differs from requestedResources.extended; state it once',
    ],
  ])("is refused when it is %s", (_, input, expected) => {
    const result = requestOf(input);
    expect(result.ok ? [] : result.problems.map(describeProblem)).toEqual([expected]);
  });

  test("rounds what is finer than the ledger counts up", () => {
    expect(requestOf({ requestedResources: { cpu: "100u", memory: "1500m" } })).toMatchObject({
      value: { resources: { cpuMillis: 1, memoryBytes: 2 } },
    });
  });

  test("comes back from the ledger as it went in", () => {
    const dto = {
      requestedResources,
      priority: 1,
      duration: "90s",
      tier: "spot",
      perNode: { memory: "1Gi" },
    };
    const result = requestOf(dto);
    expect(result.ok && fromReservationRequest(result.value)).toEqual({ ...dto, duration: "1m30s" });
  });
});
