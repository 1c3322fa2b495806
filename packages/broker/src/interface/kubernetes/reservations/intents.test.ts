import { describe, expect, test } from "vitest";
import { personsReservation } from "../testing/samples.ts";
import { reservationsHub } from "./testing/reservations-hub.ts";

const hub = reservationsHub({
  broker: { policy: { stalenessMs: 1e12 } },
  providers: { paris: 64, berlin: 8, tokyo: 128 },
});
const { create } = hub;

describe("a Quote", () => {
  test("says what would happen, holds nothing, and is deleted after ten minutes", async () => {
    const before = hub.broker.engine.commitNumber;
    await create(personsReservation("fits", { intent: "Quote" }));
    await create(
      personsReservation("does-not", { intent: "Quote", requestedResources: { cpu: "900", memory: "1Gi" } }),
    );
    const { status, metadata } = await hub.env.reservation("fits", (object) => object.status?.fits === true);
    expect(status?.phase).toBeUndefined();
    expect(metadata.finalizers ?? []).toEqual([]);
    expect(JSON.parse(status?.decision ?? "{}")).toMatchObject({ considered: expect.any(Number) });
    const refused = await hub.env.reservation("does-not", (object) => object.status?.fits === false);
    expect(refused.status?.message).toContain("berlin: needs");
    expect(hub.broker.engine.commitNumber).toBe(before);
    await hub.env.time.advance(10 * 60 * 1000);
    await hub.env.gone("fits");
    await hub.env.gone("does-not");
  });
});

describe("an offer", () => {
  test("waits for the other party, is adopted when both agree, and is deleted after ten minutes", async () => {
    const id = "rsv-rome-abcdefghijklmnop";
    const offer = (by: string) =>
      personsReservation(`${id}-offer-${by}`, {
        intent: "Adopt",
        targetClusterID: "paris",
        offer: {
          id,
          by,
          phase: "Active",
          generation: 3,
          createdAt: "2020-01-01T00:00:00Z",
          ...(by === "rome" ? { key: "old-key" } : {}),
        },
      });
    await create(offer("paris"));
    await hub.env.reservation(`${id}-offer-paris`, ({ status }) => status?.outcome === "waiting");
    await create(offer("rome"));
    await hub.env.reservation(`${id}-offer-rome`, ({ status }) => status?.outcome === "adopted");
    await hub.env.reservation(`${id}-offer-paris`, ({ status }) => status?.outcome === "adopted");
    expect(hub.broker.engine.ledger.reservations.get(id)).toMatchObject({
      phase: "Active",
      key: "old-key",
      generation: 4,
    });
    await hub.env.time.advance(10 * 60 * 1000);
    await hub.env.gone(`${id}-offer-paris`);
    await hub.env.gone(`${id}-offer-rome`);
  });

  test("of a stranger is refused", async () => {
    const id = "rsv-rome-bbbbbbbbbbbbbbbb";
    await create(
      personsReservation(`${id}-offer-tokyo`, {
        intent: "Adopt",
        targetClusterID: "paris",
        offer: { id, by: "tokyo", phase: "Active", generation: 3, createdAt: "2026-01-05T10:00:00Z" },
      }),
    );
    const { status } = await hub.env.reservation(
      `${id}-offer-tokyo`,
      (object) => object.status?.outcome === "refused",
    );
    expect(status).toMatchObject({ code: "forbidden" });
  });
});
