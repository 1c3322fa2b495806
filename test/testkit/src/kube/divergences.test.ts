import { describe, expect, test } from "vitest";
import { DIVERGENCES, keepOrDiverge } from "./divergences.ts";
import { KUBE_PROMISES } from "./kube-conformance.ts";
import type { KubePromise, KubeUnderTest } from "./kube-promise.ts";

// Nothing of it is used: the promises below are kept or broken by themselves.
const server = { kind: "kube-sim" } as KubeUnderTest;
const kept: KubePromise = { name: "it holds", keep: () => Promise.resolve() };
const broken: KubePromise = { name: "it holds", keep: () => Promise.reject(new Error("no room left")) };
const listed = (says: RegExp, brokenBy: KubeUnderTest["kind"] = "kube-sim") => [
  { promise: "it holds", brokenBy, says, reason: "there is little room" },
];

describe("a promise and the list of divergences", () => {
  test.each([
    ["kept and not listed", kept, []],
    ["broken as listed", broken, listed(/no room/u)],
    ["kept, and listed for the other server", kept, listed(/no room/u, "real")],
  ])("pass when it is %s", async (_, promise, divergences) => {
    await expect(keepOrDiverge(promise, server, divergences)).resolves.toBeUndefined();
  });

  test.each([
    ["broken and not listed", broken, [], "no room left"],
    ["broken, and listed for the other server", broken, listed(/no room/u, "real"), "no room left"],
    ["broken in another way than listed", broken, listed(/no light/u), "no room left"],
    ["listed, but kept", kept, listed(/no room/u), "take it off the list of divergences"],
  ])("fail when it is %s", async (_, promise, divergences, message) => {
    await expect(keepOrDiverge(promise, server, divergences)).rejects.toThrow(message);
  });

  test("every divergence is of a promise that there is", () => {
    const names = KUBE_PROMISES.map(({ name }) => name);
    expect(DIVERGENCES.map(({ promise }) => promise).filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
