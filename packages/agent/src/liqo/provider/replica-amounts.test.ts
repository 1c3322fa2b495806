import { countedResources } from "@resource-broker/accounting";
import type { ReservationDTO } from "@resource-broker/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ResourceList } from "../objects/authentication.ts";
import { amountProblem, cappedAmounts, isSameList } from "./replica-amounts.ts";
import { ASKED, aProviderReservation } from "./testing/provider-test-environment.ts";

const TERMS = {
  counted: countedResources({
    gpuResources: ["nvidia.com/gpu", "amd.com/gpu"],
    extendedResources: ["example.com/fpga", "hugepages-2Mi"],
  }),
};
const RESERVED: ReservationDTO["requestedResources"] = { cpu: "4", memory: "8Gi" };
const PLENTY: ReservationDTO["requestedResources"] = {
  cpu: "4",
  memory: "8Gi",
  gpu: "2",
  storage: "50Gi",
  extended: { "example.com/fpga": "1" },
};

function problemOf(asked: object, requestedResources = RESERVED): string {
  const problem = amountProblem(asked as ResourceList, aProviderReservation({ requestedResources }), TERMS);
  return problem === undefined ? "none" : problem.reason;
}

describe("a slice may ask", () => {
  const rows: readonly (readonly [string, object, ReservationDTO["requestedResources"]?])[] = [
    ["for exactly what is reserved, and the usual pods and scratch space", ASKED],
    ["for less", { cpu: "1", memory: "1Gi", pods: "5" }],
    ["in other words", { cpu: "4000m", memory: "8589934592", pods: 110, "ephemeral-storage": "20480Mi" }],
    ["with numbers", { cpu: 4, memory: 8589934592 }],
    ["for reserved GPUs", { ...ASKED, "nvidia.com/gpu": "2" }, PLENTY],
    ["for reserved GPUs of two kinds", { ...ASKED, "nvidia.com/gpu": "1", "amd.com/gpu": "1" }, PLENTY],
    ["for reserved storage", { ...ASKED, "ephemeral-storage": "50Gi" }, PLENTY],
    ["for more pods than it gets", { ...ASKED, pods: "111" }],
    ["for more scratch space than it gets", { ...ASKED, "ephemeral-storage": "20481Mi" }],
    ["for a reserved extended resource", { ...ASKED, "example.com/fpga": "1" }, PLENTY],
  ];
  const filled = rows.map(([name, asked, reserved = RESERVED]) => [name, asked, reserved] as const);
  test.each(filled)("%s", (_, asked, reserved) => {
    expect(problemOf(asked, reserved)).toBe("none");
  });
});

