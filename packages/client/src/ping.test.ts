import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import {
  type Credentials,
  commonName,
  fakeClock,
  settle,
  startBroker,
  startGoBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import { clientOf } from "./testing/client-of.ts";
import { reply, scriptedBroker } from "./testing/scripted-broker.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const PAST = { notBefore: new Date("2020-01-01"), notAfter: new Date("2021-01-01") };
const FUTURE = { notBefore: new Date("2090-01-01"), notAfter: new Date("2099-01-01") };

let broker: Awaited<ReturnType<typeof startBroker>>;
beforeAll(async () => {
  broker = await startBroker({ certificates });
});
afterAll(() => broker.dispose());
const brokerUrl = (): string => `https://127.0.0.1:${broker.port}`;

async function agent(
  url: string,
  credentials: Pick<Credentials, "cert" | "key" | "ca"> = rome,
): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls: [url], credentials });
  onTestFinished(client.close);
  return client;
}

/** A port that nobody listens on, right now. */
async function unusedPort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("a ping", () => {
  test("answers when the broker lets us in", async () => {
    await expect((await agent(brokerUrl())).ping()).resolves.toBeUndefined();
  });

  test("names the host that the DNS does not know, and the flag", async () => {
    const lost = await agent("https://broker.invalid:8443");
    await expect(lost.ping()).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/^https:\/\/broker\.invalid:8443: .*broker\.invalid.*--broker-url/),
    });
  });

  test("says that nobody listens", async () => {
    const url = `https://127.0.0.1:${await unusedPort()}`;
    await expect((await agent(url)).ping()).rejects.toMatchObject({
      code: "unreachable",
      message: `${url}: nothing listens there; check the port in --broker-url and whether the broker runs`,
    });
  });

  test("says that something else than TLS is spoken there", async () => {
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const plain = await agent(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(plain.ping()).rejects.toThrow("does not speak TLS");
  });

  test("names ca.crt when it is another authority's", async () => {
    const { cert: ca } = certificates.authority();
    await expect((await agent(brokerUrl(), { ...rome, ca })).ping()).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/ca\.crt.*--broker-cert-path/),
    });
  });

  test("names the host that the broker's certificate is not made for", async () => {
    const credentials = certificates.leaf({
      subject: [commonName("broker")],
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: ["DNS:broker.example"],
    });
    const { url } = await scriptedBroker(credentials);
    await expect((await agent(url)).ping()).rejects.toThrow("certificate is not made for 127.0.0.1");
  });

  test.each([
    ["expired", PAST, "its certificate has expired; renew tls.crt at the broker"],
    ["not valid yet", FUTURE, "its certificate is not valid yet; compare the clocks"],
  ])("says that the broker's certificate is %s", async (_, validity, message) => {
    const credentials = certificates.leaf({
      subject: [commonName("broker")],
      extendedKeyUsage: ["serverAuth"],
      subjectAltNames: ["IP:127.0.0.1"],
      ...validity,
    });
    const { url } = await scriptedBroker(credentials);
    await expect((await agent(url)).ping()).rejects.toThrow(message);
  });

  test("says that our certificate has expired, and how to make a new one", async () => {
    const expired = certificates.leaf({ subject: [commonName("rome")], ...PAST });
    await expect((await agent(brokerUrl(), expired)).ping()).rejects.toMatchObject({
      code: "no-certificate",
      message: expect.stringMatching(
        /it has expired.*tls\.crt.*--broker-cert-path.*brokerctl certs issue rome/,
      ),
    });
  });

  test("says that our certificate is of another authority", async () => {
    const foreign = certificates.leaf({ subject: [commonName("rome")] }, certificates.authority());
    await expect((await agent(brokerUrl(), foreign)).ping()).rejects.toMatchObject({
      code: "no-certificate",
    });
  });

  test("says so, too, when the broker breaks off the handshake", async () => {
    const older = await startGoBroker({ credentials: certificates.broker, clock: fakeClock() });
    onTestFinished(older.close);
    const foreign = certificates.leaf({ subject: [commonName("rome")] }, certificates.authority());
    await expect((await agent(older.url, foreign)).ping()).rejects.toMatchObject({ code: "unreachable" });
  });

  test("passes on that we may not", async () => {
    const { url } = await scriptedBroker(
      certificates.broker,
      reply(403, { error: "rome is barred", code: "forbidden" }),
    );
    await expect((await agent(url)).ping()).rejects.toMatchObject({
      code: "forbidden",
      message: "rome is barred",
    });
  });

  test("says that a page came from something else", async () => {
    const { url } = await scriptedBroker(certificates.broker, (response) => {
      response.writeHead(502, { "Content-Type": "text/html" });
      response.end("<html>Bad gateway</html>");
    });
    await expect((await agent(url)).ping()).rejects.toThrow(
      `${url}: 502 with text/html came, and not from a broker`,
    );
  });
});

test("a connection that is not made in time is given up", async () => {
  const silent = createTcpServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const clock = fakeClock();
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { client } = await clientOf({ brokerUrls: [url], credentials: rome, clock });
  const connected = once(silent, "connection");
  const pinged = client.ping().catch((error: Error) => error.message);
  await connected;
  await settle();
  await clock.advance(30_000);
  expect(await pinged).toContain("no connection within 5 s");
  await client.close();
});

test("a certificate without a name is refused at the start", async () => {
  const nameless = certificates.leaf({ subject: [] });
  await expect(agent(brokerUrl(), nameless)).rejects.toMatchObject({
    code: "no-certificate",
    message: expect.stringContaining("--broker-cert-path"),
  });
});
