import { describe, expect, test } from "vitest";
import { differences, isSameList, sliceAmounts, unreservedNames } from "./slice-amounts.ts";
import { TERMS } from "./testing/samples.ts";

describe("what a slice asks for", () => {
  test.each([
    [
      "states what nobody reserved, since Liqo would add its own",
      { cpu: "4", memory: "8Gi" },
      { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
    ],
    [
      "takes over storage, GPUs and others",
      { cpu: "500m", memory: "1Gi", storage: "5Gi", gpu: "2", extended: { "example.com/fpga": "1" } },
      {
        cpu: "500m",
        memory: "1Gi",
        pods: "110",
        "ephemeral-storage": "5Gi",
        "nvidia.com/gpu": "2",
        "example.com/fpga": "1",
      },
    ],
    [
      "names nothing of which there is none",
      { cpu: "1", memory: "1Gi", storage: "0", gpu: "0", extended: { "example.com/fpga": "0" } },
      { cpu: "1", memory: "1Gi", pods: "110", "ephemeral-storage": "20Gi" },
    ],
  ])("%s", (_, quantities, expected) => {
    expect(sliceAmounts({ quantities }, TERMS)).toEqual(expected);
  });

  test("is the broker's word where nobody reserved it, and only there", () => {
    const sliceDefaults = { pods: 50, ephemeralStorage: "5Gi" };
    const reserved = { cpu: "4", memory: "8Gi" };
    expect(sliceAmounts({ quantities: reserved, sliceDefaults }, TERMS)).toEqual({
      ...reserved,
      pods: "50",
      "ephemeral-storage": "5Gi",
    });
    const withStorage = { quantities: { ...reserved, storage: "30Gi" }, sliceDefaults };
    expect(sliceAmounts(withStorage, TERMS)).toMatchObject({ pods: "50", "ephemeral-storage": "30Gi" });
    expect(unreservedNames(withStorage)).toEqual(["pods"]);
  });
});

describe("amounts", () => {
  test("are compared by what they mean", () => {
    const found = { cpu: 4, memory: "8589934592", "hugepages-1Gi": "0" };
    expect(differences({ cpu: "4", memory: "8Gi" }, found)).toEqual([]);
    expect(isSameList({ cpu: "4" }, { cpu: "4000m" })).toBe(true);
    expect(isSameList({ cpu: "4" }, { cpu: "4", pods: "1" })).toBe(false);
    expect(isSameList({ cpu: "4" }, undefined)).toBe(false);
  });

  test.each([
    [{ cpu: "3" }, "cpu is 3 instead of 4"],
    [{}, "cpu is missing instead of 4"],
    [undefined, "cpu is missing instead of 4"],
    [{ cpu: "4", "nvidia.com/gpu": "1" }, "nvidia.com/gpu is 1, and none is reserved"],
    [{ cpu: "many" }, "cpu is many instead of 4"],
  ])("that differ are named: %j", (found, expected) => {
    expect(differences({ cpu: "4" }, found)).toEqual([expected]);
  });

  test.each([
    ["less will do", "50", []],
    ["none will not", "0", ["pods is 0 instead of 110"]],
    ["more will not", "111", ["pods is 111 instead of 110"]],
    ["words will not", "many", ["pods is many instead of 110"]],
  ])("of what nobody reserved: %s", (_, pods, expected) => {
    expect(differences({ cpu: "4", pods: "110" }, { cpu: "4", pods }, ["pods"])).toEqual(expected);
  });
});