describe("a slice is refused that asks", () => {
  const rows: readonly (readonly [string, object, string, ReservationDTO["requestedResources"]?])[] = [
    ["for a thousandth of a CPU too much", { ...ASKED, cpu: "4001m" }, "TooMuch"],
    ["for a fraction of that", { ...ASKED, cpu: "4.0000001" }, "TooMuch"],
    ["for a byte too much", { ...ASKED, memory: "8589934593" }, "TooMuch"],
    ["for more storage than reserved", { ...ASKED, "ephemeral-storage": "51Gi" }, "TooMuch", PLENTY],
    ["for a GPU too many", { ...ASKED, "nvidia.com/gpu": "3" }, "TooMuch", PLENTY],
    [
      "for GPUs of two kinds that are too many together",
      { ...ASKED, "nvidia.com/gpu": "2", "amd.com/gpu": "1" },
      "TooMuch",
      PLENTY,
    ],
    ["for a GPU where none is reserved", { ...ASKED, "nvidia.com/gpu": "1" }, "NotReserved"],
    ["for no GPU where none is reserved", { ...ASKED, "nvidia.com/gpu": "0" }, "NotReserved"],
    ["for an extended resource that is not reserved", { ...ASKED, "example.com/fpga": "1" }, "NotReserved"],
    ["for another one than is reserved", { ...ASKED, "hugepages-2Mi": "2Mi" }, "NotReserved", PLENTY],
    ["for something nobody knows", { ...ASKED, "requests.cpu": "1" }, "NotReserved"],
    ["for what every object has", { ...ASKED, constructor: "1" }, "NotReserved"],
    ["for a prototype", JSON.parse('{"cpu": "1", "__proto__": "1"}') as object, "NotReserved"],
    ["for a negative amount", { ...ASKED, cpu: "-1" }, "UnreadableAmount"],
    ["for a negative fraction", { ...ASKED, memory: "-1u" }, "UnreadableAmount"],
    ["for more than can be counted", { ...ASKED, memory: "16Ei" }, "UnreadableAmount"],
    ["for a power that takes forever", { ...ASKED, cpu: "1e1000000000" }, "UnreadableAmount"],
    ["for a text of a megabyte", { ...ASKED, cpu: "1".repeat(1_000_000) }, "UnreadableAmount"],
    ["for words", { ...ASKED, cpu: "four" }, "UnreadableAmount"],
    ["for an empty text", { ...ASKED, cpu: "" }, "UnreadableAmount"],
    ["for an object", { ...ASKED, cpu: { valueOf: "4" } }, "UnreadableAmount"],
    ["for null", { ...ASKED, cpu: null }, "UnreadableAmount"],
    ["for something unreadable that is not reserved either", { "a.example/x": "y" }, "UnreadableAmount"],
    ["for nothing", {}, "NothingAsked"],
    [
      "for a thousand things",
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a.example/${index}`, "1"])),
      "NotReserved",
    ],
    ["for anything of a reservation that cannot be read", ASKED, "NotReserved", { cpu: "?", memory: "8Gi" }],
  ];
  const filled = rows.map(
    ([name, asked, reason, reserved = RESERVED]) => [name, asked, reason, reserved] as const,
  );
  test.each(filled)("%s", (_, asked, reason, reserved) => {
    expect(problemOf(asked, reserved)).toBe(reason);
  });

  test("and is told what was asked for and what is reserved", () => {
    const problem = amountProblem({ cpu: "5" }, aProviderReservation(), TERMS);
    expect(problem?.message).toBe("cpu: it asks for 5, and 4 is reserved");
  });
});

describe("capping", () => {
  test("is written again, however its consumer wrote it", () => {
    const given = { cpu: "+2e0", memory: "1073741824", pods: "1e1" };
    expect(cappedAmounts(given, aProviderReservation(), TERMS)).toEqual({
      cpu: "2",
      memory: "1Gi",
      pods: "10",
    });
  });

  test("leaves what is reserved of what was given, and drops the rest", () => {
    const given = {
      cpu: "64",
      memory: "1Gi",
      pods: "1000",
      "nvidia.com/gpu": "8",
      "a.example/x": "1",
      wrong: "?",
    };
    expect(cappedAmounts(given, aProviderReservation(), TERMS)).toEqual({
      cpu: "4",
      memory: "1Gi",
      pods: "110",
    });
  });

  test.each([
    ["the usual ones", undefined, { pods: "110", "ephemeral-storage": "20Gi" }],
    [
      "fewer than the usual ones",
      { pods: 50, ephemeralStorage: "5Gi" },
      { pods: "50", "ephemeral-storage": "5Gi" },
    ],
    [
      "more than the usual ones",
      { pods: 500, ephemeralStorage: "1Ti" },
      { pods: "500", "ephemeral-storage": "1Ti" },
    ],
  ])("leaves of what nobody reserved what this cluster was told: %s", (_, sliceDefaults, expected) => {
    const spec = aProviderReservation(sliceDefaults === undefined ? {} : { sliceDefaults });
    expect(cappedAmounts({ pods: "1000", "ephemeral-storage": "9Ti" }, spec, TERMS)).toEqual(expected);
  });

  const amount = fc.oneof(
    fc.nat(10_000).map(String),
    fc.constantFrom("-1", "x", "1e30", "0.5", "8Gi", "4001m"),
  );
  const list = fc.dictionary(
    fc.constantFrom(
      "cpu",
      "memory",
      "pods",
      "ephemeral-storage",
      "nvidia.com/gpu",
      "amd.com/gpu",
      "x.example/y",
    ),
    amount,
  );
  const reserved = fc.record({
    cpu: fc.nat(8).map(String),
    memory: fc.nat(16).map((size) => `${size}Gi`),
    gpu: fc.nat(4).map(String),
  });

  test("never leaves more than a slice might ask for, and changes nothing of what it might", () => {
    fc.assert(
      fc.property(list, reserved, (given, requestedResources) => {
        const spec = aProviderReservation({ requestedResources });
        const capped = cappedAmounts(given, spec, TERMS);
        const left = amountProblem(capped, spec, TERMS);
        expect(left === undefined || left.reason === "NothingAsked").toBe(true);
        const isFine = amountProblem(given, spec, TERMS) === undefined;
        if (isFine) expect(Object.keys(capped)).toEqual(Object.keys(given));
      }),
    );
  });
});

describe("two lists are the same", () => {
  const rows: readonly (readonly [string, ResourceList, ResourceList, boolean])[] = [
    [
      "when the amounts are, however they are written",
      { cpu: "1", memory: "1Gi" },
      { memory: "1024Mi", cpu: 1 },
      true,
    ],
    ["when both are empty", {}, {}, true],
    ["but not when one names more", { cpu: "1" }, { cpu: "1", memory: "1" }, false],
    ["but not when they name others", { cpu: "1" }, { memory: "1" }, false],
    ["but not when an amount differs", { cpu: "1" }, { cpu: "1001m" }, false],
    ["but not when one cannot be read", { cpu: "1" }, { cpu: "?" }, false],
  ];
  test.each(rows)("%s", (_, a, b, isSame) => {
    expect(isSameList(a, b)).toBe(isSame);
    expect(isSameList(b, a)).toBe(isSame);
  });
});
