import { X509Certificate } from "node:crypto";
import { type AddressInfo, connect as connectPlain, createServer as createRoad } from "node:net";
import {
  type Credentials,
  fakeClock,
  memoryStore,
  PERMISSIVE_CLIENT,
  testCertificates,
  UNUSUAL_CERTIFICATES,
  WRONG_CERTIFICATES,
} from "@resource-broker/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ClientCredentials, caller, type TestReply } from "./testing/call.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const nobody = { ca: certificates.ca.cert };
const start = (): Promise<RunningBroker> =>
  runBroker({ store: memoryStore(), clock: fakeClock(), certificates: certificates.broker });

/** A way to the broker that stops behind the client's first words until the test lets the rest through. */
async function slowRoad(port: number) {
  let hold: (resume: () => void) => void = () => undefined;
  const letThrough = new Promise<() => void>((resolve) => {
    hold = resolve;
  });
  const road = createRoad((client) => {
    const broker = connectPlain({ port, host: "localhost" });
    client.on("error", () => undefined);
    broker.on("error", () => undefined);
    broker.pipe(client);
    client.once("data", (hello) => {
      broker.write(hello);
      client.pause();
      broker.once("data", () => hold(() => void client.pipe(broker)));
    });
  });
  await new Promise<void>((resolve) => void road.listen(0, resolve));
  return { port: (road.address() as AddressInfo).port, letThrough, close: () => void road.close() };
}

/** Bytes straight to the port, without TLS. */
function speakPlainly(port: number, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectPlain({ port, host: "localhost" }, () => socket.write(bytes));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
    socket.resume();
  });
}

/** A connection of its own for one call; a refused handshake is an answer as well. */
async function callOnce(port: number, credentials: ClientCredentials, target: `${string} /${string}`) {
  const { call, close } = caller(port);
  try {
    return await call({ ...credentials, ...PERMISSIVE_CLIENT }, target);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    close();
  }
}

describe("a client certificate", () => {
  let broker: RunningBroker;
  beforeAll(async () => {
    broker = await start();
  });
  afterAll(() => broker.stop());

  test("is needed for everything else, and the answer says how to get one", async () => {
    for (const target of ["GET /api/v1/instructions", "POST /api/v1/reservations", "GET /nowhere"] as const) {
      const reply = await broker.call(nobody, target);
      expect(reply).toMatchObject({ status: 401, json: { code: "no-certificate" } });
      expect(reply.text).toContain("brokerctl certs issue");
      expect(reply.headers.connection).toBe("close");
    }
  });

  test.each(UNUSUAL_CERTIFICATES)("is accepted with $name", async ({ make, clusterId, admin }) => {
    const credentials = make(certificates);
    const own = await callOnce(broker.port, credentials, `GET /api/v1/advertisements/${clusterId}`);
    expect(own).toMatchObject({ status: 404 });
    const all = await callOnce(broker.port, credentials, "GET /api/v1/advertisements");
    expect(all).toMatchObject({ status: admin ? 200 : 403 });
  });

  test.each(WRONG_CERTIFICATES)("is refused when it is $name", async ({ make, refusedBy }) => {
    const reply = await callOnce(broker.port, make(certificates), "GET /api/v1/instructions");
    // Some are so wrong that the handshake itself fails.
    if (reply instanceof Error && refusedBy === "tls") return;
    expect(reply).toMatchObject({ status: 401, json: { code: "no-certificate" } });
    const { headers, text } = reply as TestReply;
    expect(headers.connection).toBe("close");
    expect(text).toContain("the client certificate is refused: it");
  });

  test.each([
    ["plain HTTP", "GET /healthz HTTP/1.1\r\nHost: broker\r\n\r\n"],
    ["noise", "\u0000\u0001\u0002".repeat(1000)],
    ["half a handshake", "\u0016\u0003\u0001\u0000\u0005hello"],
  ])("cannot be shown in %s: the connection is closed and the broker lives", async (_, bytes) => {
    await speakPlainly(broker.port, bytes);
    expect(await broker.call(rome, "GET /healthz")).toMatchObject({ status: 200 });
  });

  test("that is wrong opens no page at all, not even the public one", async () => {
    const [expired] = WRONG_CERTIFICATES.filter(({ name }) => name === "an expired certificate");
    const reply = await callOnce(broker.port, expired?.make(certificates) ?? nobody, "GET /healthz");
    expect(reply).toMatchObject({ status: 401 });
  });
});

