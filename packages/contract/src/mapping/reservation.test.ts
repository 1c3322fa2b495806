import { MAX_EXTENDED_RESOURCES, NO_RESOURCES, resourceVector } from "@resource-broker/base";
import type { Reservation } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { validate } from "../schema/validate.ts";
import { adoptionRequestSchema } from "../wire/adoption.ts";
import { MAX_MESSAGE_LENGTH, reservationSchema } from "../wire/reservation.ts";
import { fromReservation, toAdoptionOffers } from "./reservation.ts";

const GI = 1024 ** 3;

describe("a reservation", () => {
  const reservation: Reservation = {
    id: "rsv-rome-a",
    requester: "rome",
    provider: "paris",
    granted: resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GI }),
    request: { resources: NO_RESOURCES, priority: 10, constraints: {}, tier: "on-demand" },
    key: "k",
    decisionId: "dec-1",
    phase: "Active",
    cost: { currency: "EUR", perHour: 0.1 + 0.2, total: 0.45 },
    createdAt: 0,
    reservedAt: 0,
    expiresAt: 5_400_000,
    acknowledged: true,
    generation: 3,
  };

  test("can be read by its parties, however long the names of its resources are", () => {
    const names = Array.from({ length: MAX_EXTENDED_RESOURCES }, (_, index) => [
      `${"a".repeat(63)}.${"b".repeat(63)}.example/${"c".repeat(60)}${index}`,
      1,
    ]);
    const granted = resourceVector({ cpuMillis: 1, memoryBytes: 1, extended: Object.fromEntries(names) });
    const dto = fromReservation({ ...reservation, granted }, { role: "provider" });
    expect(dto.status.message).toHaveLength(MAX_MESSAGE_LENGTH);
    expect(validate(reservationSchema, dto)).toEqual({ ok: true, value: dto });
  });

  test.each([
    ["requester", "ml"],
    ["admin", "ml"],
    ["provider", undefined],
  ] as const)("is told to its %s with the tenant %s", (role, tenant) => {
    expect(fromReservation({ ...reservation, tenant: "ml" }, { role }).tenant).toBe(tenant);
  });

  test.each(["requester", "provider", "admin"] as const)(
    "under notice says when it ends and for which priority, and to no %s for whom",
    (role) => {
      const preemption = { by: "rsv-oslo-secret", priority: 50, at: 300_000 };
      const dto = fromReservation({ ...reservation, preemption }, { role });
      expect(dto.preempting).toEqual({ at: "1970-01-01T00:05:00.000Z", byPriority: 50 });
      expect(JSON.stringify(dto)).not.toContain("oslo");
      expect(validate(reservationSchema, dto)).toEqual({ ok: true, value: dto });
      const drained = fromReservation({ ...reservation, preemption: { at: 300_000 } }, { role });
      expect(drained.preempting).toEqual({ at: "1970-01-01T00:05:00.000Z" });
      const ended = fromReservation({ ...reservation, preemption, phase: "Failed" }, { role });
      expect(ended.preempting).toBeUndefined();
    },
  );

  test("is told to its requester with its key", () => {
    const dto = fromReservation(reservation, { role: "requester", providerEndpoint: "https://paris:6443" });
    expect(dto).toEqual({
      id: "rsv-rome-a",
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources: { cpu: "4", memory: "8Gi" },
      status: {
        phase: "Active",
        message: "Use paris for 4 CPU / 8Gi Memory",
        reservedAt: "1970-01-01T00:00:00.000Z",
        expiresAt: "1970-01-01T01:30:00.000Z",
      },
      createdAt: "1970-01-01T00:00:00.000Z",
      cost: { perHour: "0.3", total: "0.45", currency: "EUR" },
      generation: 3,
      key: "k",
      targetClusterEndpoint: "https://paris:6443",
      tier: "on-demand",
      priority: 10,
      decisionID: "dec-1",
    });
    expect(validate(reservationSchema, dto)).toEqual({ ok: true, value: dto });
  });

  test.each(["provider", "admin"] as const)("is told to its %s without its key", (role) => {
    expect(fromReservation(reservation, { role })).not.toHaveProperty("key");
  });

  test.each([
    ["Reserved", "Reserved"],
    ["Active", "Reserved"],
    ["Released", "Released"],
    ["Failed", "Failed"],
  ] as const)("in phase %s is shown to older agents as %s", (phase, shown) => {
    const dto = fromReservation({ ...reservation, phase }, { role: "provider", isOlderAgent: true });
    expect(dto.status.phase).toBe(shown);
  });

  test.each([
    ["provider", {}, "Hold 4 CPU / 8Gi Memory for requester rome"],
    ["admin", {}, "paris lends 4 CPU / 8Gi Memory to rome"],
    ["requester", { phase: "Released", reason: "Expired" }, "Released (Expired)"],
    [
      "requester",
      { phase: "Failed", reason: "ProviderRefused", message: "disk failed" },
      "Failed (ProviderRefused: disk failed)",
    ],
  ] as const)("speaks to its %s", (role, change, message) => {
    expect(fromReservation({ ...reservation, ...change }, { role }).status.message).toBe(message);
  });
});

test("offers for adoption are read with their amounts", () => {
  const offer = {
    id: "rsv-rome-a",
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "4", memory: "8Gi" },
    phase: "Active",
    generation: 2,
    createdAt: "1970-01-01T00:00:01Z",
    expiresAt: "1970-01-01T00:00:02Z",
    key: "k",
  };
  const validated = validate(adoptionRequestSchema, { reservations: [offer] });
  expect(validated.ok && toAdoptionOffers(validated.value)).toEqual({
    ok: true,
    value: [
      {
        id: "rsv-rome-a",
        requester: "rome",
        provider: "paris",
        granted: resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GI }),
        phase: "Active",
        generation: 2,
        createdAt: 1000,
        expiresAt: 2000,
        key: "k",
      },
    ],
  });
});
