import { describe, expect, test } from "vitest";
import type { Tenant } from "../objects.ts";
import { ENDING_ANNOTATION, type ObservedTenancy, planTenancy } from "./plan-tenancy.ts";
import { tenantNamespace } from "../requester/peering-checks.ts";
import { nonceSecret, ownTenantNamespace, tenantManifest } from "./relay-objects.ts";
import type { RequesterShare } from "./statement.ts";
import { aNonce, liqoCertificate, liqoKeysOf, ROME } from "./testing/relay-samples.ts";

const nonce = aNonce();
const liqo = liqoKeysOf("cool-rome");
const request = liqo.shareFor(nonce);
const NAMESPACE = ownTenantNamespace("cool-rome");
const NONCE = { ...nonceSecret("cool-rome"), data: { nonce: Buffer.from(nonce).toString("base64") } };
const signedCRT = liqoCertificate({}, liqo.publicKey);
const POD = {
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "ShadowPod",
  metadata: { name: "web", namespace: "shop", uid: "u1" },
  spec: {},
};

function tenantOf(share: RequesterShare = request): Tenant {
  const { publicKey = "", csr = "", signedNonce = "" } = share;
  return tenantManifest(ROME, { publicKey, csr, signedNonce });
}
const AUTH = { apiServer: "https://10.0.0.7:6443", signedCRT, ca: signedCRT };
const SIGNED: Tenant = {
  ...tenantOf(),
  status: { authParams: AUTH, tenantNamespace: "liqo-tenant-cool-rome" },
};
const ending = (tenant: Tenant): Tenant => ({
  ...tenant,
  metadata: { ...tenant.metadata, annotations: { [ENDING_ANNOTATION]: "true" } },
});

const stopped = (tenantCondition: "Cordoned" | "Drained"): Tenant => ({
  ...SIGNED,
  spec: { ...SIGNED.spec, tenantCondition },
});

function planOf(observed: Partial<ObservedTenancy>) {
  const step = planTenancy({
    peer: ROME,
    demand: "wanted",
    request,
    namespace: NAMESPACE,
    nonce: NONCE,
    tenant: undefined,
    shadowPods: [],
    replicas: 0,
    isRequester: false,
    ...observed,
  });
  const writes = (step.writes ?? []).map((write) => `${write.verb} ${write.resource.kind}`);
  return { ...step, writes };
}

describe("a requester that is wanted", () => {
  test.each([
    ["the namespace first", { namespace: undefined, nonce: undefined }, ["create Namespace"]],
    ["then the nonce's Secret", { nonce: undefined }, ["create Secret"]],
    ["nothing while Liqo fills it in", { nonce: nonceSecret("cool-rome") }, []],
    ["then the Tenant, for which nothing old may be left", {}, ["delete Secret", "create Tenant"]],
  ])("gets %s", (_, observed, writes) => expect(planOf(observed).writes).toEqual(writes));

  test("is asked to sign the nonce", () => {
    expect(planOf({ request: { wants: true } })).toMatchObject({
      share: { state: "nonce", nonce },
      writes: [],
    });
  });
  test("gets its identity once Liqo has signed, without keys of a cloud", () => {
    const { share } = planOf({ tenant: SIGNED });
    expect(share).toEqual({
      state: "signed",
      nonce,
      identity: { ...AUTH, tenantNamespace: "liqo-tenant-cool-rome" },
    });
    const aws = {
      ...SIGNED,
      status: { ...SIGNED.status, authParams: { ...AUTH, awsConfig: { a: "secret" } } },
    };
    expect(planOf({ tenant: aws }).share).toMatchObject({
      state: "refused",
      message: expect.stringMatching(/^EKSUnsupported/),
    });
    expect(JSON.stringify(planOf({ tenant: aws }).share)).not.toContain("secret");
  });
  test("never gets a Tenant that skips the handshake", () => {
    expect(tenantOf().spec.authzPolicy).toBe("KeysExchange");
  });

  test.each([
    [
      "a Tenant of someone else stays as it is",
      { tenant: { ...SIGNED, metadata: { ...SIGNED.metadata, labels: {} } } },
      /not made by this agent.*kubectl delete tenants.authentication.liqo.io -n liqo-tenant-cool-rome cool-rome/,
    ],
    [
      "the key of Liqo has changed",
      { request: liqoKeysOf("cool-rome").shareFor(nonce), tenant: SIGNED },
      /key of Liqo at rome is not the one.*kubectl delete tenants/,
    ],
    [
      "the request is another one",
      { request: { ...request, csr: liqoKeysOf("x").csrFor() } },
      /not what its Liqo would make/,
    ],
    [
      "a Tenant of another cluster with this Liqo ID stays as it is",
      { peer: { ...ROME, clusterId: "oslo" }, tenant: SIGNED },
      /made for rome.*kubectl delete tenants/,
    ],
    [
      "a person has drained it",
      { tenant: stopped("Drained") },
      /Drained; a person here may resume it: kubectl patch/,
    ],
    ["the nonce is something else", { nonce: { ...NONCE, data: { nonce: "aGVsbG8=" } } }, /no nonce of Liqo/],
  ])("is refused, with the way out, and nothing is written: %s", (_, observed, message) => {
    expect(planOf(observed)).toMatchObject({
      share: { state: "refused", message: expect.stringMatching(message) },
      writes: [],
    });
  });
});

describe("a requester that is not needed any more", () => {
  test.each([
    ["cordoned first", { tenant: SIGNED, shadowPods: [POD], replicas: 1 }, ["patch Tenant"]],
    ["then its pods go", { tenant: ending(SIGNED), shadowPods: [POD], replicas: 1 }, ["delete ShadowPod"]],
    ["then its slices", { tenant: ending(SIGNED), replicas: 1 }, ["patch Tenant"]],
    ["then its Tenant and certificate", { tenant: ending(SIGNED) }, ["delete Tenant", "delete Secret"]],
    ["then the nonce", {}, ["delete Secret"]],
    ["then the namespace", { nonce: undefined }, ["delete Namespace"]],
    ["but not while this cluster borrows from it", { nonce: undefined, isRequester: true }, []],
    ["nor if someone else made it", { nonce: undefined, namespace: tenantNamespace("cool-rome") }, []],
    [
      "nor anything of a Tenant that someone else made",
      { tenant: { ...SIGNED, metadata: { ...SIGNED.metadata, labels: {} } } },
      [],
    ],
    [
      "nor one of another cluster with this Liqo ID",
      { peer: { ...ROME, clusterId: "oslo" }, tenant: SIGNED },
      [],
    ],
    // Its own end would be its way out: the next Tenant would be active, with any key.
    ["nor one that was cordoned before", { tenant: stopped("Cordoned"), replicas: 1 }, []],
    ["nor one that was drained before", { tenant: stopped("Drained") }, []],
    [
      "but the pods of one that was cordoned go",
      { tenant: stopped("Cordoned"), shadowPods: [POD] },
      ["delete ShadowPod"],
    ],
  ])("is %s", (_, observed, writes) =>
    expect(planOf({ demand: "over", ...observed }).writes).toEqual(writes),
  );

  test("goes to the end once begun, also when it is wanted again", () => {
    expect(planOf({ tenant: ending(SIGNED) }).writes).toEqual(["delete Tenant", "delete Secret"]);
  });
  test("stays while nobody knows whether it is needed", () => {
    expect(planOf({ demand: "unclear", tenant: SIGNED })).toEqual({ writes: [] });
  });
});
