import { CONFIG_MAPS, NAMESPACES, SECRETS } from "@resource-broker/kube";
import { STATEMENT_TYPE, type Statement } from "@resource-broker/contract";
import { fingerprintOf, generateIdentityKey, readJws, signJws } from "@resource-broker/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IDENTITIES, RESOURCE_SLICES, TENANTS } from "../objects.ts";
import { signStatement } from "./statement.ts";
import { LENT, type RelayPair, relayPair } from "./testing/relay-pair.ts";
import { PARIS, ROME, theParts } from "./testing/relay-samples.ts";

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): string[] =>
  objects.map(({ metadata }) => metadata.name);
const pinOf = (side: RelayPair["rome"], clusterId: string) =>
  side.cluster.find(CONFIG_MAPS, { name: `rear-peer-${clusterId}`, namespace: "rear-agent" })?.data;

describe("two clusters in relay mode", () => {
  test("peer without a kubeconfig, each agent writing into its own cluster", async () => {
    pair.reserve();
    expect(await pair.untilPeered()).toMatchObject({ reason: "SliceCreated" });
    const [identity] = pair.rome.cluster.all(IDENTITIES);
    expect(identity).toMatchObject({
      metadata: { name: "controlplane-calm-paris", labels: { "liqo.io/remote-cluster-id": "calm-paris" } },
      spec: { type: "ControlPlane", authParams: { apiServer: "https://paris.example:6443" } },
    });
    expect(namesOf(pair.paris.cluster.all(TENANTS))).toEqual(["cool-rome"]);
    expect(pair.paris.cluster.all(IDENTITIES)).toEqual([]);
    expect(pinOf(pair.rome, "paris")).toMatchObject({
      key: pair.paris.identity.key.id,
      liqoID: "calm-paris",
    });
    expect(pinOf(pair.paris, "rome")).toMatchObject({ key: pair.rome.identity.key.id, liqoID: "cool-rome" });
  });

  test("end it, each for itself, and nothing is left at the provider", async () => {
    pair.reserve();
    await pair.untilPeered();
    pair.end();
    expect(await pair.release()).toEqual({ kind: "clean" });
    await pair.run(5000);
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    expect(namesOf(pair.rome.cluster.all(SECRETS))).toEqual(["authentication-keys"]);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    expect(namesOf(pair.paris.cluster.all(SECRETS))).toEqual(["authentication-keys"]);
    expect(pair.paris.cluster.find(NAMESPACES, { name: "liqo-tenant-cool-rome" })).toBe(undefined);
    pair.reserve({ id: "rsv-again" });
  });

  test("peer again after that", async () => {
    pair.reserve();
    await pair.untilPeered();
    expect(await pair.release()).toEqual({ kind: "clean" });
    expect(await pair.untilPeered()).toMatchObject({ reason: "SliceCreated" });
    await pair.run(3000);
    expect(namesOf(pair.paris.cluster.all(TENANTS))).toEqual(["cool-rome"]);
  });

  test("go on after both agents were started anew, with the same request for a certificate", async () => {
    // Two requests of the same Ed25519 key are equal anyway.
    pair.rome.liqo.renewKeys("ec");
    pair.reserve();
    await pair.untilPeered();
    const [before] = pair.paris.cluster.all(TENANTS);
    await pair.rome.restart();
    await pair.paris.restart();
    await pair.run(10_000);
    expect(pair.paris.cluster.all(TENANTS)).toMatchObject([{ spec: { csr: before?.spec.csr } }]);
    expect(pair.heardBy("paris", "rome")?.requester?.csr).toBe(before?.spec.csr);
    expect(pair.heardBy("rome", "paris")?.provider?.state).toBe("signed");
    pair.end();
    expect(await pair.release()).toEqual({ kind: "clean" });
    await pair.run(5000);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
  });

  test("stop when Liqo has new keys at the requester, until a person at the provider lets them in", async () => {
    pair.reserve();
    await pair.untilPeered();
    const before = pair.rome.cluster.all(IDENTITIES)[0]?.spec.authParams?.signedCRT;
    pair.rome.liqo.renewKeys();
    await pair.rome.restart();
    await pair.run(10_000);
    expect(pair.rome.cluster.all(IDENTITIES)[0]?.spec.authParams?.signedCRT).toBe(before);
    expect(pair.heardBy("rome", "paris")?.provider).toMatchObject({
      state: "refused",
      message: expect.stringContaining("kubectl delete tenants.authentication.liqo.io"),
    });
    pair.paris.cluster.remove(TENANTS, { name: "cool-rome", namespace: "liqo-tenant-cool-rome" });
    await pair.run(10_000);
    expect(pair.paris.cluster.all(TENANTS)).toHaveLength(1);
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    await pair.untilPeered();
    expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
    expect(pair.rome.cluster.all(IDENTITIES)[0]?.spec.authParams?.signedCRT).not.toBe(before);
  });

  test("do not peer without a reservation at the provider", async () => {
    pair.rome.cache.update("requester", LENT);
    expect(await pair.untilPeered()).toMatchObject({ reason: "PeerSilent" });
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    // What rome states is not even read.
    expect(pinOf(pair.paris, "rome")).toBe(undefined);
    pair.reserve();
    await pair.run(1000);
    expect(pinOf(pair.paris, "rome")).toBeDefined();
  });

  test("state everything again when they reach the broker again, which may have lost it", async () => {
    pair.reserve();
    await pair.untilPeered();
    await pair.run(2000);
    const before = pair.broker.history.length;
    pair.rome.plane().onConnected?.();
    pair.paris.plane().onConnected?.();
    await pair.run(1000);
    const again = pair.broker.history.slice(before).map(({ from, to }) => `${from} ${to}`);
    expect(again.sort()).toEqual(["paris rome", "rome paris"]);
    expect(pair.heardBy("rome", "paris")?.provider?.state).toBe("signed");
    expect(pair.heardBy("paris", "rome")?.requester?.wants).toBe(true);
  });

  test("state nothing that counts as old, also when the broker's clock was set back meanwhile", async () => {
    pair.reserve();
    await pair.untilPeered();
    await pair.run(1000);
    pair.rome.plane().onConnected?.();
    await pair.run(1000);
    const before = pair.heardBy("paris", "rome")?.generation ?? Number.NaN;
    expect(pair.heardBy("rome", "paris")?.seen).toBeLessThanOrEqual(before);
    pair.time.jumpWall(-50_000);
    await pair.rome.restart();
    pair.rome.plane().onConnected?.();
    await pair.run(1000);
    const seen = pair.heardBy("rome", "paris")?.seen ?? Number.NaN;
    expect(pair.heardBy("paris", "rome")?.generation).toBeGreaterThan(seen);
  });

  test("report another address or authority of the provider, and do not go there by themselves", async () => {
    pair.reserve();
    await pair.untilPeered();
    const used = pair.rome.cluster.all(IDENTITIES);
    const state = async (change: { readonly apiServer?: string; readonly ca?: string }) => {
      const name = { name: "cool-rome", namespace: "liqo-tenant-cool-rome" };
      pair.paris.cluster.edit(TENANTS, name, (it) => ({
        ...it,
        status: { ...it.status, authParams: { ...it.status?.authParams, ...change } },
      }));
      await pair.run(70_000);
      expect(pair.rome.cluster.all(IDENTITIES)).toEqual(used);
      return pair.rome.events.splice(0).map(({ reason, message }) => `${reason}: ${message}`);
    };
    const remedy = "kubectl delete identities.authentication.liqo.io -n liqo-tenant-calm-paris";
    expect(await state({ apiServer: "https://new.example" })).toEqual([
      expect.stringMatching(
        new RegExp(`^PeerAddressChanged: .*https://new.example instead of https://paris.*${remedy}`),
      ),
    ]);
    expect(await state({ apiServer: "https://169.254.169.254" })).toEqual([
      expect.stringMatching(/^PeerAddressChanged: .*it is not used: .*link-local/),
    ]);
    expect(await state({ apiServer: "https://paris.example:6443" })).toEqual([]);
    const ca = Buffer.from(pair.fleet.authorities[0]?.toString() ?? "").toString("base64");
    expect(await state({ ca })).toEqual([expect.stringMatching(/^PeerAddressChanged: .*another authority/)]);
    expect(JSON.stringify(pair.rome.lines)).toContain("another authority");
  });

  test("do not end a provider's side while the requester is only silent", async () => {
    pair.reserve();
    await pair.untilPeered();
    pair.rome.setDown(true);
    await pair.run(60 * 60_000);
    expect(namesOf(pair.paris.cluster.all(TENANTS))).toEqual(["cool-rome"]);
  });

  test("end a provider's side some time after the last reservation, also without the requester", async () => {
    pair.reserve();
    await pair.untilPeered();
    pair.rome.setDown(true);
    pair.end();
    await pair.run(10 * 60_000);
    expect(pair.paris.cluster.all(TENANTS)).toHaveLength(1);
    await pair.run(10 * 60_000);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
  });
});