describe("certificates that change while the broker runs", () => {
  let broker: RunningBroker;
  beforeEach(async () => {
    broker = await start();
  });
  afterEach(() => broker.stop());

  const instructions = "/api/v1/instructions";

  test("a revoked certificate closes its open connections and its streams, and nobody else's", async () => {
    const idle = await openRawConnection(broker.port, rome);
    const stream = await openRawConnection(broker.port, rome);
    const other = await openRawConnection(broker.port, paris);
    expect(await idle.ask(instructions)).toContain("200 OK");
    expect(await stream.ask(`${instructions}?watch=true`)).toContain("text/event-stream");
    expect(await other.ask(instructions)).toContain("200 OK");
    broker.replaceCertificates({ crl: certificates.crl([rome]) });
    await Promise.all([idle.closed, stream.closed]);
    expect(await other.ask(instructions)).toContain("200 OK");
    expect(broker.logged).toContainEqual(
      expect.stringContaining('connections closed: their certificates are no longer valid {"closed":2}'),
    );
    other.socket.destroy();
  });

  test("a revoked certificate is refused from then on, also by resuming an old session", async () => {
    const first = await openRawConnection(broker.port, rome);
    expect(await first.ask(instructions)).toContain("200 OK");
    const session = first.session();
    expect(session).toBeDefined();
    broker.replaceCertificates({ crl: certificates.crl([rome]) });
    await first.closed;
    const again = await openRawConnection(broker.port, rome, session);
    expect(again.socket.isSessionReused()).toBe(false);
    expect(await again.ask(instructions)).toMatch(/401 Unauthorized[\s\S]*was revoked/);
    await again.closed;
  });

  test("another authority closes what the old one vouched for, and lets its own in", async () => {
    const others = await testCertificates();
    const line = await openRawConnection(broker.port, rome);
    expect(await line.ask(instructions)).toContain("200 OK");
    broker.replaceCertificates({ ca: others.ca.cert });
    await line.closed;
    expect(await callOnce(broker.port, rome, `GET ${instructions}`)).toMatchObject({ status: 401 });
    const parisOfOthers = { ...others.cluster("paris"), ca: certificates.ca.cert };
    expect(await callOnce(broker.port, parisOfOthers, `GET ${instructions}`)).toMatchObject({ status: 200 });
  });

  test.each([
    { name: "another name", options: { subject: [{ type: "CN" as const, value: "Second CA" }] } },
    { name: "the same name and another key", options: {} },
  ])("a serial number is revoked for its own authority only: the other has $name", async ({ options }) => {
    const second = certificates.authority(options);
    const serial = Buffer.from(rome.serial, "hex");
    const twin = certificates.leaf({ subject: [{ type: "CN", value: "tokyo" }], serial }, second);
    expect(twin.serial).toBe(rome.serial);
    broker.replaceCertificates({ ca: certificates.ca.cert + second.cert, crl: certificates.crl([rome]) });
    const tokyo = { ...twin, ca: certificates.ca.cert };
    expect(await callOnce(broker.port, tokyo, `GET ${instructions}`)).toMatchObject({ status: 200 });
    expect(await callOnce(broker.port, rome, `GET ${instructions}`)).toMatchObject({ status: 401 });
  });

  test("a handshake that began under an authority that is trusted no more does not slip through", async () => {
    const { port, letThrough, close } = await slowRoad(broker.port);
    const connecting = openRawConnection(port, rome);
    const resume = await letThrough;
    const others = await testCertificates();
    broker.replaceCertificates({ ca: others.ca.cert });
    resume();
    const line = await connecting;
    expect(await line.ask(instructions)).toContain("401 Unauthorized");
    close();
  });

  test("below an intermediate authority a certificate works, and with a revocation list only when its issuer is known", async () => {
    const between = certificates.authority(
      { subject: [{ type: "CN", value: "Intermediate" }] },
      certificates.ca,
    );
    const leaf = certificates.leaf({ subject: [{ type: "CN", value: "rome" }] }, between);
    const chained = { ...leaf, cert: leaf.cert + between.cert };
    const line = await openRawConnection(broker.port, chained);
    expect(await line.ask(instructions)).toContain("200 OK");
    broker.replaceCertificates({ crl: certificates.crl([paris]) });
    await line.closed;
    const reply = await callOnce(broker.port, chained, `GET ${instructions}`);
    expect(reply).toMatchObject({
      status: 401,
      json: { error: expect.stringContaining("add the intermediate authority") },
    });
    broker.replaceCertificates({ ca: certificates.ca.cert + between.cert });
    expect(await callOnce(broker.port, chained, `GET ${instructions}`)).toMatchObject({ status: 200 });
  });

  test("a revoked intermediate authority takes all its certificates with it", async () => {
    const between = certificates.authority(
      { subject: [{ type: "CN", value: "Intermediate" }] },
      certificates.ca,
    );
    const leaf = certificates.leaf({ subject: [{ type: "CN", value: "rome" }] }, between);
    broker.replaceCertificates({ ca: certificates.ca.cert + between.cert });
    const line = await openRawConnection(broker.port, leaf);
    expect(await line.ask(instructions)).toContain("200 OK");
    broker.replaceCertificates({ crl: certificates.crl([{ serial: serialOf(between.cert) }]) });
    await line.closed;
    expect(await callOnce(broker.port, leaf, `GET ${instructions}`)).toMatchObject({ status: 401 });
  });

  test("a cluster that is called like the broker's new certificate is closed and refused", async () => {
    const line = await openRawConnection(broker.port, rome);
    expect(await line.ask(instructions)).toContain("200 OK");
    const renamed = certificates.leaf({
      subject: [{ type: "CN", value: "rome" }],
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: ["DNS:localhost"],
    });
    broker.replaceCertificates({ cert: renamed.cert, key: renamed.key });
    await line.closed;
    expect(await callOnce(broker.port, rome, `GET ${instructions}`)).toMatchObject({ status: 401 });
  });
});

test("a stream whose certificate runs out is closed within a minute", async () => {
  const time = fakeClock(Date.UTC(2047, 0, 1));
  const broker = await runBroker({ store: memoryStore(), clock: time, certificates: certificates.broker });
  const ending: Credentials = certificates.leaf({
    subject: [{ type: "CN", value: "rome" }],
    notAfter: new Date("2047-01-02T00:00:00Z"),
  });
  const line = await openRawConnection(broker.port, ending);
  expect(await line.ask("/api/v1/instructions?watch=true")).toContain("200 OK");
  time.jumpWall(24 * 3_600_000 + 1);
  await time.advance(60_000);
  await line.closed;
  await broker.stop();
});

function serialOf(pem: string): string {
  return new X509Certificate(pem).serialNumber;
}
