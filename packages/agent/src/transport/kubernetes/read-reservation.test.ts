import type { Reservation } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { readReservation } from "./read-reservation.ts";
import { reservationObject } from "./testing/objects.ts";

type SliceDefaultsStatus = NonNullable<Reservation["status"]>["sliceDefaults"];

describe("a Reservation's slice defaults", () => {
  test("are told to both parties", () => {
    const sliceDefaults = { pods: 50, ephemeralStorage: "5Gi" };
    const object = reservationObject("rsv-rome-a", { sliceDefaults });
    for (const role of ["requester", "provider"] as const) {
      expect(readReservation(object, role)?.reservation.sliceDefaults).toEqual(sliceDefaults);
    }
  });

  test("may be missing", () => {
    const received = readReservation(reservationObject("rsv-rome-a"), "requester");
    expect(received?.reservation).not.toHaveProperty("sliceDefaults");
  });

  test.each<[string, unknown]>([
    ["no pods", { pods: 0, ephemeralStorage: "5Gi" }],
    ["a negative number of pods", { pods: -1, ephemeralStorage: "5Gi" }],
    ["more pods than any node runs", { pods: 1e9, ephemeralStorage: "5Gi" }],
    ["half a pod", { pods: 0.5, ephemeralStorage: "5Gi" }],
    ["no storage", { pods: 50, ephemeralStorage: "0" }],
    ["less than no storage", { pods: 50, ephemeralStorage: "-5Gi" }],
    ["words", { pods: 50, ephemeralStorage: "plenty" }],
    ["half of it", { pods: 50 }],
    ["something else", "many"],
  ])("of %s are refused", (_, sliceDefaults) => {
    const object = reservationObject("rsv-rome-a", {
      sliceDefaults: sliceDefaults as NonNullable<SliceDefaultsStatus>,
    });
    expect(() => readReservation(object, "provider")).toThrow("sliceDefaults");
  });
});
