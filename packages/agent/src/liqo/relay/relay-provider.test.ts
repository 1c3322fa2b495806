import { Fault } from "@resource-broker/base";
import { NAMESPACES, SECRETS } from "@resource-broker/kube";
import { makeCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aReservation } from "../../testing/samples.ts";
import { RESOURCE_SLICES, type ResourceSlice, type Tenant, TENANTS } from "../objects.ts";
import { creatorUserOf } from "../provider/liqo-informers.ts";
import { liqoKeys } from "./relay-objects.ts";
import { type RelayPair, relayPair } from "./testing/relay-pair.ts";
import { liqoKeysOf } from "./testing/relay-samples.ts";

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

const SLICE = { name: "rsv-evil", namespace: "liqo-tenant-cool-rome" };
const putSlice = (name: string, spec: object): void => {
  const labels = { "liqo.io/replicated": "true", "liqo.io/originID": "cool-rome" };
  pair.paris.cluster.put(RESOURCE_SLICES, {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { ...SLICE, name, labels },
    spec: { consumerClusterID: "cool-rome", ...spec },
  });
};
const putForgedSlice = (sliceClass = "resource-broker"): void => {
  const csr = pair.paris.cluster.all(TENANTS)[0]?.spec.csr ?? expect.fail();
  putSlice(SLICE.name, { class: sliceClass, csr });
};
const conditions = () => pair.paris.cluster.all(TENANTS).map(({ spec }) => spec.tenantCondition);
/** The requester, in other hands now, asks and signs what it is given. */
const askAgain = async (own = { clusterId: "rome", liqoId: "cool-rome" }): Promise<void> => {
  pair.say({ requester: { wants: true } }, { own });
  await pair.run(3000);
  const nonce = pair.heardBy("rome", "paris")?.provider?.nonce ?? "";
  pair.say({ requester: liqoKeysOf(own.liqoId).shareFor(nonce) }, { own });
  await pair.run(3000);
};

describe("a requester that has replicated a forged slice", () => {
  beforeEach(async () => {
    pair.reserve();
    await pair.untilPeered();
    pair.mute("rome");
  });

  test("is not let in again because it says that it is done", async () => {
    putForgedSlice();
    await pair.run(2000);
    expect(conditions()).toEqual(["Cordoned"]);
    pair.paris.cluster.remove(RESOURCE_SLICES, SLICE);
    pair.say({ requester: { wants: false } });
    await pair.run(5000);
    await askAgain();
    expect(conditions()).toEqual(["Cordoned"]);
    expect(pair.heardBy("rome", "paris")?.provider).toMatchObject({
      state: "refused",
      message: expect.stringContaining("a person here may resume it"),
    });
  });

  test("is not let in again when it had said before that it is done", async () => {
    putSlice("rsv-last", { class: "other" });
    pair.say({ requester: { wants: false } });
    await pair.run(2000);
    expect(conditions()).toEqual(["Drained"]);
    putForgedSlice();
    await pair.run(2000);
    for (const name of ["rsv-last", SLICE.name])
      pair.paris.cluster.remove(RESOURCE_SLICES, { ...SLICE, name });
    await pair.run(3000);
    await askAgain();
    expect(conditions()).toEqual(["Cordoned"]);
    expect(pair.paris.events).toMatchObject([{ reason: "TenantCordoned" }]);
  });

  test("is cordoned, too, if the slice was a good one at first", async () => {
    const keys = (await liqoKeys(pair.rome.cluster.client, "liqo")) ?? expect.fail();
    const { commonName, organization } = SUBJECT_ATTRIBUTE;
    const user = creatorUserOf(SLICE.name, "cool-rome");
    const good = makeCsr(
      [
        [organization, "cool-rome"],
        [commonName, user],
      ],
      keys,
    );
    putSlice(SLICE.name, { class: "other", csr: Buffer.from(good).toString("base64") });
    await pair.run(2000);
    expect(conditions()).toEqual(["Active"]);
    const forged = pair.paris.cluster.all(TENANTS)[0]?.spec.csr ?? expect.fail();
    pair.paris.cluster.edit<ResourceSlice>(RESOURCE_SLICES, SLICE, (slice) => ({
      ...slice,
      spec: { ...slice.spec, csr: forged },
    }));
    await pair.run(2000);
    expect(conditions()).toEqual(["Cordoned"]);
  });

  test("is cordoned, too, if the slice could not be checked at once", async () => {
    let failures = 0;
    pair.paris.cluster.setCallFaults(({ verb, plural }) =>
      verb === "get" && plural === "tenants" && failures++ === 0
        ? { fault: new Fault("overloaded", "try again") }
        : undefined,
    );
    // Of a class that neither the agent nor Liqo answers: no later event of it comes.
    putForgedSlice("other");
    await pair.run(5000);
    expect(conditions()).toEqual(["Cordoned"]);
  });
});

