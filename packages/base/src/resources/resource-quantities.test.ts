import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatResources,
  parseRequest,
  parseResources,
  type ResourceQuantities,
} from "./resource-quantities.ts";
import { resourceVector } from "./resource-vector.ts";

function problemsOf(input: object, parse = parseRequest): Record<string, string> {
  // What arrives may be anything: the type is a promise that a peer can break.
  const result = parse(input as ResourceQuantities);
  return result.ok ? {} : Object.fromEntries(result.problems.map(({ field, problem }) => [field, problem]));
}

describe("resources are read", () => {
  it("from JSON numbers as from text", () => {
    const input = {
      cpu: 0.5,
      memory: 1e21 / 1e12,
      gpu: 2,
      extended: { "amd.com/gpu": 3, "hugepages-2Mi": "4Mi" },
    };
    expect(parseResources(input, "down")).toEqual({
      ok: true,
      resources: resourceVector({
        cpuMillis: 500,
        memoryBytes: 1e9,
        gpus: 2,
        extended: { "amd.com/gpu": 3, "hugepages-2Mi": 4 * 2 ** 20 },
      }),
    });
  });

  it("rounding capacity down and requests up", () => {
    const input = { cpu: "1.0001", memory: "1.5", gpu: "0.5", extended: { "amd.com/gpu": "2.5" } };
    expect(parseResources(input, "down")).toEqual({
      ok: true,
      resources: resourceVector({ cpuMillis: 1000, memoryBytes: 1, extended: { "amd.com/gpu": 2 } }),
    });
    expect(parseRequest(input)).toEqual({
      ok: true,
      resources: resourceVector({ cpuMillis: 1001, memoryBytes: 2, gpus: 1, extended: { "amd.com/gpu": 3 } }),
    });
  });
});

describe("resources are refused", () => {
  it("with every problem at once", () => {
    const problems = problemsOf({
      cpu: "1gi",
      memory: "-8Gi",
      gpu: "two",
      storage: "9Ei",
      extended: { "amd.com/gpu": "x", gpu: "1" },
    });
    expect(problems).toEqual({
      cpu: expect.stringContaining(
        '"1gi" is not a quantity: the unit "gi" is unknown, perhaps "Gi" is meant',
      ),
      memory: '"-8Gi" must not be negative.',
      gpu: expect.stringContaining('"two" is not a quantity: it must start with a number'),
      storage: expect.stringContaining('"9Ei" is too large'),
      "extended[amd.com/gpu]": expect.stringContaining('"x" is not a quantity'),
      "extended[gpu]": 'has a field of its own: write it as "gpu".',
    });
  });

  const capacity = (input: ResourceQuantities) => parseResources(input, "down");
  it.each<readonly [name: string, input: object, field: string, problem: string]>([
    ["a request for nothing", { cpu: "0", memory: "0Gi" }, "cpu", "asks for nothing"],
    ["a missing CPU", { memory: "1" }, "cpu", "is missing"],
    ["a missing memory", { cpu: "1", memory: null }, "memory", "is missing"],
    ["an object for a quantity", { cpu: {}, memory: 1 }, "cpu", "text or a number"],
    ["a negative GPU", { cpu: 1, memory: 1, gpu: -1 }, "gpu", "must not be negative"],
    ["NaN", { cpu: Number.NaN, memory: 1 }, "cpu", "is not a quantity"],
    ["Infinity", { cpu: 1, memory: Number.POSITIVE_INFINITY }, "memory", "is not a quantity"],
  ])("%s", (_, input, field, problem) => {
    expect(problemsOf(input)).toEqual({ [field]: expect.stringContaining(problem) });
  });

  it("for a negative fraction that rounds to zero", () => {
    expect(problemsOf({ cpu: "-1u", memory: 1 }, capacity)).toEqual({ cpu: '"-1u" must not be negative.' });
  });

  it("but not for a negative zero", () => {
    expect(parseRequest({ cpu: "1", memory: "-0" }).ok).toBe(true);
  });

  it("when more than 32 extended resources are named, without reading them", () => {
    const names = Array.from({ length: 33 }, (_, index) => [`example.com/r${index}`, "wrong"]);
    expect(problemsOf({ cpu: 1, memory: 1, extended: Object.fromEntries(names) })).toEqual({
      extended: "names 33 resources: at most 32 are allowed.",
    });
  });
});

describe("the name of an extended resource", () => {
  const read = (name: string): Record<string, string> =>
    problemsOf({ cpu: 1, memory: 1, extended: JSON.parse(`{${JSON.stringify(name)}: 1}`) as object });

  it.each(["amd.com/gpu", "nvidia.com/mig-1g.5gb", "example.com/A_b.c", "a/b", "hugepages-2Mi"])(
    "%s is accepted",
    (name) => {
      expect(read(name)).toEqual({});
    },
  );

  it.each([
    "__proto__",
    "constructor",
    "toString",
    "",
    "/",
    "/gpu",
    "amd.com/",
    "AMD.com/gpu",
    "amd..com/gpu",
    "-a.com/gpu",
    "amd.com/gpu/x",
    "amd.com/-gpu",
    "amd.com/gpu_",
    "amd com/gpu",
    "amd.com/gp\u00fc",
    "hugepages-",
    "hugepages-2mi",
    `a.com/${"x".repeat(64)}`,
    `${"a".repeat(254)}/x`,
  ])("%s is refused", (name) => {
    expect(read(name)).toEqual({
      [`extended[${name.slice(0, 80)}]`]: expect.stringContaining('for example "amd.com/gpu"'),
    });
  });

  it.each([
    ["cpu", "cpu"],
    ["memory", "memory"],
    ["ephemeral-storage", "storage"],
  ])("%s is sent to its own field", (name, field) => {
    expect(read(name)).toEqual({ [`extended[${name}]`]: `has a field of its own: write it as "${field}".` });
  });

  it("of a million characters is refused at once", () => {
    expect(Object.values(read("a.".repeat(500_000)))).toEqual(["the name of the resource is too long."]);
  });

  it("leaves every object's prototype alone", () => {
    problemsOf(JSON.parse('{"cpu": 1, "memory": 1, "extended": {"__proto__": {"polluted": 1}}}') as object);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("what is printed reads back as the same resources", () => {
  const amount = fc.oneof(
    fc.nat(5000),
    fc.nat(2 ** 20).map((number) => number * 2 ** 20),
    fc.maxSafeNat(),
  );
  const vector = fc
    .record({
      cpuMillis: amount,
      memoryBytes: amount,
      storageBytes: amount,
      gpus: amount,
      extended: fc.dictionary(
        fc.constantFrom("amd.com/gpu", "a.example/constructor", "hugepages-2Mi"),
        amount,
      ),
    })
    .map(resourceVector);

  it.each(["up", "down"] as const)("rounded %s", (rounding) => {
    fc.assert(
      fc.property(vector, (resources) => {
        expect(parseResources(formatResources(resources), rounding)).toEqual({ ok: true, resources });
      }),
    );
  });
});
