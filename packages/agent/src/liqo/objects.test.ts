import { differences, isSameList } from "./objects.ts";
import { describe, expect, test } from "vitest";

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
