import { X509Certificate } from "node:crypto";
import { type EnrollmentDTO, PATH } from "@resource-broker/contract";
import { publicKeyHash, systemClock } from "@resource-broker/runtime";
import {
  commonName,
  type Credentials,
  reply,
  type Script,
  startFakeBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { enrollAtBroker } from "./enroll-at-broker.ts";
import { HINTS } from "./testing/client-of.ts";

const SECRET = "s".repeat(43);
const ENROLLMENT: EnrollmentDTO = {
  clusterID: "rome",
  tokenID: "k3u7dq2hvm",
  secret: SECRET,
  identityKey: "i".repeat(43),
  publicKey: "AAAA",
  keySignature: "k".repeat(86),
  tokenSignature: "t".repeat(86),
};

const certificates = await testCertificates();
const caHash = publicKeyHash(new X509Certificate(certificates.ca.cert).publicKey);
const ISSUED = { state: "issued", certificate: "x", authorities: "y", notAfter: "2026-07-31T10:00:00Z" };

interface Setup {
  readonly credentials?: Pick<Credentials, "cert" | "key" | "ca">;
  /** What it says that its authorities are. */
  readonly authorities?: string;
  readonly signer?: string;
  readonly enroll?: Script;
}

async function server(setup: Setup = {}) {
  const {
    credentials = certificates.broker,
    authorities = certificates.ca.cert,
    signer = "embedded",
  } = setup;
  return startFakeBroker({
    credentials,
    takesAnyone: true,
    whenDone: onTestFinished,
    script: (response, call) =>
      (call.url === PATH.trust ? reply(200, { authorities, signer }) : (setup.enroll ?? reply(200, ISSUED)))(
        response,
        call,
      ),
  });
}

const enroll = (...brokerUrls: readonly string[]) =>
  enrollAtBroker({ brokerUrls, caHashes: ["0".repeat(64), caHash] }, () => ENROLLMENT, {
    clock: systemClock(() => 0),
    hints: HINTS,
  });

test("the secret is sent to the broker that the invitation names, on the second connection", async () => {
  const broker = await server();
  expect(await enroll(broker.url)).toEqual(ISSUED);
  expect(broker.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    `GET ${PATH.trust}`,
    `POST ${PATH.enroll}`,
  ]);
  expect(JSON.stringify(broker.received[0])).not.toContain(SECRET);
  expect(JSON.parse(broker.received[1]?.body ?? "")).toEqual(ENROLLMENT);
});

describe("the secret is not sent to", () => {
  const foreign = certificates.authority({ subject: [commonName("Resource Broker test CA")] });
  const serverOf = (names: readonly string[], issuer = certificates.ca) =>
    certificates.leaf(
      { subject: [commonName("broker")], extendedKeyUsage: ["serverAuth"], subjectAltNames: names },
      issuer,
    );
  const rows: readonly (readonly [string, Setup, RegExp])[] = [
    [
      "a server whose authority is another one of the same name",
      { credentials: serverOf(["IP:127.0.0.1"], foreign), authorities: foreign.cert },
      /no authority of this server is one that the invitation names \(it has [0-9a-f]{64}\); nothing was sent/,
    ],
    [
      "a server that shows the broker's authority and has a certificate of another",
      { credentials: serverOf(["IP:127.0.0.1"], foreign) },
      /not signed by the authority/,
    ],
    [
      "a server that shows the broker's authority beside its own",
      {
        credentials: serverOf(["IP:127.0.0.1"], foreign),
        authorities: foreign.cert + certificates.ca.cert,
      },
      /not signed by the authority/,
    ],
    [
      "a server whose certificate is for another host",
      { credentials: serverOf(["DNS:elsewhere.example"]) },
      /not made for 127\.0\.0\.1/,
    ],
    [
      "a cluster that uses its own certificate as a server",
      {
        credentials: certificates.leaf({ subject: [commonName("paris")], subjectAltNames: ["IP:127.0.0.1"] }),
      },
      /not made for servers/,
    ],
    [
      "a server whose authority is no authority",
      { authorities: certificates.leaf({ subject: [commonName("paris")], keys: certificates.ca.keys }).cert },
      /no authority of this server/,
    ],
    [
      "a broker that enrolls nobody",
      { signer: "none" },
      /issues no certificates; set --enrollment-cert-path/,
    ],
  ];
  test.each(rows)("%s", async (_, setup, problem) => {
    const broker = await server(setup);
    await expect(enroll(broker.url)).rejects.toThrow(problem);
    expect(broker.received.map(({ method }) => method)).toEqual(["GET"]);
    expect(JSON.stringify(broker.received)).not.toContain(SECRET);
  });
});

describe("of several addresses", () => {
  const fault = (status: number, code: string, message: string) =>
    reply(status, { error: { code, message } });

  test("the next one is asked where one does not answer, is not trusted or cannot serve now", async () => {
    const foreign = certificates.authority();
    const untrusted = await server({ authorities: foreign.cert });
    const follower = await server({ enroll: fault(503, "not-leader", "another replica leads") });
    const leader = await server();
    expect(await enroll("https://127.0.0.1:1", untrusted.url, follower.url, leader.url)).toEqual(ISSUED);
  });

  test("none is asked again after the broker has refused the token", async () => {
    const first = await server({ enroll: fault(401, "no-certificate", "the token is unknown or wrong") });
    const second = await server();
    await expect(enroll(first.url, second.url)).rejects.toMatchObject({
      code: "no-certificate",
      message: expect.stringContaining("the token is unknown or wrong"),
    });
    expect(second.received).toEqual([]);
  });

  test("every one that failed is named", async () => {
    await expect(enroll("https://127.0.0.1:1", "https://127.0.0.1:2")).rejects.toThrow(
      /127\.0\.0\.1:1: nothing listens.*127\.0\.0\.1:2: nothing listens/,
    );
  });
});
