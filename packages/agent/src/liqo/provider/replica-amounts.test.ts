import { countedResources } from "@resource-broker/accounting";
import type { ReservationDTO } from "@resource-broker/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResourceList } from "../objects.ts";
import { amountProblem, cappedAmounts } from "./replica-amounts.ts";
import { ASKED, aProviderReservation } from "./testing/provider-test-environment.ts";

const COUNTED = countedResources({
  gpuResources: ["nvidia.com/gpu", "amd.com/gpu"],
  extendedResources: ["example.com/fpga", "hugepages-2Mi"],
});
const RESERVED: ReservationDTO["requestedResources"] = { cpu: "4", memory: "8Gi" };
const PLENTY = { ...RESERVED, gpu: "2", storage: "50Gi", extended: { "example.com/fpga": "1" } };
const MANY = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a.example/${index}`, "1"]));

const problemOf = (asked: object, requestedResources = RESERVED) =>
  amountProblem(asked as ResourceList, aProviderReservation({ requestedResources }), COUNTED);
const asked = (more: object): object => ({ ...ASKED, ...more });

describe("what a slice asks for", () => {
  test.each<[string, string, object, ReservationDTO["requestedResources"]?]>([
    ["exactly what is reserved, and the usual pods and scratch space", "none", ASKED],
    ["less", "none", { cpu: "1", memory: "1Gi", pods: "5" }],
    ["other words", "none", { cpu: "4000m", memory: "8589934592", "ephemeral-storage": "20480Mi" }],
    ["numbers", "none", { cpu: 4, memory: 8589934592, pods: 110 }],
    ["GPUs of two kinds", "none", asked({ "nvidia.com/gpu": "1", "amd.com/gpu": "1" }), PLENTY],
    ["reserved storage", "none", asked({ "ephemeral-storage": "50Gi" }), PLENTY],
    ["more pods than it gets", "none", asked({ pods: "111" })],
    ["more scratch space than it gets", "none", asked({ "ephemeral-storage": "20481Mi" })],
    ["a reserved extended resource", "none", asked({ "example.com/fpga": "1" }), PLENTY],

    ["a thousandth of a CPU too much", "TooMuch", asked({ cpu: "4001m" })],
    ["a fraction of that", "TooMuch", asked({ cpu: "4.0000001" })],
    ["a byte too much", "TooMuch", asked({ memory: "8589934593" })],
    ["more storage than reserved", "TooMuch", asked({ "ephemeral-storage": "51Gi" }), PLENTY],
    ["too many GPUs together", "TooMuch", asked({ "nvidia.com/gpu": "2", "amd.com/gpu": "1" }), PLENTY],
    ["a GPU where none is reserved", "NotReserved", asked({ "nvidia.com/gpu": "1" })],
    ["no GPU where none is reserved", "NotReserved", asked({ "nvidia.com/gpu": "0" })],
    ["an extended resource that is not reserved", "NotReserved", asked({ "example.com/fpga": "1" })],
    ["another one than is reserved", "NotReserved", asked({ "hugepages-2Mi": "2Mi" }), PLENTY],
    ["something nobody knows", "NotReserved", asked({ "requests.cpu": "1" })],
    ["what every object has", "NotReserved", asked({ constructor: "1" })],
    ["a prototype", "NotReserved", JSON.parse('{"cpu": "1", "__proto__": "1"}') as object],
    ["a thousand things", "NotReserved", MANY],
    ["something of an unreadable reservation", "NotReserved", ASKED, { cpu: "?", memory: "8Gi" }],
    ["a negative amount", "UnreadableAmount", asked({ cpu: "-1" })],
    ["a negative fraction", "UnreadableAmount", asked({ memory: "-1u" })],
    ["more than can be counted", "UnreadableAmount", asked({ memory: "16Ei" })],
    ["a power that takes forever", "UnreadableAmount", asked({ cpu: "1e1000000000" })],
    ["a text of a megabyte", "UnreadableAmount", asked({ cpu: "1".repeat(1_000_000) })],
    ["words", "UnreadableAmount", asked({ cpu: "four" })],
    ["an empty text", "UnreadableAmount", asked({ cpu: "" })],
    ["an object", "UnreadableAmount", asked({ cpu: { valueOf: "4" } })],
    ["null", "UnreadableAmount", asked({ cpu: null })],
    ["something unreadable that is not reserved either", "UnreadableAmount", { "a.example/x": "y" }],
    ["nothing", "NothingAsked", {}],
  ])("%s: %s", (_, reason, resources, reserved) => {
    expect(problemOf(resources, reserved)?.reason ?? "none").toBe(reason);
  });

  test("is told beside what is reserved", () => {
    expect(problemOf({ cpu: "5" })?.message).toBe("cpu: it asks for 5, and 4 is reserved");
  });
});

describe("what a slice is limited to", () => {
  const LESS = { pods: 50, ephemeralStorage: "5Gi" };
  test.each<[string, object, Partial<ReservationDTO>, object]>([
    [
      "is written again, however its consumer wrote it",
      { cpu: "+2e0", memory: "1073741824", pods: "1e1" },
      {},
      { cpu: "2", memory: "1Gi", pods: "10" },
    ],
    [
      "is what is reserved of what was given, without the rest",
      { cpu: "64", memory: "1Gi", "nvidia.com/gpu": "8", "a.example/x": "1", wrong: "?" },
      {},
      { cpu: "4", memory: "1Gi" },
    ],
    [
      "is the usual of what nobody reserved",
      { pods: "1000", "ephemeral-storage": "9Ti" },
      {},
      { pods: "110", "ephemeral-storage": "20Gi" },
    ],
    [
      "is what this cluster was told of it",
      { pods: "1000", "ephemeral-storage": "9Ti" },
      { sliceDefaults: LESS },
      { pods: "50", "ephemeral-storage": "5Gi" },
    ],
  ])("%s", (_, given, reservation, expected) => {
    expect(cappedAmounts(given as ResourceList, aProviderReservation(reservation), COUNTED)).toEqual(
      expected,
    );
  });

  const amount = fc.oneof(
    fc.nat(10_000).map(String),
    fc.constantFrom("-1", "x", "1e30", "0.5", "8Gi", "4001m"),
  );
  const names = [
    "cpu",
    "memory",
    "pods",
    "ephemeral-storage",
    "nvidia.com/gpu",
    "amd.com/gpu",
    "x.example/y",
  ];
  const reserved = fc.record({
    cpu: fc.nat(8).map(String),
    memory: fc.nat(16).map((size) => `${size}Gi`),
    gpu: fc.nat(4).map(String),
  });

  test("is never more than a slice might ask for, and all of what it might", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), amount), reserved, (given, requestedResources) => {
        const reservation = aProviderReservation({ requestedResources });
        const capped = cappedAmounts(given, reservation, COUNTED);
        const left = amountProblem(capped, reservation, COUNTED);
        expect(left === undefined || left.reason === "NothingAsked").toBe(true);
        const isFine = amountProblem(given, reservation, COUNTED) === undefined;
        if (isFine) expect(Object.keys(capped)).toEqual(Object.keys(given));
      }),
    );
  });
});