test.each([
  ["begins", "Active"],
  ["goes on", "Drained"],
])("a Tenant that a person stops while the agent %s to end it stays", async (_, before) => {
  const { cluster } = pair.paris;
  pair.reserve();
  await pair.untilPeered();
  pair.mute("rome");
  if (before === "Drained") putSlice("rsv-last", { class: "other" });
  let isRead = false;
  cluster.setCallFaults(({ verb, plural }) => {
    const [tenant] = cluster.all(TENANTS);
    // Between what the agent has read and what it writes.
    if (isRead || tenant?.spec.tenantCondition !== before || verb !== "list" || plural !== "shadowpods")
      return undefined;
    isRead = true;
    cluster.edit<Tenant>(TENANTS, tenant.metadata, ({ metadata, spec }) => ({
      ...tenant,
      metadata: { ...metadata, annotations: {} },
      spec: { ...spec, tenantCondition: "Cordoned" },
    }));
    if (before === "Drained") cluster.remove(RESOURCE_SLICES, { ...SLICE, name: "rsv-last" });
    return undefined;
  });
  pair.say({ requester: { wants: false } });
  await pair.run(5000);
  expect(isRead).toBe(true);
  expect(conditions()).toEqual(["Cordoned"]);
  await askAgain();
  expect(conditions()).toEqual(["Cordoned"]);
});

describe("a requester that the broker does not know in Liqo", () => {
  test("gets nothing by the Liqo ID of another cluster", async () => {
    pair.paris.cache.update("provider", aReservation({ id: "rsv-rome-1" }));
    pair.mute("rome");
    pair.paris.plane();
    await pair.run(1000);
    await askAgain({ clusterId: "rome", liqoId: "warm-tokyo" });
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    expect(pair.heardBy("rome", "paris")?.provider).toMatchObject({
      state: "refused",
      message: expect.stringContaining("wait for its next advertisement"),
    });
  });
});

const NAMESPACE = { name: "liqo-tenant-cool-rome" };

test.each([
  { plural: "secrets", name: "liqo-nonce" },
  { plural: "namespaces", name: NAMESPACE.name },
])("an agent that starts anew before it could delete $name does so then", async ({ plural, name }) => {
  const { cluster } = pair.paris;
  pair.reserve();
  await pair.untilPeered();
  cluster.setCallFaults((call) =>
    call.verb === "delete" && call.plural === plural && call.name === name
      ? { fault: new Fault("unreachable", "connection refused") }
      : undefined,
  );
  pair.end();
  await pair.release();
  await pair.run(5000);
  expect(cluster.all(TENANTS)).toEqual([]);
  expect(cluster.find(NAMESPACES, NAMESPACE)).toBeDefined();
  cluster.setCallFaults(undefined);
  await pair.paris.restart();
  await pair.run(5000);
  expect(cluster.find(NAMESPACES, NAMESPACE)).toBeUndefined();
  expect(cluster.all(SECRETS).map(({ metadata }) => metadata.name)).toEqual(["authentication-keys"]);
});