describe("a broker that", () => {
  const tampered = (change: (statement: Statement) => object) => (from: string, _to: string, jws: string) => {
    if (from !== "paris") return jws;
    const payload = readJws(jws, STATEMENT_TYPE) as Statement;
    return signJws({ ...payload, ...change(payload) }, STATEMENT_TYPE, generateIdentityKey());
  };

  test("swaps a key stops the pair", async () => {
    pair.reserve();
    await pair.untilPeered();
    await pair.release();
    const mallory = { ...pair.paris.identity, key: generateIdentityKey() };
    pair.paris.setIdentity(mallory);
    await pair.paris.restart();
    expect(await pair.untilPeered()).toMatchObject({ reason: "PeerKeyChanged", isStalled: true });
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    expect(pair.rome.events.map(({ reason }) => reason)).toContain("PeerRefused");
    // A person in rome has compared the fingerprint: no statement has to come for that to count.
    pair.broker.passOn = () => undefined;
    const pin = { name: "rear-peer-paris", namespace: "rear-agent" };
    const accepted = fingerprintOf(mallory.key.id);
    pair.rome.cluster.edit(CONFIG_MAPS, pin, (map) => ({ ...map, data: { ...map.data, accepted } }));
    await pair.run(11_000);
    expect(pair.rome.cluster.find(CONFIG_MAPS, pin)?.data).toMatchObject({ key: mallory.key.id });
  });

  test("forges an Identity that points to its own API server achieves nothing", async () => {
    pair.broker.passOn = tampered(({ provider }) => ({
      provider: {
        ...provider,
        ...(provider?.identity && {
          identity: { ...provider.identity, apiServer: "https://broker.example:6443" },
        }),
      },
    }));
    pair.reserve();
    expect(await pair.untilPeered()).toMatchObject({ reason: "StatementForged" });
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
  });

  test("replays and reorders statements does not undo what came later", async () => {
    pair.reserve();
    await pair.untilPeered();
    await pair.release();
    await pair.untilPeered();
    await pair.run(2000);
    const [, ...older] = pair.broker.history.filter(({ from }) => from === "rome").reverse();
    for (const { jws } of older) {
      pair.paris.plane().onStatement?.("rome", jws);
      await pair.work();
    }
    await pair.run(2000);
    expect(pair.paris.cluster.all(TENANTS)).toMatchObject([{ spec: { tenantCondition: "Active" } }]);
  });

  test("replays an end to a restarted agent does not end what was peered again", async () => {
    pair.reserve();
    await pair.untilPeered();
    await pair.release();
    const ends = pair.broker.history.filter(
      ({ from, jws }) =>
        from === "rome" && (readJws(jws, STATEMENT_TYPE) as Statement).requester?.wants === false,
    );
    await pair.untilPeered();
    await pair.run(2000);
    pair.broker.passOn = () => undefined;
    await pair.paris.restart();
    for (const { jws } of ends) {
      pair.paris.plane().onStatement?.("rome", jws);
      await pair.run(2000);
    }
    expect(ends.length).toBeGreaterThan(0);
    expect(pair.paris.cluster.all(TENANTS)).toMatchObject([{ spec: { tenantCondition: "Active" } }]);
  });

  test("passes on nothing leaves a message that names the agent there", async () => {
    pair.broker.passOn = () => undefined;
    pair.reserve();
    expect(await pair.untilPeered()).toMatchObject({
      reason: "PeerSilent",
      message: expect.stringContaining("--liqo-mode=relay"),
    });
  });
});

