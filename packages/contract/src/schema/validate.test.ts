import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { advertisementSchema } from "../wire/advertisement.ts";
import { idempotencyKeySchema, reservationListSchema } from "../wire/reservation.ts";
import { reservationRequestSchema } from "../wire/reservation-request.ts";
import * as t from "./builders.ts";
import type { Schema } from "./node.ts";
import { describeProblem, MAX_PROBLEMS } from "./problem.ts";
import { dnsLabel, labelKey, labelValue } from "./terms.ts";
import { validate, validateExactly } from "./validate.ts";

const request = { requestedResources: { cpu: "500m", memory: "512Mi" } };
const withCpu = (cpu: unknown) => ({ requestedResources: { ...request.requestedResources, cpu } });

function problemsOf(input: unknown): string[] {
  const result = validate(reservationRequestSchema, input);
  return result.ok ? [] : result.problems.map(describeProblem);
}

describe("a reservation request", () => {
  test.each([
    ["quantities as Kubernetes writes them", request],
    ["whole numbers without quotes", { requestedResources: { cpu: 2, memory: 1073741824 } }],
    ["null for an optional field", { ...request, duration: null, constraints: null, priority: null }],
    ["a duration as Go writes it", { ...request, duration: "1h30m" }],
    ["a time with nine digits and an offset", { ...request, start: "2026-07-01T12:00:00.123456789+02:00" }],
    [
      "fields of newer peers",
      { ...request, colour: "red", requestedResources: { ...request.requestedResources, tpu: 1 } },
    ],
  ])("accepts %s", (_, input) => {
    expect(problemsOf(input)).toEqual([]);
  });

  test.each([
    ["no body", undefined, "undefined must be an object"],
    ["a list", [], "a list must be an object"],
    [
      "a missing field",
      { requestedResources: { cpu: "1" } },
      "requestedResources.memory: is required; write for example 512Mi or 8Gi",
    ],
    [
      "null for a required field",
      withCpu(null),
      "requestedResources.cpu: is required; write for example 500m or 2",
    ],
    [
      "a word",
      withCpu("abc"),
      'requestedResources.cpu: "abc" is not a quantity: it must start with a number. Write for example "500m", "2", "1.5" or "8Gi".',
    ],
    [
      "a boolean",
      withCpu(true),
      "requestedResources.cpu: true is not a quantity; write for example 500m or 2",
    ],
    [
      "a fraction without quotes",
      withCpu(0.5),
      'requestedResources.cpu: 0.5 is not a whole number; write it in quotes, for example "500m" or "1.5"',
    ],
    ["zero", withCpu("0"), 'requestedResources.cpu: "0" must be more than 0'],
    ["minus one", withCpu("-1"), 'requestedResources.cpu: "-1" must be more than 0'],
    ["a negative number", withCpu(-1), 'requestedResources.cpu: "-1" must be more than 0'],
    [
      "negative GPUs",
      { requestedResources: { cpu: 1, memory: 1, gpu: "-1" } },
      'requestedResources.gpu: "-1" must not be negative',
    ],
    [
      "a duration in words",
      { ...request, duration: "5 minutes" },
      'duration: "5 minutes" is not a duration; write for example 90s, 15m or 1h30m',
    ],
    [
      "a negative duration",
      { ...request, duration: "-5m" },
      'duration: "-5m" is negative; write for example 1h30m',
    ],
    [
      "no duration at all",
      { ...request, duration: "0s" },
      'duration: "0s" must be more than 0; write for example 1h30m',
    ],
    [
      "a day that does not exist",
      { ...request, start: "2026-02-30T00:00:00Z" },
      'start: "2026-02-30T00:00:00Z" is not a time; write for example 2026-07-01T10:00:00Z (RFC 3339)',
    ],
    ["an unknown tier", { ...request, tier: "cheap" }, 'tier: "cheap" is not one of on-demand, spot'],
    ["a fraction of a priority", { ...request, priority: 1.5 }, "priority: 1.5 must be a whole number"],
    [
      "a flag as cluster ID",
      { ...request, targetClusterID: "--help" },
      "targetClusterID: \"--help\" is not a cluster ID: lower-case letters, digits, '-' and single '.', at most 63 of them; write for example paris",
    ],
    [
      "a long cluster ID",
      { ...request, targetClusterID: "a".repeat(64) },
      "targetClusterID: is 64 characters long; at most 63 are allowed",
    ],
    [
      "an empty perNode",
      { ...request, perNode: {} },
      "perNode: must have at least one of cpu, memory, gpu, storage, extended",
    ],
    [
      "a resource without a domain",
      { ...request, extended: { constructor: "1" } },
      'extended.constructor: "constructor" is not an extended resource name with its domain, such as amd.com/gpu',
    ],
    [
      "a label that is no text",
      { ...request, constraints: { labels: { "a.b/c": 1 } } },
      'constraints.labels["a.b/c"]: 1 must be a text',
    ],
    [
      "a wrong item of a list",
      { ...request, constraints: { excludeClusters: ["rome", ""] } },
      "constraints.excludeClusters[1]: \"\" is not a cluster ID: lower-case letters, digits, '-' and single '.', at most 63 of them",
    ],
    [
      "half a GPU",
      { requestedResources: { ...request.requestedResources, gpu: "500m" } },
      'requestedResources.gpu: "500m" is not a whole number; write for example 1',
    ],
    [
      "a part of a device on one node",
      { ...request, perNode: { extended: { "amd.com/gpu": "1.5" } } },
      'perNode.extended["amd.com/gpu"]: "1.5" is not a whole number; write for example 1',
    ],
    [
      "a control character",
      { ...request, constraints: { regions: ["eu\u001b[2J"] } },
      'constraints.regions[0]: "eu\\u001b[2J" is not one line of plain text',
    ],
  ])("refuses %s", (_, input, expected) => {
    expect(problemsOf(input)).toEqual([expected]);
  });

  test("puts a mark in place of what hides or turns text, and takes a key exactly as it is", () => {
    const result = validate(reservationRequestSchema, {
      ...request,
      constraints: { regions: ["eu\u202e\u200b"] },
    });
    expect(result).toMatchObject({ ok: true, value: { constraints: { regions: ["eu\ufffd\ufffd"] } } });
    expect(validate(idempotencyKeySchema, "a\u00ad")).toEqual({ ok: true, value: "a\u00ad" });
  });

  test.each(["0", "1", "+2", "1.0", "2k", "1Ki", "1e3", "1000m", "0m"])("counts %s GPUs", (gpu) => {
    const asked = { ...request, requestedResources: { ...request.requestedResources, gpu } };
    expect(validate(reservationRequestSchema, asked).ok).toBe(true);
  });

  test("keeps only what the schema names", () => {
    const result = validate(reservationRequestSchema, { ...request, colour: "red", priority: null });
    expect(result).toEqual({ ok: true, value: request });
    expect(result.ok && Object.keys(result.value)).toEqual(["requestedResources"]);
  });

  test("makes texts of numbers", () => {
    const result = validate(reservationRequestSchema, withCpu(2));
    expect(result.ok && result.value.requestedResources.cpu).toBe("2");
  });
});

