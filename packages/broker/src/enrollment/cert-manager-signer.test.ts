import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import type { KubeClient } from "@resource-broker/kube";
import { createKubeSim, type JsonObject } from "@resource-broker/kube-sim";
import { makeCsr, readCsr, type SubjectAttribute, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { fakeClock, testCertificates } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { directClient } from "../interface/kubernetes/testing/direct-client.ts";
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequest,
  certManagerSigner,
  parseIssuer,
} from "./cert-manager-signer.ts";
import type { Signer, SigningOrder } from "./signer.ts";

const certificates = await testCertificates();
const namespace = "broker";
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "certificaterequests.cert-manager.io" },
  spec: {
    group: "cert-manager.io",
    scope: "Namespaced",
    names: { kind: "CertificateRequest", plural: "certificaterequests" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} satisfies JsonObject;
const CLUSTER_NAMESPACE: JsonObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };

const time = fakeClock();
let client: KubeClient;
let logged: string[] = [];
let signer: Signer;
beforeEach(async () => {
  const sim = createKubeSim({ clock: time, randomBytes });
  const objects = [DEFINITION, CLUSTER_NAMESPACE];
  client = directClient(
    (await sim.addCluster({ name: "hub", behaves: false, objects })).api,
    () => undefined,
  );
  logged = [];
  const note = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  signer = certManagerSigner(
    { issuer: { kind: "ClusterIssuer", name: "ca" }, lifetimeMs: 3_600_000 },
    { open: async () => ({ client, namespace }), clock: time, log: { info: note, warn: note, error: note } },
  );
});

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const cn = (name: string): SubjectAttribute => [SUBJECT_ATTRIBUTE.commonName, name];
/** By `openssl req -new -subj /CN=rome -addext subjectAltName=DNS:evil`. */
const WITH_EXTENSIONS = `-----BEGIN CERTIFICATE REQUEST-----
MIHsMIGTAgEAMA8xDTALBgNVBAMMBHJvbWUwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAS8YN7VIs/oSfnKl056z15Zzhs1btf+nFxUpoBgCkeQNP2WKYpEZ58a2H2P
3/bovq7EP5g9Gy3xlq30glqj8zFVoCIwIAYJKoZIhvcNAQkOMRMwETAPBgNVHREE
CDAGggRldmlsMAoGCCqGSM49BAMCA0gAMEUCIFzXNuOJYsxlsfwHZ2FTpBSUJAfn
6DQCC5QHcyrSfaqYAiEAgTomi4pqDiP6fFF54RhzjXCpe2z+dwn7Gm5OnvTZGf0=
-----END CERTIFICATE REQUEST-----
`;
const orderOf = (subject: readonly SubjectAttribute[] = [cn("rome")]): SigningOrder => ({
  clusterId: "rome",
  publicKey: keys.publicKey,
  csr: makeCsr(subject, keys),
});

async function requests(): Promise<CertificateRequest[]> {
  const found: CertificateRequest[] = [];
  await client.list(CERTIFICATE_REQUESTS, { namespace }, (object) => found.push(object));
  return found;
}

/** What cert-manager would do with the request, once it is there. */
async function answer(status: CertificateRequest["status"]): Promise<CertificateRequest> {
  let [request] = await requests();
  while (request === undefined) {
    await new Promise((resolve) => void setImmediate(resolve));
    [request] = await requests();
  }
  await client.update(
    CERTIFICATE_REQUESTS,
    { ...request, ...(status && { status }) },
    { subresource: "status" },
  );
  return request;
}
/** Lets time pass until it is signed or not. */
async function outcome<T>(signing: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  signing.then(over, over);
  while (!isOver) await time.advance(250);
  return signing;
}
const ready = (cert: string) => ({
  certificate: Buffer.from(cert).toString("base64"),
  conditions: [{ type: "Ready", status: "True", reason: "Issued" }],
});
const rome = (more: object = {}) =>
  certificates.leaf({ subject: [{ type: "CN", value: "rome" }], keys, ...more }).cert;

