import { describe, expect, test } from "vitest";
import { limitedBrokers, rome } from "./testing/limited-broker.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { requestOf } from "./testing/samples.ts";

const KIB = 1024;
const CHUNKED = [
  "POST /api/v1/reservations HTTP/1.1",
  "Host: b",
  "Content-Type: application/json",
  "Transfer-Encoding: chunked",
  "",
  "",
].join("\r\n");

const start = limitedBrokers();

const filled = (bytes: number): string =>
  JSON.stringify({ ...requestOf("1", "1Gi"), note: "x".repeat(bytes) });

describe("the size of a body", () => {
  test("up to 256 KiB is read, more is refused without being kept", async () => {
    const { broker } = await start();
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

  test("is watched when it comes in chunks that state no length", async () => {
    const { broker } = await start();
    const line = await openRawConnection(broker.port, rome);
    line.send(CHUNKED);
    const chunk = `${(64 * KIB).toString(16)}\r\n${"x".repeat(64 * KIB)}\r\n`;
    for (let count = 0; count < 6; count++) line.send(chunk);
    line.send("0\r\n\r\n");
    expect(await line.hears("too-large")).toContain("413 Payload Too Large");
  });

  test("is refused before it is sent, where the caller asks first", async () => {
    const { broker } = await start();
    const line = await openRawConnection(broker.port, rome);
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
    const polite = await openRawConnection(broker.port, rome);
    const body = JSON.stringify(requestOf("1", "1Gi"));
    polite.send(head(body.length));
    await polite.hears("100 Continue");
    polite.send(body);
    expect(await polite.hears("decisionID")).toContain("201 Created");
  });
});