describe("any input", () => {
  const schema = t.object({
    labels: t.optional(t.record(labelKey(), labelValue(), 3), "Labels."),
    names: t.optional(t.array(dnsLabel(), 20, { minItems: 1 }), "Names."),
    size: t.optional(t.integer(1, 5), "Size."),
    word: t.required(t.nonEmptyLine(3), "A word."),
  });

  test("names of prototypes are ordinary names", () => {
    const input: unknown = JSON.parse(
      '{"word":"a","__proto__":{"size":9},"labels":{"constructor":"x","toString":"y"}}',
    );
    const result = validate(schema, input);
    expect(result.ok).toBe(true);
    if (!result.ok) return;
    expect(Object.keys(result.value)).toEqual(["labels", "word"]);
    expect(result.value.labels?.["hasOwnProperty"]).toBeUndefined();
    expect(result.value.labels?.["constructor"]).toBe("x");
  });

  test("__proto__ is never taken as a name", () => {
    const input: unknown = JSON.parse('{"word":"a","labels":{"__proto__":"x"}}');
    expect(validate(schema, input).ok).toBe(false);
  });

  test("inherited fields do not count", () => {
    expect(validate(schema, Object.create({ word: "a" }))).toMatchObject({ ok: false });
  });

  test("a surrogate pair is one character", () => {
    expect(validate(schema, { word: "😀😀😀" }).ok).toBe(true);
    expect(validate(schema, { word: "😀😀😀😀" }).ok).toBe(false);
  });

  test.each([
    [{ word: "a", labels: { a: "", b: "", c: "", d: "" } }, "labels: has 4 entries; at most 3 are allowed"],
    [{ word: "a", names: [] }, "names: has 0 items; at least 1 are needed"],
    [
      { word: "a", names: Array.from({ length: 21 }, () => "x") },
      "names: has 21 items; at most 20 are allowed",
    ],
    [{ word: "a", size: 0 }, "size: 0 must be at least 1"],
    [{ word: "a", size: 6 }, "size: 6 must be at most 5"],
    [{ word: "" }, "word: must not be empty"],
  ])("%j is out of bounds", (input, expected) => {
    const result = validate(schema, input);
    expect(result.ok ? [] : result.problems.map(describeProblem)).toEqual([expected]);
  });

  test("reports at most ten problems, however many there are", () => {
    const result = validate(schema, { names: Array.from({ length: 20 }, () => "Wrong!") });
    expect(result.ok ? [] : result.problems).toHaveLength(MAX_PROBLEMS);
  });

  test("shows of a name without end only its beginning, however plain it is", () => {
    const [problem = ""] = problemsOf({ ...request, extended: { ["a".repeat(70_000)]: "1" } });
    expect(problem).toContain(`extended.${"a".repeat(40)}…: `);
    expect(problem.length).toBeLessThan(300);
  });

  test("never makes the validator throw", () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true }), (input) => {
        const known: readonly Schema<unknown>[] = [schema, advertisementSchema, reservationListSchema];
        for (const each of known) {
          validate(each, input);
          validateExactly(each, input);
        }
      }),
    );
  });
});

describe("what a person wrote by hand", () => {
  const schema = t.object({
    weights: t.optional(t.integer(0, 9), "Weights."),
    staleness: t.optional(t.integer(0, 9), "Staleness."),
  });

  test.each([
    [{ weigths: 1 }, 'weigths: is not known here; did you mean "weights"?'],
    [{ colour: 1 }, "colour: is not known here; known here are weights, staleness"],
    [JSON.parse('{"__proto__": 1}'), "__proto__: is not known here; known here are weights, staleness"],
  ])("%j is refused with advice", (input, expected) => {
    const result = validateExactly(schema, input);
    expect(result.ok ? [] : result.problems.map(describeProblem)).toEqual([expected]);
  });
});

test("an empty list may be null where older peers write it so", () => {
  expect(validate(reservationListSchema, null)).toEqual({ ok: true, value: [] });
});
