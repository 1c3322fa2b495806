import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type Credentials, testCertificates, writeCertificateFolder } from "./test-certificates.ts";
import { UNUSUAL_CERTIFICATES } from "./unusual-certificates.ts";
import { PERMISSIVE_CLIENT, WRONG_CERTIFICATES } from "./wrong-certificates.ts";

const certificates = await testCertificates();
const open = await listen();
afterAll(() => open.close());

describe("wrong certificates", () => {
  test("are at least forty kinds with names of their own", () => {
    expect(new Set(WRONG_CERTIFICATES.map(({ name }) => name)).size).toBe(WRONG_CERTIFICATES.length);
    expect(WRONG_CERTIFICATES.length).toBeGreaterThanOrEqual(40);
  });

  test.each(WRONG_CERTIFICATES)("$name: $refusedBy must refuse", async ({ make, refusedBy }) => {
    const { authorized } = await greet(open, make(certificates));
    expect(authorized ? "identity" : "tls").toBe(refusedBy);
  });
});

describe("unusual certificates", () => {
  test.each(UNUSUAL_CERTIFICATES)("$name: TLS accepts and names the cluster", async (row) => {
    const { authorized, subject } = await greet(open, row.make(certificates));
    expect(authorized).toBe(true);
    expect(subject.CN).toBe(row.clusterId);
    expect([subject.OU].flat().includes("broker-admin")).toBe(row.admin);
  });
});

describe("revocation", () => {
  test("a list refuses the certificate it names and no other", async () => {
    const [rome, paris] = [certificates.cluster("rome"), certificates.cluster("paris")];
    const server = await listen(certificates.crl([rome]));
    expect((await greet(server, rome)).problem).toBe("CERT_REVOKED");
    expect((await greet(server, paris)).authorized).toBe(true);
    server.close();
  });

  test.each([
    { name: "an empty list", options: {}, problem: "" },
    {
      name: "an outdated list",
      options: { nextUpdate: new Date("2021-01-01Z") },
      problem: "CRL_HAS_EXPIRED",
    },
    {
      name: "a list of the future",
      options: { thisUpdate: new Date("2048-01-01Z") },
      problem: "CRL_NOT_YET_VALID",
    },
    {
      name: "a list with a broken signature",
      options: { brokenSignature: true },
      problem: "CRL_SIGNATURE_FAILURE",
    },
  ])("$name yields $problem", async ({ options, problem }) => {
    const server = await listen(certificates.crl([], options));
    expect((await greet(server, certificates.cluster("rome"))).problem).toBe(problem);
    server.close();
  });
});

test("the broker's certificate serves localhost, 127.0.0.1 and ::1", () => {
  const { subjectAltName, keyUsage } = new X509Certificate(certificates.broker.cert);
  expect(subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
  expect(keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
});

test("serials are told as Node prints them", () => {
  for (const serial of [undefined, Uint8Array.of(7), Uint8Array.of(0x80, 1), Uint8Array.of(0, 0, 9)]) {
    const leaf = certificates.leaf(serial === undefined ? {} : { serial });
    expect(leaf.serial).toBe(new X509Certificate(leaf.cert).serialNumber);
  }
});

test("a folder is written as cert-manager mounts it, with the key closed to others", async () => {
  const parent = await mkdtemp(join(tmpdir(), "certificates-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  const folder = join(parent, "rome");
  const rome = certificates.cluster("rome");
  await writeCertificateFolder(folder, { ...rome, crl: certificates.crl([]) });
  expect(await readFile(join(folder, "tls.crt"), "utf8")).toBe(rome.cert);
  expect(await readFile(join(folder, "ca.crt"), "utf8")).toBe(certificates.ca.cert);
  expect(await readFile(join(folder, "crl.pem"), "utf8")).toContain("BEGIN X509 CRL");
  expect((await stat(join(folder, "tls.key"))).mode & 0o777).toBe(0o600);
});

interface Greeting {
  readonly authorized: boolean;
  readonly problem: string;
  readonly subject: { readonly CN?: unknown; readonly OU?: unknown };
}

/** As the broker listens: the handshake lets everybody in, because /healthz needs no certificate. */
async function listen(crl?: string): Promise<Server> {
  const server = createServer({
    ...certificates.broker,
    ...(crl === undefined ? {} : { crl }),
    requestCert: true,
    rejectUnauthorized: false,
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** What the server learns about a client that shows `credentials`. */
async function greet(server: Server, credentials: Credentials): Promise<Greeting> {
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "secureConnection") as Promise<[TLSSocket]>;
  const { cert, key, ca } = credentials;
  const client = connect({ cert, key, ca, ...PERMISSIVE_CLIENT, port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  const [socket] = await accepted;
  const { authorized, authorizationError } = socket;
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  client.destroy();
  return { authorized, problem: String(authorizationError ?? ""), subject };
}
