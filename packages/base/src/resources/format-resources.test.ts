import { expect, it } from "vitest";
import { formatResources } from "./resource-quantities.ts";
import { NO_RESOURCES, resourceVector } from "./resource-vector.ts";

const Gi = 2 ** 30;

it("writes canonical quantities", () => {
  const vector = resourceVector({
    cpuMillis: 1500,
    memoryBytes: 1.5 * Gi,
    gpus: 2,
    storageBytes: 10 * Gi,
    extended: { "amd.com/gpu": 3 },
  });
  expect(formatResources(vector)).toEqual({
    cpu: "1500m",
    memory: "1536Mi",
    gpu: "2",
    storage: "10Gi",
    extended: { "amd.com/gpu": "3" },
  });
});

it("always writes CPU and memory, and the others only when there are any", () => {
  expect(formatResources(NO_RESOURCES)).toStrictEqual({ cpu: "0", memory: "0" });
});

it("writes a resource called __proto__ as data", () => {
  const vector = resourceVector({ extended: JSON.parse('{"__proto__": 2}') as Record<string, number> });
  expect(JSON.stringify(formatResources(vector))).toBe(
    '{"cpu":"0","memory":"0","extended":{"__proto__":"2"}}',
  );
});
