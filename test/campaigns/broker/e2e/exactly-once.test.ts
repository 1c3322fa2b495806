import {
  type BrokerProcess,
  type Size,
  seededRandom,
  startBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ChaosFleet, createFleet } from "../fleet.ts";
import type { LedgerSnapshot } from "../ledger-snapshot.ts";
import { type LoadClients, startLoadClients } from "../load-clients.ts";
import { snapshotFromApi, snapshotFromSqlite } from "../read-snapshot.ts";
import { checkSnapshot, violations } from "../violations.ts";

/** `LONG=1` makes every test as long as the first, `SEED=…` repeats the choices of a run. */
const IS_LONG = process.env["LONG"] !== undefined;
const SEED = Number(process.env["SEED"] ?? 20_260_101);
const CLIENTS = 16;
const MANY = 500;
const SOME = IS_LONG ? MANY : 100;
const KILLS = IS_LONG ? 10 : 3;
const LANES = 4;
const ROOMY = { cpu: 100_000, memoryGi: 400_000 };
const TIGHT = { cpu: 64, memoryGi: 256 };
/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 900_000 };

// The seed is part of every test's name: a failure prints it.
describe.each([SEED])("with seed %i", (seed) => {
  test(
    "16 clients × 500 requests with random retries, duplicates and dropped replies: exactly one reservation per key, Σ held = recount",
    GUARD,
    async () => {
      const play = await begin(ROOMY, MANY);
      await play.clients.done;
      const { overApi, inStore } = await end(play);
      expect(overApi.reservations).toHaveLength(CLIENTS * MANY);
      expect(new Set(inStore.reservations.map(({ id }) => id)).size).toBe(CLIENTS * MANY);
      expect(acknowledgedIn(play.clients)).toBe(CLIENTS * MANY);
    },
  );

  test("where there is not enough for all, nothing is lent twice", GUARD, async () => {
    const play = await begin(TIGHT, SOME);
    await play.clients.done;
    await end(play);
    expect(acknowledgedIn(play.clients)).toBeLessThan(CLIENTS * SOME);
    expect(play.clients.requests.some(({ release }) => release === "acknowledged")).toBe(true);
  });

  test("killed in the middle, every acknowledged reservation is there", GUARD, async () => {
    const play = await begin(ROOMY, SOME);
    const { broker, fleet, clients } = play;
    for (let kill = 1; kill <= KILLS; kill++) {
      const isDue = (): boolean => acknowledgedIn(clients) >= (kill * CLIENTS * SOME) / (KILLS + 1);
      // In the very moment a client hears of it: whatever was said too early would be lost.
      while (!isDue()) await clients.nextAcknowledgement();
      await broker.kill("SIGKILL");
      await clients.pause();
      await broker.restart();
      expect(violations(clients.requests, await snapshotFromApi(broker.admin(), fleet.requesters))).toEqual(
        [],
      );
      // Advertisements are soft state: agents bring them again by themselves.
      await fleet.advertise();
      clients.resume();
    }
    await clients.done;
    const { inStore } = await end(play);
    expect(inStore.reservations).toHaveLength(CLIENTS * SOME);
  });

  async function begin(provider: Size, ordersEach: number): Promise<Run> {
    const broker = await startBroker({ certificates: await testCertificates() });
    onTestFinished(broker.dispose);
    const fleet = createFleet(broker, { requesters: CLIENTS, providers: 12, provider, lanes: LANES });
    await fleet.advertise();
    onTestFinished(fleet.keepFresh());
    const random = seededRandom(seed);
    const clients = startLoadClients({ clients: fleet.requesters, random, ordersEach, lanes: LANES });
    onTestFinished(clients.stop);
    return { broker, fleet, clients };
  }
});

interface Run {
  readonly broker: BrokerProcess;
  readonly fleet: ChaosFleet;
  readonly clients: LoadClients;
}

/** Compares what the clients were told with the API, then with the file of the stopped broker. */
async function end({
  broker,
  fleet,
  clients,
}: Run): Promise<{ readonly overApi: LedgerSnapshot; readonly inStore: LedgerSnapshot }> {
  const read = () => snapshotFromApi(broker.admin(), fleet.requesters);
  const { snapshot: overApi, problems } = await checkSnapshot(clients.requests, read);
  expect(clients.problems).toEqual([]);
  expect(problems).toEqual([]);
  expect(await broker.stop()).toBe(0);
  const inStore = await snapshotFromSqlite(broker.storeDirectory);
  expect(violations(clients.requests, inStore)).toEqual([]);
  return { overApi, inStore };
}

function acknowledgedIn({ requests }: LoadClients): number {
  return requests.filter(({ acknowledged }) => acknowledged !== undefined).length;
}
