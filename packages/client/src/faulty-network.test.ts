import {
  advertisementBody,
  reservationBody,
  startBroker,
  startFaultyProxy,
  testCertificates,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import type { BrokerEvent } from "./broker-client.ts";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const request = reservationBody({ cpu: 1, memoryGi: 1 });

/** Only a guard: a busy machine takes its time. */
const TIMEOUT = { timeout: 20_000, interval: 5 };

/** A real broker behind a proxy; paris lends 1,000 CPU. */
async function setup() {
  const broker = await startBroker({ certificates });
  onTestFinished(broker.dispose);
  const proxy = await startFaultyProxy(broker);
  onTestFinished(proxy.close);
  const brokerUrls = [`https://127.0.0.1:${proxy.port}`];
  const connect = async (name: string) => {
    const made = await clientOf({ brokerUrls, credentials: certificates.cluster(name) });
    onTestFinished(made.client.close);
    return made;
  };
  const [{ client: rome, rotate: rotateRome }, { client: paris }] = [
    await connect("rome"),
    await connect("paris"),
  ];
  await paris.publish(advertisementBody("paris", { cpu: 1000, memoryGi: 1000 }));
  await rome.ping();
  return { proxy, rome, rotateRome, paris };
}

test("a reservation whose answer is lost is asked for again, and reserved once", async () => {
  const { proxy, rome, paris } = await setup();
  for (let round = 0; round < 10; round++) {
    const lost = proxy.loseNextReply();
    const made = await rome.reserve(request, `k-${round}`);
    await lost;
    expect(made.status.phase).toBe("Reserved");
  }
  expect(await rome.listReservations("requester")).toHaveLength(10);
  expect(await paris.listInstructions()).toHaveLength(10);
});

test("a stream that is cut fifty times loses nothing", async () => {
  const { proxy, rome, paris } = await setup();
  const stopping = new AbortController();
  const received = new Map<string, string>();
  let resets = 0;
  let opened = 0;
  const hear = (event: BrokerEvent): void => {
    if (event.kind === "reset") resets += 1;
    if (event.kind === "instruction") received.set(event.reservation.id, event.reservation.status.phase);
  };
  const follow = async (): Promise<void> => {
    let isOpen = false;
    for await (const event of paris.watch(stopping.signal)) {
      if (!isOpen) opened += 1;
      isOpen = true;
      hear(event);
    }
  };
  const followAll = async (): Promise<void> => {
    while (!stopping.signal.aborted) await follow().catch(() => undefined);
  };
  const following = followAll();
  // What came and went before a reader had heard anything is no news to it.
  const first = await rome.reserve(request, "first");
  await expect.poll(() => received.has(first.id), TIMEOUT).toBe(true);
  const made: string[] = [];
  const ended: string[] = [];
  for (let round = 0; round < 50; round++) {
    // A stream that is not open cannot be cut.
    await expect.poll(() => opened, TIMEOUT).toBeGreaterThan(round);
    const { id } = await rome.reserve(request, `k-${round}`);
    made.push(id);
    proxy.cut();
    const oldest = made[round - 1];
    if (oldest !== undefined && round % 2 === 1) {
      await rome.release(oldest);
      ended.push(oldest);
    }
  }
  const last = await rome.reserve(request, "last");
  await expect.poll(() => received.has(last.id), TIMEOUT).toBe(true);
  stopping.abort();
  await following;
  expect(made.filter((id) => !received.has(id))).toEqual([]);
  expect(ended.filter((id) => received.get(id) !== "Released")).toEqual([]);
  expect(resets).toBe(0);
});

test("certificates are replaced under load without a call failing, and new connections show the new ones", async () => {
  const { proxy, rome, rotateRome } = await setup();
  let isOver = false;
  let made = 0;
  const load = Array.from({ length: 4 }, async (_, worker) => {
    while (!isOver) {
      await rome.reserve(request, `k-${worker}-${made}`);
      made += 1;
    }
  });
  for (let rotation = 0; rotation < 5; rotation++) {
    const before = { made, connections: proxy.connections().made };
    rotateRome(certificates.cluster("rome"));
    await expect.poll(() => made, TIMEOUT).toBeGreaterThan(before.made + 8);
    expect(proxy.connections().made).toBeGreaterThan(before.connections);
  }
  isOver = true;
  await Promise.all(load);
  const reservations = await rome.listReservations("requester");
  expect(reservations).toHaveLength(made);
});

test("one advertisement each 30 s stays below 200 bytes a second, the connection included", async () => {
  const { proxy, paris } = await setup();
  const [cycles, intervalS] = [20, 30];
  proxy.cut();
  const before = proxy.bytes();
  const body = { ...advertisementBody("paris", { cpu: 1000, memoryGi: 1000 }), usage: usageOf(4) };
  for (let cycle = 0; cycle < cycles; cycle++) await paris.publish(body);
  const { sent, received } = proxy.bytes();
  const bytesPerSecond = (sent - before.sent + received - before.received) / (cycles * intervalS);
  expect(bytesPerSecond).toBeLessThan(200);
  expect(proxy.connections().open).toBeLessThanOrEqual(2);
});

function usageOf(count: number) {
  const granted = { cpu: "1", memory: "1Gi" };
  return Array.from({ length: count }, (_, index) => ({
    reservationID: `rsv-rome-aaaaaaaaaaaaaaa${index}`,
    granted,
    used: granted,
  }));
}
