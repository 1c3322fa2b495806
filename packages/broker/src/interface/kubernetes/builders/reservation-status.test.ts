import { resourceVector } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import type { Reservation as ReservationObject } from "@resource-broker/contract/crd";
import { apply, emptyLedger, type Reservation } from "@resource-broker/domain";
import { clusterOf } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { personsReservation } from "../testing/samples.ts";
import { foreignFields, isStatusCurrent, refusedStatus, reservationStatus } from "./reservation-status.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const granted = resourceVector({ cpuMillis: 4000, memoryBytes: 8 * 2 ** 30 });
const reservation: Reservation = {
  id: "rsv-rome-abcdefghijklmnop",
  requester: "rome",
  provider: "paris",
  granted,
  request: { resources: granted, priority: 0, constraints: {}, tier: "on-demand" },
  key: "secret",
  phase: "Reserved",
  createdAt: NOW,
  reservedAt: NOW,
  acknowledged: false,
  generation: 1,
};

function context(protocol = 2, now = NOW) {
  const ledger = emptyLedger();
  const advertisement = clusterOf("paris", 16, {
    protocol,
    endpointUrl: "https://10.0.0.7:6443",
    liqo: { clusterId: "calm-paris", version: "v1.2.0" },
  });
  apply(ledger, { kind: "advertised", at: NOW, advertisement });
  return { ledger, ledgerId: "led-1", now };
}

const readyOf = (status: NonNullable<ReservationObject["status"]>) =>
  status.conditions?.find(({ type }) => type === "Ready");

describe("the status of a reservation", () => {
  test("tells everything that its parties need, and never the key", () => {
    const status = reservationStatus(reservation, context());
    expect(status).toMatchObject({
      reservationID: reservation.id,
      phase: "Reserved",
      message: "Use paris for 4 CPU / 8Gi Memory",
      targetClusterEndpoint: "https://10.0.0.7:6443",
      targetLiqoID: "calm-paris",
      generation: 1,
      ledgerID: "led-1",
    });
    expect(JSON.stringify(status)).not.toContain("secret");
  });

  test("reports the policy's slice defaults, unless they are the usual ones", () => {
    const sliceDefaults = { pods: 50, ephemeralStorage: "5Gi" };
    const object = personsReservation("mine");
    const status = reservationStatus(reservation, { ...context(), sliceDefaults }, object);
    expect(status.sliceDefaults).toEqual(sliceDefaults);
    const usual = reservationStatus(reservation, { ...context(), sliceDefaults: DEFAULT_SLICE }, object);
    expect(usual).not.toHaveProperty("sliceDefaults");
    expect(isStatusCurrent(usual, { ...object, status })).toBe(false);
    expect(foreignFields({ ...object, status }, usual)).toEqual(["sliceDefaults"]);
  });

  test("is Ready when the provider holds it, or is too old to say so", () => {
    expect(readyOf(reservationStatus(reservation, context()))).toMatchObject({
      status: "False",
      reason: "WaitsForProvider",
    });
    expect(readyOf(reservationStatus({ ...reservation, acknowledged: true }, context()))).toMatchObject({
      status: "True",
    });
    expect(readyOf(reservationStatus(reservation, context(1)))).toMatchObject({ status: "True" });
  });

  test("keeps the time of a condition that has not changed, and counts as told then", () => {
    const object = personsReservation("mine");
    const before = { ...object, status: reservationStatus(reservation, context(), object) };
    const later = reservationStatus(reservation, context(2, NOW + 60_000), before);
    expect(later.conditions).toEqual(before.status.conditions);
    expect(isStatusCurrent(later, before)).toBe(true);
    const ended = { ...reservation, phase: "Released", reason: "Expired", generation: 2 } as const;
    const end = reservationStatus(ended, context(2, NOW + 60_000), before);
    expect(isStatusCurrent(end, before)).toBe(false);
    expect(readyOf(end)).toMatchObject({ status: "False", reason: "Expired" });
  });

  test("is written again when somebody else changed a part of it, but not for others' fields", () => {
    const object = personsReservation("mine");
    const status = reservationStatus(reservation, context(), object);
    const signal = {
      type: "RequesterActive",
      status: "True",
      reason: "x",
      message: "",
      lastTransitionTime: "2026-01-05T12:00:00Z",
    } as const;
    expect(
      isStatusCurrent(status, {
        ...object,
        status: { ...status, conditions: [...(status.conditions ?? []), signal] },
      }),
    ).toBe(true);
    expect(isStatusCurrent(status, { ...object, status: { ...status, phase: "Active" } })).toBe(false);
    expect(isStatusCurrent(status, { ...object, status: { ...status, fits: true } })).toBe(false);
  });

  test("of a refusal fits into an object, however long the explanation is", () => {
    const refused = {
      code: "no-capacity",
      reason: "NoCapacity",
      message: "m".repeat(9999),
      explanation: "e".repeat(99_999),
    } as const;
    const status = refusedStatus(refused, context(), personsReservation("mine"));
    expect(status.message).toHaveLength(4096);
    expect(status.explanation).toHaveLength(16_384);
  });
});