describe("a provider that", () => {
  test("sends something else than a nonce gets no signature", async () => {
    pair.reserve();
    const nonce = Buffer.from("O=system:masters, CN=admin").toString("base64");
    pair.paris.cluster.put(SECRETS, {
      metadata: { name: "liqo-nonce", namespace: "liqo-tenant-cool-rome" },
      data: { nonce: Buffer.from(nonce).toString("base64") },
    });
    pair.broker.passOn = (from, _to, jws) =>
      from === "rome"
        ? jws
        : signStatement(PARIS, pair.paris.identity, {
            ...theParts({ to: ROME, provider: { state: "nonce", nonce } }),
            now: pair.time.wallMs(),
            generation: pair.time.wallMs(),
          });
    expect(await pair.untilPeered()).toMatchObject({ reason: "NonceRefused" });
    expect(namesOf(pair.rome.cluster.all(SECRETS))).toEqual(["authentication-keys"]);
  });
});

describe("a requester that", () => {
  test("asks where someone else has made its Tenant is refused, and nothing is changed", async () => {
    const theirs = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name: "cool-rome", namespace: "liqo-tenant-cool-rome" },
      spec: { clusterID: "cool-rome", publicKey: "c29tZW9uZQ==", csr: "" },
      status: {},
    };
    pair.paris.cluster.put(TENANTS, theirs);
    pair.reserve();
    // Without a pin this is a peering whose key nobody knows.
    expect(await pair.untilPeered()).toMatchObject({ reason: "PeerSilent" });
    expect(pair.paris.events.map(({ message }) => message).join()).toContain("PeerPinLost");
    const data = { accepted: fingerprintOf(pair.rome.identity.key.id) };
    const name = { name: "rear-peer-rome", namespace: "rear-agent" };
    pair.paris.cluster.edit(CONFIG_MAPS, name, (pin) => ({ ...pin, data }));
    await pair.rome.restart();
    expect(await pair.untilPeered()).toMatchObject({
      reason: "PeerRefused",
      message: expect.stringContaining("not made by this agent"),
    });
    expect(pair.paris.cluster.all(TENANTS)).toMatchObject([theirs]);
  });

  test("claims the Liqo ID of another cluster gets no Tenant", async () => {
    pair.paris.cluster.put(CONFIG_MAPS, {
      metadata: {
        name: "rear-peer-tokyo",
        namespace: "rear-agent",
        labels: { "rear.fluidos.eu/peer": "true" },
      },
      data: { key: "x", liqoID: "cool-rome" },
    });
    pair.reserve();
    expect(await pair.untilPeered()).toMatchObject({ reason: "PeerSilent" });
    expect(pair.paris.events.map(({ message }) => message).join()).toContain("LiqoIDTaken");
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
  });

  test("replicates a slice with another organisation is cordoned", async () => {
    pair.reserve();
    await pair.untilPeered();
    const [tenant] = pair.paris.cluster.all(TENANTS);
    pair.paris.cluster.put(RESOURCE_SLICES, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: {
        name: "rsv-evil",
        namespace: "liqo-tenant-cool-rome",
        labels: { "liqo.io/replicated": "true", "liqo.io/originID": "cool-rome" },
      },
      spec: { class: "resource-broker", consumerClusterID: "cool-rome", csr: tenant?.spec.csr ?? "" },
    });
    await pair.run(2000);
    expect(pair.paris.cluster.all(TENANTS)).toMatchObject([{ spec: { tenantCondition: "Cordoned" } }]);
    expect(pair.paris.events).toMatchObject([{ type: "Warning", reason: "TenantCordoned" }]);
  });
});
