import { seededRandom, startBroker, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createFleet } from "../fleet.ts";
import { startLoadClients } from "../load-clients.ts";
import { snapshotFromSqlite } from "../read-snapshot.ts";
import { apiReader } from "../snapshot-from-api.ts";
import { checkSnapshot, violations } from "../violations.ts";

/** `SEED=…` repeats the choices of a run. */
const SEED = Number(process.env["SEED"] ?? 20_260_101);
const CLIENTS = 16;
const EACH = 500;
const LANES = 4;
const PROVIDER = { cpu: 100_000, memoryGi: 400_000 };
/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 900_000 };

// The seed is part of the test's name: a failure prints it.
test.each([SEED])(
  "16 clients × 500 requests with random retries, duplicates and dropped replies, with seed %i: exactly one reservation per key, Σ held = recount",
  GUARD,
  async (seed) => {
    const broker = await startBroker({ certificates: await testCertificates() });
    onTestFinished(broker.dispose);
    const fleet = createFleet(broker, {
      requesters: CLIENTS,
      providers: 12,
      provider: PROVIDER,
      lanes: LANES,
    });
    await fleet.advertise();
    onTestFinished(fleet.keepFresh());
    const clients = startLoadClients({
      clients: fleet.requesters,
      random: seededRandom(seed),
      ordersEach: EACH,
      lanes: LANES,
    });
    onTestFinished(clients.stop);
    await clients.done;

    const reader = apiReader(broker.admin(), fleet.requesters);
    const read = () => reader.snapshot(clients.requests);
    const { snapshot, problems } = await checkSnapshot(clients.requests, read);
    expect([...clients.problems, ...problems]).toEqual([]);
    expect(snapshot.reservations).toHaveLength(CLIENTS * EACH);
    expect(await broker.stop()).toBe(0);
    const inStore = await snapshotFromSqlite(broker.storeDirectory);
    expect(violations(clients.requests, inStore)).toEqual([]);
    expect(new Set(inStore.reservations.map(({ id }) => id)).size).toBe(CLIENTS * EACH);
    expect(clients.requests.every(({ acknowledged }) => acknowledged !== undefined)).toBe(true);
  },
);
