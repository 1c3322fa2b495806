import { generateKeyPairSync, randomBytes } from "node:crypto";
import { makeCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { describe, expect, test } from "vitest";
import { creatorUserOf } from "../provider/liqo-informers.ts";
import { identityProblem, isNonce, readTenantRequest, sliceCsrProblem } from "./share-checks.ts";
import { aNonce, liqoCertificate, liqoKeysOf } from "./testing/relay-samples.ts";

const { commonName, organization } = SUBJECT_ATTRIBUTE;
const liqo = liqoKeysOf("cool-rome");
const nonce = aNonce();

describe("a nonce", () => {
  test("of Liqo is passed on", () => expect(isNonce(nonce)).toBe(true));
  test.each([
    ["63 bytes", randomBytes(63).toString("base64")],
    ["65 bytes", randomBytes(65).toString("base64")],
    ["a request for a certificate", liqo.csrFor()],
    ["the header and payload of a token", Buffer.from(`{"alg":"EdDSA"}.{"sub":"admin"}`).toString("base64")],
    ["64 bytes, written in another way", `${nonce.slice(0, 86)}A=`],
    ["64 bytes with a line break", `${nonce}\n`],
    ["nothing", ""],
  ])("is not %s", (_, text) => expect(isNonce(text)).toBe(false));
});

describe("a request for a Tenant", () => {
  test("is taken as Liqo makes it", () => {
    const share = liqo.shareFor(nonce);
    expect(readTenantRequest(share, "cool-rome", nonce)).toEqual({
      publicKey: share.publicKey,
      csr: share.csr,
      signedNonce: share.signedNonce,
    });
  });

  test("is waited for until this nonce is signed", () => {
    const { signedNonce: _, ...unsigned } = liqo.shareFor(nonce);
    expect(readTenantRequest(unsigned, "cool-rome", nonce)).toBe(undefined);
    expect(readTenantRequest({ ...liqo.shareFor(nonce), nonce: aNonce() }, "cool-rome", nonce)).toBe(
      undefined,
    );
  });

  const other = liqoKeysOf("cool-rome");
  test.each([
    [
      "a second organisation",
      liqo.csrFor([
        [organization, "liqo.io"],
        [organization, "system:masters"],
        [commonName, "cool-rome"],
      ]),
    ],
    [
      "another name",
      liqo.csrFor([
        [organization, "liqo.io"],
        [commonName, "warm-tokyo"],
      ]),
    ],
    [
      "another organisation",
      liqo.csrFor([
        [organization, "system:masters"],
        [commonName, "cool-rome"],
      ]),
    ],
    ["another key", other.csrFor()],
    ["rubbish", Buffer.from("hello").toString("base64")],
  ])("is refused with %s in its CSR", (_, csr) => {
    expect(() => readTenantRequest({ ...liqo.shareFor(nonce), csr }, "cool-rome", nonce)).toThrow(RangeError);
  });

  test("is refused when another key has signed the nonce", () => {
    const share = { ...liqo.shareFor(nonce), signedNonce: other.signed(nonce) };
    expect(() => readTenantRequest(share, "cool-rome", nonce)).toThrow("has not signed the nonce");
  });
});

describe("the request of a replicated slice", () => {
  const consumer = {
    liqoId: "cool-rome",
    publicKey: Buffer.from(liqo.publicKey.export({ type: "spki", format: "pem" })).toString("base64"),
  };
  const csrFor = (name: string, org: string): string =>
    Buffer.from(
      makeCsr(
        [
          [commonName, name],
          [organization, org],
        ],
        liqo,
      ),
    ).toString("base64");
  const user = creatorUserOf("rsv-1", "cool-rome");

  test("is fine as Liqo makes it", () => {
    expect(sliceCsrProblem({ name: "rsv-1", csr: csrFor(user, "cool-rome") }, consumer)).toBe(undefined);
  });
  test.each([
    ["another slice's user", csrFor(creatorUserOf("rsv-2", "cool-rome"), "cool-rome")],
    ["another organisation", csrFor(user, "system:masters")],
    [
      "another key",
      Buffer.from(
        makeCsr(
          [
            [commonName, user],
            [organization, "cool-rome"],
          ],
          generateKeyPairSync("ed25519"),
        ),
      ).toString("base64"),
    ],
  ])("is refused for %s", (_, csr) => {
    expect(sliceCsrProblem({ name: "rsv-1", csr }, consumer)).toBeTypeOf("string");
  });
});

describe("an identity from a provider", () => {
  const signedCRT = liqoCertificate({}, liqo.publicKey);
  const identity = {
    apiServer: "https://10.0.0.7:6443",
    signedCRT,
    ca: signedCRT,
    tenantNamespace: "liqo-tenant-cool-rome",
  };
  const check = {
    ownLiqoId: "cool-rome",
    publicKey: liqo.publicKey,
    ownHosts: ["10.96.0.1", "fd00:10:96::1", "rome.example:6443", "[2001:db8::9]:6443", "[2001:db8::8]"],
    allowsLoopback: false,
  };

  test.each([
    "https://10.0.0.7:6443",
    "https://paris.example",
    "https://Paris.example:443/",
    "https://[2001:db8::1]:6443",
  ])("at %s is used", (apiServer) =>
    expect(identityProblem({ ...identity, apiServer }, check)).toBe(undefined),
  );
  test.each([
    "http://10.0.0.7:6443",
    "https://127.0.0.1:6443",
    "https://2130706433:6443",
    "https://[::1]:6443",
    "https://[::ffff:127.0.0.1]:6443",
    "https://169.254.169.254",
    "https://100.100.100.200",
    "https://192.0.0.192",
    "https://[fd00:ec2::254]",
    "https://[fd20:ce::254]",
    "https://[fd00:ec2::23]",
    "https://224.0.0.1:6443",
    "https://[ff02::1]:6443",
    "https://[::]:6443",
    "https://[fe80::1]:6443",
    "https://0.0.0.0:6443",
    "https://metadata.google.internal",
    "https://localhost:6443",
    "https://kubernetes.default.svc",
    "https://10.96.0.1",
    "https://10.96.0.1:8443",
    "https://[::ffff:10.96.0.1]",
    "https://[fd00:10:96::1]:443",
    "https://rome.example:6443",
    "https://rome.example.:6443",
    "https://liqo-webhook",
    "https://vault.vault.svc:8200",
    "https://vault.vault.svc.cluster.local",
    "https://localhost.localdomain",
    "https://instance-data.ec2.internal",
    "https://168.63.129.16",
    "https://100.100.100.200",
    "https://[::127.0.0.1]",
    "https://[::169.254.169.254]",
    "https://[64:ff9b::a9fe:a9fe]",
    "https://[64:ff9b:1::a9fe:a9fe]",
    "https:/paris.example",
    "https:\\\\paris.example",
    "https://0127.0.0.1",
    "https://\u212Aiel.example",
    "https://@paris.example",
    "https://paris.example/some/path",
    " https://paris.example",
    "https://10.96.0.1:6443",
    "https://[fd00:10:96::1]",
    "https://[fd00:10:96::1]:6443",
    "https://[2001:db8::9]:6443",
    "https://[2001:db8::8]",
    "https://localhost.:6443",
    "https://rome.example:7443",
    "https://me:secret@paris.example",
    "no address",
  ])("at %s is refused", (apiServer) => {
    expect(identityProblem({ ...identity, apiServer }, check)).toMatchObject({ reason: "IdentityRefused" });
  });
  test("at a loopback address is used only where tests ask for it", () => {
    const local = { ...identity, apiServer: "https://127.0.0.1:6443" };
    // Both clusters of a test are on one machine.
    const ownHosts = ["127.0.0.1:6444"];
    expect(identityProblem(local, { ...check, ownHosts, allowsLoopback: true })).toBe(undefined);
  });

  test.each([
    ["a certificate of another key", { signedCRT: liqoCertificate({}, liqoKeysOf("cool-rome").publicKey) }],
    ["another name", { signedCRT: liqoCertificate({ commonName: "calm-paris" }, liqo.publicKey) }],
    [
      "a second organisation",
      { signedCRT: liqoCertificate({ organizations: ["liqo.io", "system:masters"] }, liqo.publicKey) },
    ],
    ["no certificate", { signedCRT: "aGVsbG8=" }],
    ["no authority", { ca: "aGVsbG8=" }],
    ["a proxy", { proxyURL: "http://evil.example" }],
    ["another namespace", { tenantNamespace: "kube-system" }],
  ])("with %s is refused", (_, change) => {
    expect(identityProblem({ ...identity, ...change }, check)).toMatchObject({ reason: "IdentityRefused" });
  });
});
