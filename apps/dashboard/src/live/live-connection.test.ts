import { expect, test } from "vitest";
import { fakeEvents } from "../testing/fake-broker.ts";
import { fakeTimers, settle } from "../testing/fake-timers.ts";
import { createLiveConnection, type LiveStatus, type LiveUpdate } from "./live-connection.ts";

const HELLO = 'event: hello\nid: 4\ndata: {"commit":4,"ledgerID":"one"}\n\n';
const CHANGES =
  'event: changes\nid: 5\ndata: {"commit":5,"clusters":[],"reservations":[],"decisions":[],"more":false}\n\n';

function live() {
  const timers = fakeTimers();
  const broker = fakeEvents();
  const seen: LiveStatus[] = [];
  const update: LiveUpdate[] = [];
  let signedOut = 0;
  const connection = createLiveConnection({
    fetch: broker.fetch,
    timers,
    random: () => 0.5,
    onSignedOut: () => void (signedOut += 1),
  });
  connection.onStatus(() => seen.push(connection.status()));
  connection.onUpdate((each) => update.push(each));
  connection.start();
  return { timers, broker, seen, news: update, connection, signedOut: () => signedOut };
}

test("it is live once the broker says hello, and tells what changed", async () => {
  const { broker, connection, news: update } = live();
  await settle();
  expect(connection.status()).toBe("connecting");
  broker.streams[0]?.send(HELLO);
  broker.streams[0]?.send(CHANGES);
  await settle();
  expect(connection.status()).toBe("live");
  expect(update).toEqual([
    { kind: "reload" },
    { kind: "changes", changes: expect.objectContaining({ commit: 5 }) },
  ]);
});

test("after a break it continues where it was, and lists are read again", async () => {
  const { timers, broker, news: update, seen } = live();
  await settle();
  broker.streams[0]?.send(HELLO);
  broker.streams[0]?.send(CHANGES);
  await settle();
  broker.streams[0]?.end();
  await timers.advance(1000);
  expect(broker.streams[1]?.lastEventId).toBe("5");
  broker.streams[1]?.send(HELLO);
  await settle();
  expect(seen).toEqual(["live", "reconnecting", "live"]);
  expect(update.at(-1)).toEqual({ kind: "reload" });
});

test("comments alone keep it live; 12 s of silence make it stale, and a new connection is opened", async () => {
  const { timers, broker, connection } = live();
  await settle();
  broker.streams[0]?.send(HELLO);
  for (let beat = 0; beat < 6; beat++) {
    await timers.advance(4000);
    broker.streams[0]?.send(": still here\n\n");
    await settle();
  }
  expect(connection.status()).toBe("live");
  await timers.advance(11_900);
  expect(connection.status()).toBe("live");
  await timers.advance(4200);
  expect(connection.status()).toBe("stale");
  expect(broker.streams[0]?.isAborted()).toBe(true);
  expect(broker.streams).toHaveLength(2);
  broker.streams[1]?.send(HELLO);
  await settle();
  expect(connection.status()).toBe("live");
});

test.each(["unreachable", 503, "silent"] as const)(
  "a broker that is away (%s) is tried until it is back",
  async (refusal) => {
    const { timers, broker, connection } = live();
    await settle();
    broker.streams[0]?.send(HELLO);
    await settle();
    broker.refusal = refusal;
    broker.streams[0]?.end();
    await timers.advance(1000);
    expect(connection.status()).toBe("reconnecting");
    await timers.advance(30_000);
    expect(connection.status()).toBe("stale");
    broker.refusal = undefined;
    await timers.advance(13_000);
    broker.streams.at(-1)?.send(HELLO);
    await settle();
    expect(connection.status()).toBe("live");
  },
);

test("a reset tells lists to read again", async () => {
  const { broker, news: update } = live();
  await settle();
  broker.streams[0]?.send(`${HELLO}event: reset\nid: 9\ndata: {"commit":9}\n\n`);
  await settle();
  expect(update).toEqual([{ kind: "reload" }, { kind: "reload" }]);
});

test("an ended session is said once, and nothing is left running after stop", async () => {
  const { timers, broker, connection, signedOut } = live();
  broker.refusal = 401;
  await settle();
  broker.streams[0]?.end();
  await timers.advance(600);
  expect(signedOut()).toBe(1);
  connection.stop();
  expect(timers.pending()).toBe(0);
});
