import type { FakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { adminRome, limitedBrokers, paris, rome, UNFINISHED_CALL } from "./testing/limited-broker.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "./testing/samples.ts";

const start = limitedBrokers();
/** Only a guard: a busy machine takes its time. */
const GUARD = { timeout: 20_000 };

describe("too many calls of one cluster", () => {
  const limits = { requestsPerSecond: 10, requestBurst: 3 };

  test("are told to wait; another cluster does not notice, nor does an admin with its name", async () => {
    const { broker, time } = await start(limits);
    const poll = () => broker.call(rome, "GET /api/v1/instructions", { headers: NEWER_AGENT });
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push((await poll()).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const refused = await poll();
    expect(refused).toMatchObject({
      json: { code: "rate-limited" },
      headers: { "retry-after": "1", connection: "keep-alive" },
    });
    expect((await broker.call(paris, "GET /api/v1/instructions")).status).toBe(200);
    expect((await broker.call(adminRome, "GET /api/v1/members")).status).toBe(200);
    await time.advance(100);
    expect((await poll()).status).toBe(200);
    expect((await poll()).status).toBe(429);
  });

  test("are never 429 for a reservation without a key, nor for an agent that takes that as final", async () => {
    const { broker } = await start(limits);
    for (let count = 0; count < 3; count++) await broker.call(rome, "GET /api/v1/instructions");
    const keyless = await broker.call(rome, "POST /api/v1/reservations", {
      body: requestOf(),
      headers: NEWER_AGENT,
    });
    expect(keyless).toMatchObject({
      status: 503,
      json: { code: "overloaded" },
      headers: { "retry-after": "1" },
    });
    expect((await broker.call(rome, "GET /api/v1/instructions")).status).toBe(503);
    const keyed = await broker.call(rome, "POST /api/v1/reservations", {
      body: requestOf(),
      headers: { "Idempotency-Key": "k" },
    });
    expect(keyed.status).toBe(429);
    expect(broker.engine.ledger.reservations.size).toBe(0);
  });
});

/** A connection that was turned away is not read for a moment: time must pass until its next call is answered. */
async function callWithRetry<T>(time: FakeClock, reply: Promise<T>): Promise<T> {
  let isAnswered = false;
  const answered = reply.finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) await time.advance(10);
  return await answered;
}

describe("overload", () => {
  test("turns new reservations and quotes away before anything else", async () => {
    const { broker, time, store } = await start({ maxSheddableInFlight: 2 });
    const made = await broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    const { id } = made.json as { id: string };
    const release = store.blockCommits();
    const reserve = () => broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    const waiting = [reserve(), reserve()];
    await store.untilBlocked();
    await expect
      .poll(async () => (await broker.call(rome, "POST /api/v1/quotes", { body: requestOf() })).status, GUARD)
      .toBe(503);
    const shed = await callWithRetry(time, reserve());
    expect(shed).toMatchObject({
      status: 503,
      json: { code: "overloaded" },
      headers: { connection: "keep-alive" },
    });
    expect(Number(shed.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    const renewal = broker.call(rome, `POST /api/v1/reservations/${id}/renew`, { body: { duration: "1h" } });
    expect(
      (await broker.call(paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") })).status,
    ).toBe(200);
    release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201]);
    expect((await callWithRetry(time, renewal)).status).toBe(200);
    expect(broker.engine.ledger.reservations.size).toBe(3);
  });

  test("a caller that leaves in the middle of its body does not count for ever", async () => {
    const { broker, time } = await start({ maxSheddableInFlight: 1 });
    const line = await openRawConnection(broker.port, rome);
    line.send(UNFINISHED_CALL);
    const reserve = () => broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    await expect.poll(async () => (await callWithRetry(time, reserve())).status, GUARD).toBe(503);
    line.socket.destroy();
    await expect.poll(async () => (await callWithRetry(time, reserve())).status, GUARD).toBe(201);
  });
});
