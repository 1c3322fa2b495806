import { describe, expect, test } from "vitest";
import { caller } from "./testing/call.ts";
import { adminRome, limitedBrokers, paris, rome, UNFINISHED_CALL } from "./testing/limited-broker.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { requestOf } from "./testing/samples.ts";

const start = limitedBrokers();
/** Only a guard: a busy machine takes its time. */
const GUARD = { timeout: 20_000 };

describe("slow callers", () => {
  test("are cut off when their body does not come", async () => {
    const { broker } = await start({ headersTimeoutMs: 200, requestTimeoutMs: 400 });
    const line = await openRawConnection(broker.port, rome);
    line.send(UNFINISHED_CALL);
    expect(await line.closed).toContain("408 Request Timeout");
    expect(broker.engine.ledger.reservations.size).toBe(0);
  });
});

describe("connections", () => {
  test("beyond what one cluster may have are told so and closed; another cluster's are not, nor those of an admin with its name", async () => {
    const { broker } = await start({ maxSocketsPerCluster: 2 });
    const lines = [await openRawConnection(broker.port, rome), await openRawConnection(broker.port, rome)];
    for (const line of lines) expect(await line.ask("/api/v1/instructions")).toContain("200 OK");
    const third = await openRawConnection(broker.port, rome);
    third.send("GET /api/v1/instructions HTTP/1.1\r\nHost: b\r\n\r\n");
    const heard = await third.closed;
    expect(heard).toContain("503 Service Unavailable");
    expect(heard).toContain("rome has 2 connections open already");
    expect((await broker.call(paris, "GET /api/v1/instructions")).status).toBe(200);
    expect((await broker.call(adminRome, "GET /api/v1/members")).status).toBe(200);
    lines[0]?.socket.destroy();
    const next = async () => (await openRawConnection(broker.port, rome)).ask("/api/v1/instructions");
    await expect.poll(next, GUARD).toContain("200 OK");
    // One has gone and one has come: there is room for no other.
    expect(await next()).toContain("rome has 2 connections open already");
  });

  test("are refused beyond the total", async () => {
    const { broker } = await start({ maxSockets: 3 });
    const lines = [await openRawConnection(broker.port, rome), await openRawConnection(broker.port, rome)];
    await expect(openRawConnection(broker.port, rome)).rejects.toThrow(/disconnected|ECONNRESET|closed/);
    for (const { socket } of lines) socket.destroy();
  });
});

describe("an orderly end", () => {
  test("answers what is under way, ends the streams, takes nothing new, and keeps no connection", async () => {
    const { broker, store } = await start();
    const stream = await openRawConnection(broker.port, paris);
    await stream.ask("/api/v1/instructions?watch=true");
    const idle = await openRawConnection(broker.port, rome);
    await idle.ask("/api/v1/instructions");
    const unused = await openRawConnection(broker.port, rome);
    const release = store.blockCommits();
    const underWay = broker.call(rome, "POST /api/v1/reservations", { body: requestOf() });
    await store.untilBlocked();
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
    const { broker, time, store } = await start();
    const release = store.blockCommits();
    const stuck = broker.call(rome, "POST /api/v1/reservations", {
      body: requestOf(),
      headers: { "Idempotency-Key": "k" },
    });
    const outcome = stuck.catch((error: unknown) => error);
    await store.untilBlocked();
    const stopped = broker.http.stop();
    await time.advance(4000);
    await stopped;
    expect(await outcome).toMatchObject({ message: "socket hang up" });
    release();
  });
});
