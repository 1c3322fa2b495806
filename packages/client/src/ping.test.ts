import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import {
  type Credentials,
  commonName,
  type FakeBrokerOptions,
  fakeClock,
  reply,
  type Script,
  settle,
  startBroker,
  startFakeBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const PAST = { notBefore: new Date("2020-01-01"), notAfter: new Date("2021-01-01") };
const FUTURE = { notBefore: new Date("2090-01-01"), notAfter: new Date("2099-01-01") };

let broker: Awaited<ReturnType<typeof startBroker>>;
beforeAll(async () => {
  broker = await startBroker({ certificates });
});
afterAll(() => broker.dispose());

async function agent(
  url = `https://127.0.0.1:${broker.port}`,
  credentials: Pick<Credentials, "cert" | "key" | "ca"> = rome,
): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls: [url], credentials });
  onTestFinished(client.close);
  return client;
}

/** It ends with the test. */
async function addressOf(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const agentOf = async (options: Partial<FakeBrokerOptions>) => {
  const fake = { credentials: certificates.broker, whenDone: onTestFinished, ...options };
  return agent((await startFakeBroker(fake)).url);
};
const serverCertificate = (more: object) => {
  const server = { extendedKeyUsage: ["serverAuth"], subjectAltNames: ["IP:127.0.0.1"] } as const;
  const credentials = certificates.leaf({ subject: [commonName("broker")], ...server, ...more });
  return agentOf({ credentials });
};
const answering = (script: Script) => agentOf({ script });

test.each<[problem: string, from: () => Promise<BrokerClient>, code: string, says: RegExp]>([
  [
    "nobody listens",
    async () => {
      const server = createTcpServer();
      const url = await addressOf(server);
      server.close();
      return agent(url);
    },
    "unreachable",
    /^https:\S+ nothing listens there; check the port in --broker-url and whether the broker runs$/,
  ],
  [
    "something else than TLS is spoken there",
    async () => agent(await addressOf(createServer((_, response) => response.end("hello")))),
    "unreachable",
    /does not speak TLS/,
  ],
  [
    "ca.crt is another authority's",
    () => agent(undefined, { ...rome, ca: certificates.authority().cert }),
    "unreachable",
    /ca\.crt.*--broker-cert-path/,
  ],
  [
    "the broker's certificate is not made for us",
    () => serverCertificate({ subjectAltNames: ["DNS:x.example"] }),
    "unreachable",
    /certificate is not made for 127.0.0.1/,
  ],
  [
    "it has expired",
    () => serverCertificate(PAST),
    "unreachable",
    /its certificate has expired; renew tls.crt at the broker/,
  ],
  [
    "it is not valid yet",
    () => serverCertificate(FUTURE),
    "unreachable",
    /its certificate is not valid yet; compare the clocks/,
  ],
  [
    "our certificate has expired",
    () => agent(undefined, certificates.leaf({ subject: [commonName("rome")], ...PAST })),
    "no-certificate",
    /it has expired.*tls\.crt.*--broker-cert-path.*brokerctl certs issue rome/,
  ],
  [
    "we may not",
    () => answering(reply(403, { error: "rome is barred", code: "forbidden" })),
    "forbidden",
    /^rome is barred$/,
  ],
  [
    "a page came from something else",
    () =>
      answering((response) => {
        response.writeHead(502, { "Content-Type": "text/html" });
        response.end("<html>Bad gateway</html>");
      }),
    "unreachable",
    /^https:\S+ 502 with text\/html came, and not from a broker/,
  ],
])("a ping says that %s, and what helps", async (_, from, code, says) => {
  const message: unknown = expect.stringMatching(says);
  await expect((await from()).ping()).rejects.toMatchObject({ code, message });
});

test("a connection that is not made in time is given up", async () => {
  const silent = createTcpServer((socket) => socket.on("error", () => undefined));
  const brokerUrls = [await addressOf(silent)];
  const clock = fakeClock();
  const { client } = await clientOf({ brokerUrls, credentials: rome, clock });
  const connected = once(silent, "connection");
  const pinged = client.ping().catch((error: Error) => error.message);
  await connected;
  await settle();
  await clock.advance(30_000);
  expect(await pinged).toContain("no connection within 5 s");
  await client.close();
});

test("a certificate without a name is refused at the start", async () => {
  const message: unknown = expect.stringContaining("--broker-cert-path");
  const nameless = agent(undefined, certificates.leaf({ subject: [] }));
  await expect(nameless).rejects.toMatchObject({ code: "no-certificate", message });
});