describe("with a loop that stands in for cert-manager on a simulated API server", () => {
  test("a certificate is asked for with the agent's CSR, for clients, in the broker's namespace", async () => {
    const signing = signer.sign(orderOf());
    const { metadata, spec } = await answer(ready(rome()));
    expect(metadata).toMatchObject({
      namespace,
      name: expect.stringMatching(/^agent-[0-9a-f]{32}$/u) as string,
    });
    expect(spec).toMatchObject({
      issuerRef: { group: "cert-manager.io", kind: "ClusterIssuer", name: "ca" },
      duration: "3600s",
      usages: ["digital signature", "client auth"],
      isCA: false,
    });
    expect(readCsr(Buffer.from(spec.request, "base64").toString()).subject).toEqual([cn("rome")]);
    const signed = await outcome(signing);
    expect(signed).toMatchObject({ notAfterMs: new X509Certificate(rome()).validToDate.getTime() });
    expect(await requests()).toEqual([]);
  });

  test("a call that waits too long is repeated, and finds the request of the first one", async () => {
    expect(await outcome(signer.sign(orderOf()))).toBe("waiting");
    expect(await requests()).toHaveLength(1);
    const again = signer.sign(orderOf());
    await answer(ready(rome()));
    expect(await outcome(again)).toMatchObject({
      certificate: expect.stringContaining("CERTIFICATE") as string,
    });
  });

  test.each([
    ["is denied", { conditions: [{ type: "Denied", status: "True", message: "by policy" }] }, "by policy"],
    [
      "fails",
      { conditions: [{ type: "Ready", status: "False", reason: "Failed", message: "no such issuer" }] },
      "no such issuer",
    ],
  ])(
    "a request that %s is deleted, so that the next one may work, and the log says why",
    async (_, status, why) => {
      const signing = signer.sign(orderOf());
      await answer(status);
      await expect(outcome(signing)).rejects.toMatchObject({ code: "overloaded" });
      expect(logged.join("\n")).toContain(why);
      expect(await requests()).toEqual([]);
    },
  );

  test.each([
    [
      "with a second organisation",
      {
        subject: [
          { type: "CN", value: "rome" },
          { type: "O", value: "x" },
        ],
      },
    ],
    [
      "of an admin",
      {
        subject: [
          { type: "OU", value: "broker-admin" },
          { type: "CN", value: "rome" },
        ],
      },
    ],
    ["for another cluster", { subject: [{ type: "CN", value: "paris" }] }],
    ["for another key", { keys: generateKeyPairSync("ec", { namedCurve: "P-256" }) }],
    ["of an authority", { basicConstraints: { ca: true }, keyUsage: ["keyCertSign"] }],
    ["with alternative names", { subjectAltNames: ["DNS:broker.example.org"] }],
    ["for servers too", { extendedKeyUsage: ["clientAuth", "serverAuth"] }],
  ])("an issued certificate %s is not handed out", async (_, more) => {
    const signing = signer.sign(orderOf());
    await answer(ready(rome(more)));
    await expect(outcome(signing)).rejects.toMatchObject({ code: "overloaded" });
  });
});

describe("a CSR that cert-manager never sees", () => {
  test.each([
    ["a second organisation", orderOf([cn("rome"), ["2.5.4.10", "system:masters"]])],
    ["an organizational unit", orderOf([["2.5.4.11", "broker-admin"], cn("rome")])],
    ["another name", orderOf([cn("paris")])],
    ["two names", orderOf([cn("rome"), cn("paris")])],
    ["no name", orderOf([])],
    ["another key", { ...orderOf(), publicKey: generateKeyPairSync("ed25519").publicKey }],
    ["no PEM at all", { ...orderOf(), csr: "rome" }],
    [
      "a second request, which only cert-manager reads",
      {
        ...orderOf(),
        csr:
          makeCsr([["2.5.4.11", "broker-admin"], cn("rome")], keys).replace("-----\n", "-----\nX-Y: z\n\n") +
          makeCsr([cn("rome")], keys),
      },
    ],
    [
      "requested extensions",
      { ...orderOf(), publicKey: readCsr(WITH_EXTENSIONS).publicKey, csr: WITH_EXTENSIONS },
    ],
  ])("has %s", async (_, order) => {
    expect(() => signer.check(order)).toThrow(expect.objectContaining({ code: "invalid" }));
    await expect(signer.sign(order)).rejects.toMatchObject({ code: "invalid" });
    expect(await requests()).toEqual([]);
  });

  test("is missing", () => {
    expect(() => signer.check({ ...orderOf(), csr: undefined })).toThrow("CN=rome");
  });
});

test.each([
  ["ClusterIssuer/ca", { kind: "ClusterIssuer", name: "ca" }],
  ["Issuer/ca", { kind: "Issuer", name: "ca" }],
  ["ca", { kind: "Issuer", name: "ca" }],
  ["Secret/ca", undefined],
  ["ClusterIssuer/", undefined],
  ["ClusterIssuer/a/b", undefined],
])("the issuer %s", (text, issuer) => {
  expect(parseIssuer(text)).toEqual(issuer);
});
