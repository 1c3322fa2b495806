import { describe, expect, test } from "vitest";
import { reservationInstruction } from "../manifests/instructions.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { aRequest, aReservation } from "../testing/samples.ts";
import { planDelivery, teardownStatus } from "./plan-reservation-instruction.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");
const written = reservationInstruction(aReservation(), "default", aRequest());

function entry(reservation: Reservation, changes: Partial<CachedReservation> = {}): CachedReservation {
  return { role: "requester", reservation, syncState: "confirmed", endedAt: undefined, ...changes };
}

describe("a delivery", () => {
  const ready = { kind: "ready", reason: "NodeReady", message: "ready" } as const;
  const base = { entry: entry(aReservation()), instruction: written, wallMs: NOW };

  test("is told to the broker once the resources are there", () => {
    const plan = planDelivery({ ...base, dataPlane: ready });
    expect(plan).toMatchObject({ activate: true, status: { delivered: true } });
  });

  test("without a data plane is done with the instruction", () => {
    const off = { kind: "off", reason: "DataPlaneOff", message: "off" } as const;
    const plan = planDelivery({ ...base, dataPlane: off });
    expect(plan).toMatchObject({ activate: true, status: { delivered: true } });
    expect(plan.status?.conditions).toMatchObject([
      { type: "Peered", status: "Unknown" },
      { type: "UnknownToBroker", status: "False" },
    ]);
  });

  test("under way is looked at again", () => {
    const working = { kind: "working", reason: "Peering", message: "peering", retryAfterMs: 500 } as const;
    expect(planDelivery({ ...base, dataPlane: working })).toMatchObject({
      activate: false,
      requeueAfterMs: 500,
      status: { delivered: false },
    });
  });

  test("says nothing twice", () => {
    const { status } = planDelivery({ ...base, dataPlane: ready });
    const active = entry({ ...aReservation(), phase: "Active" });
    const again = planDelivery({
      ...base,
      entry: active,
      instruction: { ...written, ...(status === undefined ? {} : { status }) },
      wallMs: NOW + 60_000,
      dataPlane: ready,
    });
    expect(again.status).toBeUndefined();
    expect(again.activate).toBe(false);
  });

  test("of what the broker does not know is not told to it", () => {
    const unknown = entry(aReservation(), { syncState: "unknown" });
    expect(planDelivery({ ...base, entry: unknown, dataPlane: ready }).activate).toBe(false);
  });

  test("tells since when it is at its step", () => {
    const at = (reason: string, wallMs: number, before = written) =>
      planDelivery({
        ...base,
        instruction: before,
        wallMs,
        dataPlane: { kind: "working", reason, message: reason, retryAfterMs: 500 },
      }).status;
    const status = at("Peering", NOW) ?? {};
    const later = at("AwaitingGrant", NOW + 5000, { ...written, status });
    expect(later?.conditions?.[0]).toMatchObject({
      type: "Peered",
      status: "False",
      reason: "AwaitingGrant",
      lastTransitionTime: "2026-07-01T10:00:05.000Z",
    });
  });

  test("that is ready is looked at again: nobody reports when a node fails", () => {
    expect(planDelivery({ ...base, dataPlane: ready }).requeueAfterMs).toBeGreaterThan(0);
    const off = { kind: "off", reason: "DataPlaneOff", message: "off" } as const;
    expect(planDelivery({ ...base, dataPlane: off }).requeueAfterMs).toBeUndefined();
  });
});

describe("a withdrawal", () => {
  const release = {
    kind: "working",
    reason: "Draining",
    message: "2 pods are left",
    retryAfterMs: 500,
  } as const;

  test("says what is in the way, once", () => {
    const status = teardownStatus({ instruction: written, release, wallMs: NOW });
    expect(status).toMatchObject({
      delivered: false,
      conditions: [
        { type: "Peered", status: "False", reason: "Releasing" },
        { type: "Clean", status: "False", reason: "Draining", message: "2 pods are left" },
      ],
    });
    const again = { ...written, ...(status === undefined ? {} : { status }) };
    expect(teardownStatus({ instruction: again, release, wallMs: NOW + 1000 })).toBeUndefined();
  });

  test("has nothing to say on where there is no instruction, or when it is done", () => {
    expect(teardownStatus({ instruction: undefined, release, wallMs: NOW })).toBeUndefined();
    expect(teardownStatus({ instruction: written, release: { kind: "clean" }, wallMs: NOW })).toBeUndefined();
  });
});
