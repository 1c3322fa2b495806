import {
  type BrokerProcess,
  seededRandom,
  type Size,
  startBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Books } from "../chaos/booking.ts";
import { type Crowd, startCrowd } from "../chaos/crowd.ts";
import { judgeBooks } from "../chaos/judge-books.ts";
import { booksInStore, booksOverApi } from "../chaos/read-books.ts";
import { type Scene, sceneOn } from "../chaos/scene.ts";
import { violations } from "../chaos/violations.ts";

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
const PATIENCE = { timeout: 900_000 };

// The seed is part of every test's name: a failure prints it.
describe.each([SEED])("with seed %i", (seed) => {
  test(
    "16 clients × 500 requests with random retries, duplicates and dropped replies: exactly one reservation per key, Σ held = recount",
    PATIENCE,
    async () => {
      const play = await begin(ROOMY, MANY);
      await play.crowd.done;
      const { overApi, inStore } = await end(play);
      expect(overApi.bookings).toHaveLength(CLIENTS * MANY);
      expect(new Set(inStore.bookings.map(({ id }) => id)).size).toBe(CLIENTS * MANY);
      expect(acknowledgedIn(play.crowd)).toBe(CLIENTS * MANY);
    },
  );

  test("where there is not enough for all, nothing is lent twice", PATIENCE, async () => {
    const play = await begin(TIGHT, SOME);
    await play.crowd.done;
    await end(play);
    expect(acknowledgedIn(play.crowd)).toBeLessThan(CLIENTS * SOME);
    expect(play.crowd.orders.some(({ release }) => release === "acknowledged")).toBe(true);
  });

  test("killed in the middle, every acknowledged reservation is there", PATIENCE, async () => {
    const play = await begin(ROOMY, SOME);
    const { broker, scene, crowd } = play;
    for (let kill = 1; kill <= KILLS; kill++) {
      const isDue = (): boolean => acknowledgedIn(crowd) >= (kill * CLIENTS * SOME) / (KILLS + 1);
      // In the very moment a client hears of it: whatever was said too early would be lost.
      while (!isDue()) await crowd.nextAcknowledgement();
      await broker.kill("SIGKILL");
      await crowd.pause();
      await broker.restart();
      expect(violations(crowd.orders, await booksOverApi(broker.admin(), scene.requesters))).toEqual([]);
      // Advertisements are soft state: agents bring them again by themselves.
      await scene.advertise();
      crowd.resume();
    }
    await crowd.done;
    const { inStore } = await end(play);
    expect(inStore.bookings).toHaveLength(CLIENTS * SOME);
  });

  async function begin(provider: Size, ordersEach: number): Promise<Play> {
    const broker = await startBroker({ certificates: await testCertificates() });
    onTestFinished(broker.dispose);
    const scene = sceneOn(broker, { requesters: CLIENTS, providers: 12, provider, lanes: LANES });
    await scene.advertise();
    onTestFinished(scene.keepFresh());
    const random = seededRandom(seed);
    const crowd = startCrowd({ clients: scene.requesters, random, ordersEach, lanes: LANES });
    onTestFinished(crowd.stop);
    return { broker, scene, crowd };
  }
});

interface Play {
  readonly broker: BrokerProcess;
  readonly scene: Scene;
  readonly crowd: Crowd;
}

/** Compares what the clients were told with the API, then with the file of the stopped broker. */
async function end({
  broker,
  scene,
  crowd,
}: Play): Promise<{ readonly overApi: Books; readonly inStore: Books }> {
  const read = () => booksOverApi(broker.admin(), scene.requesters);
  const { books: overApi, problems } = await judgeBooks(crowd.orders, read);
  expect(crowd.problems).toEqual([]);
  expect(problems).toEqual([]);
  expect(await broker.stop()).toBe(0);
  const inStore = await booksInStore(broker.storeDirectory);
  expect(violations(crowd.orders, inStore)).toEqual([]);
  return { overApi, inStore };
}

function acknowledgedIn({ orders }: Crowd): number {
  return orders.filter(({ acknowledged }) => acknowledged !== undefined).length;
}
