import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES, TENANTS } from "../objects/authentication.ts";
import { END_GRACE_MS, SETTLE_MS } from "./evaluate-replica.ts";
import {
  ASKED,
  aProviderReservation,
  aReplica,
  aTenant,
  cordonQuota,
  ID,
  MINUTE_MS,
  providerTestEnvironment,
  ROME,
  ROMES,
  withSlice,
} from "./testing/provider-test-environment.ts";

describe("granting", () => {
  test("gives a replica what is reserved, once, and says so", async () => {
    const { word, find, eventReasons, writes, time } = await withSlice();
    expect(word()).toBe("Accepted Reserved");
    expect(find()?.status?.resources).toEqual(ASKED);
    expect(eventReasons()).toEqual(["SliceGranted"]);
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([{ verb: "update", plural: "resourceslices", name: ID }]);
  });

  test("waits until the agent has listed its instructions", async () => {
    let isReady = false;
    const { cluster, begin, time, word, writes, cache } = providerTestEnvironment({ isReady: () => isReady });
    cache.update("provider", aProviderReservation());
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(MINUTE_MS);
    expect(writes()).toEqual([]);
    isReady = true;
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("waits for a reservation that comes later than its slice", async () => {
    const { cluster, begin, time, word, cache, eventReasons } = providerTestEnvironment();
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(SETTLE_MS / 2);
    expect(word()).toBeUndefined();
    cache.update("provider", aProviderReservation());
    await time.advance(100);
    expect(word()).toBe("Accepted Reserved");
    expect(eventReasons()).toEqual(["SliceGranted"]);
  });

  test("refuses what nobody reserved, and grants it when somebody has", async () => {
    const { cluster, begin, time, word, cache, broker } = providerTestEnvironment();
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(SETTLE_MS + 1000);
    expect(word()).toBe("Denied UnknownReservation");
    expect(broker.asked).toEqual([]);
    cache.update("provider", aProviderReservation());
    await time.advance(100);
    expect(word()).toBe("Accepted Reserved");
  });

  test("waits until the capacity is held", async () => {
    const { cluster, begin, time, word, cache, held } = providerTestEnvironment();
    held.clear();
    cache.update("provider", aProviderReservation());
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(5000);
    expect(word()).toBeUndefined();
    held.add(ID);
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("decides again when somebody writes at the same time", async () => {
    const { cluster, begin, time, word, cache } = providerTestEnvironment();
    let conflicts = 3;
    cluster.setCallFaults(({ verb }) =>
      verb === "update" && conflicts-- > 0
        ? { fault: new Fault("conflict", "the object was modified") }
        : undefined,
    );
    cache.update("provider", aProviderReservation());
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("is judged on the newest version, not on what the watch showed", async () => {
    const { cluster, begin, time, word, cache } = providerTestEnvironment();
    cache.update("provider", aProviderReservation());
    cluster.put(RESOURCE_SLICES, aReplica());
    cluster.setWatchLag(20_000);
    begin();
    cluster.setCallFaults(({ verb, plural }) => {
      if (verb !== "get" || plural !== "namespaces") return undefined;
      cluster.setCallFaults(undefined);
      cluster.edit(RESOURCE_SLICES, ROMES, (slice) => ({
        ...slice,
        spec: { ...slice.spec, resources: { cpu: "64" } },
      }));
      return undefined;
    });
    await time.advance(1000);
    expect(word()).toBe("Denied TooMuch");
  });

  test.each(["Cordoned", "Drained"] as const)(
    "leaves a %s tenant to Liqo until it is active again",
    async (state) => {
      const { cluster, begin, time, word, cache } = providerTestEnvironment();
      cache.update("provider", aProviderReservation());
      cluster.put(TENANTS, aTenant(ROME, state));
      cluster.put(RESOURCE_SLICES, aReplica());
      begin();
      await time.advance(1000);
      expect(word()).toBeUndefined();
      cluster.edit(TENANTS, { name: ROME, namespace: `liqo-tenant-${ROME}` }, () => aTenant(ROME, "Active"));
      await time.advance(MINUTE_MS);
      expect(word()).toBe("Accepted Reserved");
    },
  );

  test("follows a reservation that was renewed after it seemed over", async () => {
    const made = await withSlice();
    const { cache, time, word, cordon } = made;
    cache.endLocally(ID, "Expired");
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota(made);
    expect(cordon()).toBe("true");
    cache.update("provider", aProviderReservation({ generation: 2 }));
    await time.advance(1000);
    expect(cordon()).toBeUndefined();
    expect(word()).toBe("Accepted Reserved");
  });
});
