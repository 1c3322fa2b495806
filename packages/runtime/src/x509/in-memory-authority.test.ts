import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type TLSSocket } from "node:tls";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { inMemoryAuthority } from "./in-memory-authority.ts";

const HOUR_MS = 3_600_000;
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

function authorityAt(now: () => number) {
  return inMemoryAuthority({ commonName: "Demo CA", now, randomBytes });
}

describe("a small authority", () => {
  test("issues what it is asked for", () => {
    const { wallMs } = fakeClock();
    const authority = authorityAt(wallMs);
    const { cert, key } = authority.issue({
      commonName: "rome",
      organizationalUnits: ["broker-admin", "ops"],
      hosts: ["localhost", "127.0.0.1"],
      isServer: true,
      isClient: true,
      validForMs: HOUR_MS,
    });
    const leaf = new X509Certificate(cert);
    const root = new X509Certificate(authority.cert);
    expect(leaf).toMatchObject({
      ca: false,
      subject: "OU=broker-admin\nOU=ops\nCN=rome",
      issuer: "CN=Demo CA",
      subjectAltName: "DNS:localhost, IP Address:127.0.0.1",
      keyUsage: [SERVER_AUTH, CLIENT_AUTH],
    });
    expect(leaf.validToDate.getTime()).toBe(wallMs() + HOUR_MS);
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
  });

  test("counts from the time of issue, and never beyond its own end", async () => {
    const time = fakeClock();
    const authority = authorityAt(time.wallMs);
    await time.advance(24 * HOUR_MS);
    const issue = (validForMs: number) =>
      new X509Certificate(authority.issue({ commonName: "rome", isClient: true, validForMs }).cert);
    expect(issue(HOUR_MS).validToDate.getTime()).toBe(time.wallMs() + HOUR_MS);
    const end = new X509Certificate(authority.cert).validToDate;
    expect(issue(1e6 * HOUR_MS).validToDate).toEqual(end);
  });

  test("issues nothing that would be good for nothing", () => {
    const { issue } = authorityAt(fakeClock().wallMs);
    expect(() => issue({ commonName: "rome", validForMs: HOUR_MS })).toThrow("rome needs a use");
  });

  test("makes peers that know each other over mutual TLS", async () => {
    // TLS reads the machine's clock, whatever a test would like.
    const authority = authorityAt(() => performance.timeOrigin);
    const order = { hosts: ["localhost"], validForMs: HOUR_MS };
    const served = authority.issue({ ...order, commonName: "broker", isServer: true });
    const server = createServer({
      ...served,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: true,
    });
    onTestFinished(() => void server.close());
    server.listen(0);
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = connect({
      ...authority.issue({ commonName: "rome", isClient: true, validForMs: HOUR_MS }),
      port,
      host: "localhost",
      ca: authority.cert,
    });
    onTestFinished(() => void client.destroy());
    const [peer] = (await once(server, "secureConnection")) as [TLSSocket];
    expect(peer.authorized).toBe(true);
    expect(peer.getPeerX509Certificate()?.subject).toBe("CN=rome");
    expect(client.authorized).toBe(true);
    peer.destroy();
  });
});
