import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation } from "../testing/samples.ts";
import { createOrphanCollector } from "./orphan-collector.ts";

const MINUTE_MS = 60_000;

function world(ids: readonly string[], fetch: (id: string) => ReturnType<typeof aReservation> | undefined) {
  const time = fakeClock();
  const reaped: string[] = [];
  const rounds = createOrphanCollector({
    dataPlane: { listReservationIds: async () => ids },
    cache: reservationCache({ clusterId: "rome", now: time.wallMs }),
    communicator: { fetchReservation: async (id) => fetch(id) },
    isReady: () => true,
    onOrphan: (id) => void reaped.push(id),
    beforeRun: () => undefined,
    clock: time,
    log: recordedLog([]),
  });
  return { time, rounds, reaped: () => [...new Set(reaped)] };
}

describe("what an earlier life has left", () => {
  test("is taken down when nobody knows it, and kept while it lives", async () => {
    const alive = aReservation({ id: "rsv-alive" });
    const { time, rounds, reaped } = world(["rsv-alive", "rsv-gone"], (id) =>
      id === alive.id ? alive : undefined,
    );
    rounds.start();
    await time.advance(MINUTE_MS);
    expect(reaped()).toEqual(["rsv-gone"]);
    await rounds.stop();
  });

  test("does not wait for one that the broker gives no answer about", async () => {
    const { time, rounds, reaped } = world(["a b", "rsv-gone"], (id) => {
      if (id === "a b") throw new Fault("invalid", "no such id");
      return undefined;
    });
    rounds.start();
    await time.advance(MINUTE_MS);
    expect(reaped()).toEqual(["rsv-gone"]);
    await rounds.stop();
  });
});
