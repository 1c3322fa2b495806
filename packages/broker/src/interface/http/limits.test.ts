import {
  type FakeTime,
  fakeTime,
  type MemoryStore,
  memoryStore,
  testCertificates,
} from "@resource-broker/testkit";
import { afterEach, describe, expect, test } from "vitest";
import type { HttpLimits } from "./ports.ts";
import { caller } from "./testing/call.ts";
import { openLine } from "./testing/line.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "./testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const KIB = 1024;

let broker: RunningBroker;
let time: FakeTime;
let store: MemoryStore;
afterEach(() => broker.stop());

async function start(limits: Partial<HttpLimits> = {}, maxWaiting = 1000): Promise<RunningBroker> {
  time = fakeTime();
  store = memoryStore();
  broker = await runBroker({ store, machine: time, certificates: certificates.broker, limits, maxWaiting });
  await broker.call(paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") });
  return broker;
}

const filled = (bytes: number): string =>
  JSON.stringify({ ...requestOf("1", "1Gi"), note: "x".repeat(bytes) });

describe("the size of a body", () => {
  test("up to 256 KiB is read, more is refused without being kept", async () => {
    await start();
    const reserve = (body: string) => broker.call(rome, "POST /api/v1/reservations", { body });
    expect((await reserve(filled(255 * KIB))).status).toBe(201);
    for (const size of [257 * KIB, 1024 * KIB, 3 * 1024 * KIB]) {
      const reply = await reserve(filled(size)).catch((error: unknown) => error);
      // A sender that goes on after the answer may find the connection closed before it reads.
      if (!(reply instanceof Error))
        expect(reply).toMatchObject({ status: 413, json: { code: "too-large" } });
    }
    expect(broker.engine.ledger.reservations.size).toBe(1);
  });

  test("of an advertisement is up to 1 MiB", async () => {
    await start();
    const advertise = (bytes: number) =>
      broker.call(paris, "POST /api/v1/advertisements", {
        body: advertisementOf("paris", { note: "x".repeat(bytes) }),
      });
    expect((await advertise(1000 * KIB)).status).toBe(200);
    expect(await advertise(1025 * KIB)).toMatchObject({
      status: 413,
      json: { error: expect.stringContaining("1024 KiB") },
    });
  });

  test("is watched when it comes in chunks that state no length", async () => {
    await start();
    const line = await openLine(broker.port, rome);
    const head = [
      "POST /api/v1/reservations HTTP/1.1",
      "Host: b",
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ];
    line.send(`${head.join("\r\n")}\r\n\r\n`);
    const chunk = `${(64 * KIB).toString(16)}\r\n${"x".repeat(64 * KIB)}\r\n`;
    for (let count = 0; count < 6; count++) line.send(chunk);
    line.send("0\r\n\r\n");
    expect(await line.hears("too-large")).toContain("413 Payload Too Large");
  });

  test("a small chunked body is read like any other", async () => {
    await start();
    const line = await openLine(broker.port, rome);
    const body = JSON.stringify(requestOf("1", "1Gi"));
    const head = [
      "POST /api/v1/reservations HTTP/1.1",
      "Host: b",
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
    ];
    line.send(`${head.join("\r\n")}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect(await line.hears("}")).toContain("201 Created");
  });

  test("is refused before it is sent, where the caller asks first", async () => {
    await start();
    const line = await openLine(broker.port, rome);
    const head = (length: number) =>
      [
        "POST /api/v1/reservations HTTP/1.1",
        "Host: b",
        "Content-Type: application/json",
        "Expect: 100-continue",
        `Content-Length: ${length}`,
        "",
        "",
      ].join("\r\n");
    line.send(head(300 * KIB));
    const heard = await line.closed;
    expect(heard).toContain("413 Payload Too Large");
    expect(heard).not.toContain("100 Continue");
    const polite = await openLine(broker.port, rome);
    const body = JSON.stringify(requestOf("1", "1Gi"));
    polite.send(head(body.length));
    await polite.hears("100 Continue");
    polite.send(body);
    expect(await polite.hears("decisionID")).toContain("201 Created");
  });

  test("the connection goes on after a body that was too large, or that nobody read", async () => {
    await start();
    const line = await openLine(broker.port, rome);
    const body = filled(300 * KIB);
    line.send(
      `POST /api/v1/reservations HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await line.hears("413 Payload Too Large");
    line.send("POST /nowhere HTTP/1.1\r\nHost: b\r\nContent-Length: 5\r\n\r\nhello");
    await line.hears("404 Not Found");
    line.send("GET /healthz HTTP/1.1\r\nHost: b\r\n\r\n");
    expect(await line.hears("200 OK")).toContain("ok");
  });
});

describe("slow callers", () => {
  test("are cut off when their headers do not come", async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const line = await openLine(broker.port, rome);
    line.send("GET /api/v1/instructions HTTP/1.1\r\nHost:");
    expect(await line.closed).toContain("408 Request Timeout");
  });

  test("are cut off when their body does not come", async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const line = await openLine(broker.port, rome);
    line.send(
      "POST /api/v1/reservations HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    expect(await line.closed).toContain("408 Request Timeout");
    expect(broker.engine.ledger.reservations.size).toBe(0);
  });

  test("that connect and say nothing are cut off", async () => {
    await start({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const line = await openLine(broker.port, rome);
    expect(await line.closed).toContain("408");
  });

  test("may take as long as they like to read a stream", async () => {
    await start({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const line = await openLine(broker.port, rome);
    await line.ask("/api/v1/instructions?watch=true");
    const other = await openLine(broker.port, paris);
    await other.closed; // far longer than any time-out
    expect(line.socket.destroyed).toBe(false);
  });
});

describe("too many calls of one cluster", () => {
  const limits = { requestsPerSecond: 10, requestBurst: 3 };

  test("are told to wait, and another cluster does not notice", async () => {
    await start(limits);
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
    await time.advance(100);
    expect((await poll()).status).toBe(200);
    expect((await poll()).status).toBe(429);
  });

  test("are never 429 for a reservation without a key, nor for an agent that takes that as final", async () => {
    await start(limits);
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
async function patiently<T>(reply: Promise<T>): Promise<T> {
  let isAnswered = false;
  const answered = reply.finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) await time.advance(10);
  return await answered;
}

describe("overload", () => {
  test("turns new reservations and quotes away before anything else", async () => {
    await start({ maxSheddableInFlight: 2 });
    const made = await broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    const { id } = made.json as { id: string };
    const release = store.hold();
    const reserve = () => broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    const waiting = [reserve(), reserve()];
    await store.held();
    await expect
      .poll(async () => (await broker.call(rome, "POST /api/v1/quotes", { body: requestOf() })).status)
      .toBe(503);
    const shed = await patiently(reserve());
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
    expect((await patiently(renewal)).status).toBe(200);
    expect(broker.engine.ledger.reservations.size).toBe(3);
  });

  test("a connection that was turned away is not read again before others are served", async () => {
    await start({ maxSheddableInFlight: 1 });
    const release = store.hold();
    const reserve = (line = broker.call) =>
      line(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    const waiting = reserve();
    await store.held();
    const other = caller(broker.port);
    expect((await reserve(other.call)).status).toBe(503);
    let isAnswered = false;
    const again = reserve(other.call).finally(() => {
      isAnswered = true;
    });
    await broker.call(paris, "GET /healthz");
    expect(isAnswered).toBe(false);
    release();
    expect((await waiting).status).toBe(201);
    expect((await patiently(again)).status).toBe(201);
    other.close();
  });

  test("a caller that leaves in the middle of its body does not count for ever", async () => {
    await start({ maxSheddableInFlight: 1 });
    const line = await openLine(broker.port, rome);
    line.send(
      "POST /api/v1/reservations HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    const reserve = () => broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
    await expect.poll(async () => (await patiently(reserve())).status).toBe(503);
    line.socket.destroy();
    await expect.poll(async () => (await patiently(reserve())).status).toBe(201);
  });

  test("is also told when the engine has too much waiting", async () => {
    await start({}, 0);
    const reply = await broker.call(rome, "POST /api/v1/reservations", { body: requestOf() });
    expect(reply).toMatchObject({
      status: 503,
      json: { code: "overloaded" },
      headers: { "retry-after": "1" },
    });
  });
});

describe("connections", () => {
  test("beyond what one cluster may have are told so and closed; another cluster's are not", async () => {
    await start({ maxSocketsPerCluster: 2 });
    const lines = [await openLine(broker.port, rome), await openLine(broker.port, rome)];
    for (const line of lines) expect(await line.ask("/api/v1/instructions")).toContain("200 OK");
    const third = await openLine(broker.port, rome);
    third.send("GET /api/v1/instructions HTTP/1.1\r\nHost: b\r\n\r\n");
    const heard = await third.closed;
    expect(heard).toContain("503 Service Unavailable");
    expect(heard).toContain("rome has 2 connections open already");
    expect((await broker.call(paris, "GET /api/v1/instructions")).status).toBe(200);
    lines[0]?.socket.destroy();
    const next = async () => (await openLine(broker.port, rome)).ask("/api/v1/instructions");
    await expect.poll(next).toContain("200 OK");
  });

  test("are refused beyond the total", async () => {
    await start({ maxSockets: 3 });
    const lines = [await openLine(broker.port, rome), await openLine(broker.port, rome)];
    await expect(openLine(broker.port, rome)).rejects.toThrow(/disconnected|ECONNRESET|closed/);
    for (const { socket } of lines) socket.destroy();
  });
});

describe("an orderly end", () => {
  test("answers what is under way, ends the streams, takes nothing new, and keeps no connection", async () => {
    await start();
    const stream = await openLine(broker.port, paris);
    await stream.ask("/api/v1/instructions?watch=true");
    const idle = await openLine(broker.port, rome);
    await idle.ask("/api/v1/instructions");
    const unused = await openLine(broker.port, rome);
    const release = store.hold();
    const underWay = broker.call(rome, "POST /api/v1/reservations", { body: requestOf() });
    await store.held();
    const stopped = broker.http.stop();
    await stream.closed;
    await idle.closed;
    release();
    const reply = await underWay;
    expect(reply).toMatchObject({ status: 201, headers: { connection: "close" } });
    await stopped;
    await unused.closed;
    const { call, close } = caller(broker.port);
    await expect(call(rome, "GET /healthz")).rejects.toThrow(/ECONNREFUSED|connect/);
    close();
  });

  test("does not wait for ever for a call that does not end", async () => {
    await start();
    const release = store.hold();
    const stuck = broker.call(rome, "POST /api/v1/reservations", {
      body: requestOf(),
      headers: { "Idempotency-Key": "k" },
    });
    const outcome = stuck.catch((error: unknown) => error);
    await store.held();
    const stopped = broker.http.stop();
    await time.advance(4000);
    await stopped;
    expect(await outcome).toMatchObject({ message: "socket hang up" });
    release();
  });
});
