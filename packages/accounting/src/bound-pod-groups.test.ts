import { equals, type ResourceVector, resourceVector } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundPodGroups } from "./bound-pod-groups.ts";
import type { GuestFacts } from "./node-accounting.ts";
import { aGuest } from "./testing/facts.ts";

const small = resourceVector({ cpuMillis: 100, memoryBytes: 64 });
const ask = (request: ResourceVector, guest?: GuestFacts) => ({ request, guest, unreadable: false });

describe("what pods ask for", () => {
  it.each([
    ["alike", small, aGuest("rsv-a"), true],
    ["of another size", { ...small, memoryBytes: 65 }, aGuest("rsv-a"), false],
    ["with another resource", { ...small, extended: { "example.com/fpga": 1 } }, aGuest("rsv-a"), false],
    ["of another slice", small, aGuest("rsv-b"), false],
    ["of another cluster", small, aGuest("rsv-a", "oslo-liqo"), false],
    ["of the cluster's own", small, undefined, false],
    ["that could not be read", small, aGuest("rsv-a"), false, true],
  ])(
    "is shared with pods that are alike, not with those %s",
    (_, request, guest, isShared, unreadable = false) => {
      const all = boundPodGroups();
      const first = all.add(ask({ ...small }, aGuest("rsv-a")));
      expect(all.add({ ...ask(request, guest), unreadable }) === first).toBe(isShared);
    },
  );

  it("is forgotten with the last pod, and its number used again", () => {
    const all = boundPodGroups();
    const first = all.add(ask(small));
    all.add(ask(small));
    all.remove(first.number);
    expect(all.add(ask(small))).toBe(first);
    all.remove(first.number);
    expect(all.remove(first.number)).toBe(first);
    const next = all.add(ask(small));
    expect(next).not.toBe(first);
    expect(next.number).toBe(first.number);
    expect(() => all.remove(first.number + 1)).toThrow(`there is no pod group ${first.number + 1}`);
  });

  it("is told apart however many there are, and released one by one", () => {
    const amount = fc.oneof(
      fc.nat(3),
      fc.nat(3).map((n) => n * 2 ** 40),
    );
    const vector = fc
      .record({ cpuMillis: amount, memoryBytes: amount, storageBytes: amount, gpus: fc.nat(2) })
      .map(resourceVector);
    fc.assert(
      fc.property(fc.array(vector, { maxLength: 60, size: "max" }), (requests) => {
        const all = boundPodGroups();
        const taken = requests.map((request) => all.add(ask(request)));
        taken.forEach(({ request }, index) => {
          const asked = requests[index];
          expect(asked !== undefined && equals(request, asked)).toBe(true);
        });
        const distinct = requests.filter((a, index) => requests.findIndex((b) => equals(a, b)) === index);
        expect(new Set(taken).size).toBe(distinct.length);
        for (const { number } of taken) all.remove(number);
        for (const { number } of taken) expect(() => all.remove(number)).toThrow("there is no pod group");
      }),
    );
  });
});
