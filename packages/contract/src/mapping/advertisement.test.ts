import { resourceVector } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { describeProblem } from "../schema/problem.ts";
import { validate } from "../schema/validate.ts";
import { advertisementSchema } from "../wire/advertisement.ts";
import { fromAdvertisement, toAdvertisement } from "./advertisement.ts";

describe("an advertisement", () => {
  const amounts = (cpu: string) => ({ cpu, memory: "8Gi" });
  const dto = {
    clusterID: "paris",
    clusterName: "Paris",
    resources: {
      capacity: amounts("10"),
      allocatable: amounts("8"),
      allocated: amounts("2"),
      used: amounts("1"),
      reserved: amounts("99"),
      available: amounts("-99"),
    },
    timestamp: "2026-07-01T10:00:00.500Z",
    cost: {
      cpuCost: 0.042,
      memoryCost: "0.005",
      currency: "EUR",
      windows: [{ name: "day", from: "00:00", to: "24:00", multiplier: 1 }],
    },
    endpointURL: "https://paris:6443",
    labels: { "topology.kubernetes.io/region": "eu" },
    nodeShapes: [{ count: 2, cpu: "4", memory: "4Gi", gpu: 1 }],
    gpus: [{ model: "A100", count: 4, memory: "40Gi" }],
    liqo: { clusterID: "calm-paris", version: "v1.2.0" },
    usage: [{ reservationID: "rsv-rome-a", granted: amounts("1"), used: amounts("500m") }],
    instance: "i1",
    sequence: 7,
  };
  const account = {
    reserved: resourceVector({ cpuMillis: 1000 }),
    available: resourceVector({ cpuMillis: 5000, gpus: 1 }),
    receivedAt: 1,
  };

  test("goes into the ledger without reserved and available, and comes back with the ledger's", () => {
    const validated = validate(advertisementSchema, dto);
    if (!validated.ok) throw new Error(validated.problems.map(describeProblem).join());
    const mapped = toAdvertisement(validated.value, 2);
    if (!mapped.ok) throw new Error(mapped.problems.map(describeProblem).join());
    expect(mapped.value).toMatchObject({
      protocol: 2,
      statedAt: Date.UTC(2026, 6, 1, 10, 0, 0, 500),
      sequence: 7,
    });
    expect(JSON.stringify(mapped.value)).not.toContain("99000");
    const back = fromAdvertisement(mapped.value, account);
    expect(back).toEqual({
      ...validated.value,
      nodeShapes: [{ count: 2, cpu: "4", memory: "4Gi", gpu: "1" }],
      resources: {
        ...validated.value.resources,
        reserved: { cpu: "1", memory: "0" },
        available: { cpu: "5", memory: "0", gpu: "1" },
      },
    });
    expect(validate(advertisementSchema, back)).toEqual({ ok: true, value: back });
  });

  test("rounds what there is down and what is taken up", () => {
    const fine = { cpu: "1500u", memory: "1500m" };
    const resources = { capacity: fine, allocatable: fine, allocated: fine, available: fine };
    const validated = validate(advertisementSchema, { clusterID: "a", timestamp: dto.timestamp, resources });
    const mapped = validated.ok ? toAdvertisement(validated.value, 1) : validated;
    expect(mapped).toMatchObject({
      ok: true,
      value: {
        capacity: { cpuMillis: 1, memoryBytes: 1 },
        allocatable: { cpuMillis: 1, memoryBytes: 1 },
        allocated: { cpuMillis: 2, memoryBytes: 2 },
      },
    });
  });

  test("names the field that cannot be counted", () => {
    const usage = [{ reservationID: "rsv-a", granted: amounts("1"), used: { cpu: "1", memory: "9Ei" } }];
    const validated = validate(advertisementSchema, { ...dto, usage });
    const mapped = validated.ok ? toAdvertisement(validated.value, 2) : validated;
    expect(mapped).toMatchObject({ ok: false, problems: [{ path: "usage[0].used.memory" }] });
  });
});
