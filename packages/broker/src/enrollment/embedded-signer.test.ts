import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toKeyPem } from "@resource-broker/runtime";
import { fakeClock, testCertificates, until, writeCertificateFolder } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clientTrust } from "./client-trust.ts";
import { type EmbeddedSigner, embeddedSigner } from "./embedded-signer.ts";

const certificates = await testCertificates();
const { ca } = certificates;
const DAY_MS = 86_400_000;
type Options = Parameters<typeof certificates.authority>[0];
const subject = [{ type: "CN", value: "Enrollment CA" }] as const;

const time = fakeClock(Date.UTC(2026, 5, 1));
let folder = "";
let signer: EmbeddedSigner;
let reported: (string | undefined)[] = [];
let warnings: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "signer-"));
  reported = [];
  warnings = [];
  const warn = (_: object, message: string) => void warnings.push(message);
  const log = { info: () => undefined, warn, error: () => undefined };
  const report = (problem: string | undefined) => void reported.push(problem);
  signer = embeddedSigner({ folder, lifetimeMs: 30 * DAY_MS }, { clock: time, log, report, randomBytes });
});
afterEach(async () => {
  signer.stop();
  await rm(folder, { recursive: true });
});

const intermediate = (options: Options = {}, parent = ca) =>
  certificates.authority({ subject, basicConstraints: { ca: true, pathLength: 0 }, ...options }, parent);
const write = (authority = intermediate(), above = ca) =>
  writeCertificateFolder(folder, {
    cert: authority.cert,
    key: toKeyPem(authority.keys.privateKey),
    ca: above.cert,
  });
const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
async function signed(): Promise<X509Certificate> {
  const reply = await signer.sign({ clusterId: "rome", publicKey, csr: undefined });
  if (reply === "waiting") throw new Error("it waits");
  return new X509Certificate(reply.certificate);
}

describe("the embedded signer", () => {
  test("signs with the intermediate authority, which OpenSSL's key IDs confirm", async () => {
    const authority = intermediate();
    await write(authority);
    await signer.start();
    const leaf = await signed();
    const issuer = new X509Certificate(authority.cert);
    expect(leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey)).toBe(true);
    expect(signer.authorities()[0]?.fingerprint256).toBe(issuer.fingerprint256);
  });

  test("signs nothing that lives longer than its authority, and nothing once that has expired", async () => {
    const notAfter = new Date(time.wallMs() + 2 * DAY_MS);
    await write(intermediate({ notAfter }));
    await signer.start();
    expect((await signed()).validToDate).toEqual(notAfter);
    await time.advance(2 * DAY_MS);
    await expect(signed()).rejects.toMatchObject({ code: "overloaded" });
  });

  test("takes a new authority without a restart, and keeps the old one while the new one is wrong", async () => {
    await write();
    await signer.start();
    const changes: string[] = [];
    signer.onChange(() => void changes.push("changed"));
    await write(certificates.authority({ subject }));
    await until("the wrong one is reported", async () => {
      await time.advance(1000);
      return reported.at(-1);
    });
    expect((await signed()).issuer).toBe("CN=Enrollment CA");
    const next = intermediate({ subject: [{ type: "CN", value: "Next CA" }] });
    await write(next);
    await until("the new one signs", async () => {
      await time.advance(1000);
      return (await signed()).issuer === "CN=Next CA" ? true : undefined;
    });
    expect(changes).toContain("changed");
  });

  test.each([
    ["the fleet's root itself", ca, ca, "must be an intermediate authority"],
    [
      "signed by somebody else",
      intermediate({}, certificates.authority()),
      ca,
      "no other authority in ca.crt",
    ],
    [
      "one that may have authorities below it",
      intermediate({ basicConstraints: { ca: true } }),
      ca,
      "path length of 0",
    ],
    ["no authority", intermediate({ basicConstraints: { ca: false } }), ca, "belongs to no authority"],
    [
      "one with an RSA key",
      intermediate({ keys: generateKeyPairSync("rsa", { modulusLength: 2048 }) }),
      ca,
      "not of type EC",
    ],
  ])("does not start with %s", async (_, authority, above, problem) => {
    await write(authority, above);
    await expect(signer.start()).rejects.toThrow(problem);
    await expect(signer.start()).rejects.toThrow("--enrollment-cert-path");
  });

  test.each([
    ["clients alone", ["clientAuth"], []],
    ["every use", "absent", ["brokerctl certs renew --enrollment"]],
    ["servers too", ["clientAuth", "serverAuth"], ["brokerctl certs renew --enrollment"]],
  ] as const)("with an authority for %s starts, and warns if its key could make a broker", async (...row) => {
    const [, extendedKeyUsage, expected] = row;
    await write(intermediate({ extendedKeyUsage }));
    await signer.start();
    expect(warnings).toEqual(expected.map((text) => expect.stringContaining(text) as string));
  });

  test("does not start below a root that allows no intermediate, and says how to renew it", async () => {
    const root = certificates.authority({ basicConstraints: { ca: true, pathLength: 0 } });
    await write(intermediate({}, root), root);
    await expect(signer.start()).rejects.toThrow("brokerctl certs init --upgrade");
  });

  test("needs its root among the authorities of the API's port: agents could not connect otherwise", async () => {
    await write();
    await signer.start();
    const trust = clientTrust({
      adminCa: undefined,
      enrollmentAuthorities: signer.authorities,
      onChange: signer.onChange,
    });
    const other = certificates.authority({ subject: [{ type: "CN", value: "Other" }] });
    await expect(trust.addTo(other.cert)).rejects.toThrow("--enrollment-cert-path");
    expect(await trust.addTo(ca.cert)).toBe(`${ca.cert}\n${signer.authorities().join("")}`);
  });
});
