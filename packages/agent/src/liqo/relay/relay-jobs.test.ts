import { CONFIG_MAPS, NAMESPACES } from "@resource-broker/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  type Identity,
  NAMESPACE_MAPS,
  RESOURCE_SLICES,
  TENANTS,
} from "../objects.ts";
import { UNREACHABLE } from "../requester/end-peering.ts";
import { markerManifest } from "../requester/peering-marker.ts";
import { install } from "../requester/testing/liqo-test-environment.ts";
import { relayJobs } from "./relay-jobs.ts";
import type { ProviderShare } from "./statement.ts";
import { type RelayPair, relayPair } from "./testing/relay-pair.ts";
import { PARIS, ROME } from "./testing/relay-samples.ts";

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

const AT_ROME = "liqo-tenant-calm-paris";
const AT_PARIS = "liqo-tenant-cool-rome";
/** Until the first forced end has failed, and before the next. */
const FORCED_MS = 140_000;
const anIdentity = (name: string, namespace: string): Identity => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Identity",
  metadata: { name, namespace },
  spec: { clusterID: namespace.slice("liqo-tenant-".length), type: "ControlPlane" },
});

describe("a requester", () => {
  test.each([
    [
      "whose own ID in Liqo is another one",
      { requesterLiqoID: "cool-oslo" },
      /ID in Liqo is cool-rome, but the broker has cool-oslo/,
    ],
    [
      "whose provider has another one",
      { targetLiqoID: "calm-oslo" },
      /says that it is calm-paris in Liqo, and the reservation names calm-oslo/,
    ],
  ])("%s than in the reservation does not peer", async (_, ids, message) => {
    pair.reserve();
    await pair.untilPeered();
    await pair.release();
    expect(await pair.untilPeered(undefined, ids)).toMatchObject({
      reason: "IdentityMismatch",
      message: expect.stringMatching(message),
    });
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
  });

  test("without Liqo says so", async () => {
    pair.reserve();
    await pair.run(1000);
    install(pair.rome.cluster, undefined);
    expect(await pair.untilPeered()).toMatchObject({ reason: "LiqoMissing" });
  });

  test("leaves an Identity that somebody else made, and names the command", async () => {
    pair.reserve();
    pair.rome.cluster.setCallFaults(({ verb, plural }) => {
      if (verb === "create" && plural === "secrets") theirs();
      return undefined;
    });
    let isThere = false;
    const theirs = (): void => {
      if (!isThere) pair.rome.cluster.put(IDENTITIES, anIdentity("controlplane-calm-paris", AT_ROME));
      isThere = true;
    };
    expect(await pair.untilPeered()).toMatchObject({
      reason: "IdentityConflict",
      message: expect.stringContaining(
        `kubectl delete identities.authentication.liqo.io -n ${AT_ROME} controlplane-calm-paris`,
      ),
    });
    expect(pair.rome.cluster.all(IDENTITIES)).toMatchObject([
      { spec: anIdentity("controlplane-calm-paris", AT_ROME).spec },
    ]);
  });

  test("deletes its Identity only after Liqo has taken its namespaces back", async () => {
    pair.reserve();
    await pair.untilPeered();
    const mapOf = (name: string, labels = {}) => ({ metadata: { name, namespace: AT_ROME, labels } });
    pair.rome.cluster.put(NAMESPACE_MAPS, mapOf("calm-paris"));
    pair.rome.cluster.put(NAMESPACE_MAPS, mapOf("theirs", { "liqo.io/replicated": "true" }));
    await pair.release(20_000);
    expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
    expect(pair.heardBy("paris", "rome")?.requester?.wants).toBe(true);
    pair.rome.cluster.remove(NAMESPACE_MAPS, mapOf("calm-paris").metadata);
    expect(await pair.release(5000)).toEqual({ kind: "clean" });
    expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
  });

  describe("whose provider is gone", () => {
    const mark = (): string | undefined =>
      pair.rome.cluster.all(FOREIGN_CLUSTERS)[0]?.metadata.annotations?.[UNREACHABLE];
    const setMark = (): void => {
      const annotations = { [UNREACHABLE]: "true" };
      pair.rome.cluster.edit(FOREIGN_CLUSTERS, { name: PARIS.liqoId }, (it) => ({
        ...it,
        metadata: { ...it.metadata, annotations },
      }));
    };
    const cutOff = async (forMs: number): Promise<void> => {
      pair.reserve();
      await pair.untilPeered();
      pair.paris.setDown(true);
      pair.rome.liqo.cutOff(forMs);
    };

    test("for less than an hour keeps Liqo's Identity, which Liqo needs to clean up when it is back", async () => {
      await cutOff(5 * 60_000);
      expect(await pair.release()).toMatchObject({ reason: "ProviderUnreachable" });
      expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
      expect(pair.heardBy("paris", "rome")?.requester?.wants).toBe(true);
      pair.paris.setDown(false);
      pair.rome.liqo.reconnect();
      expect(await pair.release(10 * 60_000)).toEqual({ kind: "clean" });
      expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
    });

    test("for an hour lets Liqo give it up, and takes the mark off again", async () => {
      const marks: (string | undefined)[] = [];
      await cutOff(61 * 60_000);
      pair.rome.cluster.onCall(({ verb, plural }) => {
        if (verb === "list" && plural === "identities") marks.push(mark());
      });
      expect(await pair.release(10 * 60_000)).toEqual({ kind: "clean" });
      expect(marks).toEqual(["true"]);
      expect(mark()).toBe(undefined);
      expect(pair.rome.cluster.all(FOREIGN_CLUSTERS)).toMatchObject([{ status: { role: "Unknown" } }]);
      expect(pair.rome.cluster.all(IDENTITIES)).toEqual([]);
      expect(pair.heardBy("paris", "rome")?.requester).toEqual({ wants: false });
    });

    test("changes the namespace map that Liqo pauses over, so that Liqo looks at it before the Identity goes", async () => {
      await cutOff(61 * 60_000);
      const metadata = { name: PARIS.liqoId, namespace: AT_ROME };
      pair.rome.cluster.put(NAMESPACE_MAPS, { metadata });
      const identities: number[] = [];
      pair.rome.cluster.onCall(({ verb, plural }) => {
        if (verb !== "patch" || plural !== "namespacemaps") return;
        identities.push(pair.rome.cluster.all(IDENTITIES).length);
        if (identities.length === 3) pair.rome.cluster.remove(NAMESPACE_MAPS, metadata);
      });
      expect(await pair.release(10 * 60_000)).toEqual({ kind: "clean" });
      expect(identities).toEqual([1, 1, 1]);
    });

    test("and whose Liqo holds on says what to do, and states the end only when Liqo has let go", async () => {
      await cutOff(61 * 60_000);
      pair.rome.liqo.setHolding(true);
      expect(await pair.release(FORCED_MS)).toMatchObject({
        reason: "LiqoHoldsOn",
        message: expect.stringContaining(
          `kubectl annotate renews.authentication.liqo.io,secrets -n ${AT_ROME} -l liqo.io/remote-cluster-id=calm-paris`,
        ),
      });
      expect(mark()).toBe("true");
      expect(pair.heardBy("paris", "rome")?.requester?.wants).toBe(true);
      pair.rome.liqo.setHolding(false);
      expect(await pair.release(10 * 60_000)).toEqual({ kind: "clean" });
      expect(mark()).toBe(undefined);
      expect(pair.heardBy("paris", "rome")?.requester).toEqual({ wants: false });
    });

    test("and comes back before its forced end is over is not marked any more, and is unpeered from", async () => {
      await cutOff(61 * 60_000);
      setMark();
      const marks: (string | undefined)[] = [];
      pair.rome.cluster.onCall(({ verb, plural }) => {
        if (verb === "list" && plural === "identities") marks.push(mark());
      });
      pair.paris.setDown(false);
      pair.rome.liqo.reconnect();
      expect(await pair.release(10 * 60_000)).toEqual({ kind: "clean" });
      expect(marks).toEqual([undefined]);
    });

    test("and that peers again is not marked any more, by whomever it was", async () => {
      await cutOff(61 * 60_000);
      await pair.release(10 * 60_000);
      pair.paris.setDown(false);
      setMark();
      await pair.untilPeered();
      expect(mark()).toBe(undefined);
    });
  });

  test.each<[ProviderShare["state"] | undefined, boolean, string, RegExp]>([
    ["nonce", true, "admitted", /look at its log/],
    ["signed", true, "admitted", /look at its log/],
    ["none", true, "gone", /look at its log/],
    ["refused", true, "gone", /^paris says: kubectl patch it/],
    ["refused", false, "unknown", /^paris says/],
    [undefined, true, "unknown", /look at its log/],
  ])("to which the provider states %s (wanted: %s) is %s there", async (state, isWanted, status, remedy) => {
    const heard = state && { provider: { state, message: "kubectl patch it" } };
    const jobs = relayJobs({ liqoNamespace: "liqo", timeoutMs: 1000 }, {
      exchange: { heard: () => heard },
      shares: { isWanted: () => isWanted },
    } as never);
    expect(await jobs.tenantStatus(PARIS)).toBe(status);
    expect(jobs.tenantRemedy(PARIS)).toMatch(remedy);
    expect(jobs.tenantRemedy(PARIS)).not.toContain("liqoctl");
    expect(jobs.refusal(PARIS)).toBe(state === "refused" ? "paris says: kubectl patch it" : undefined);
  });
});

describe("a provider", () => {
  test("does not let in a cluster whose Liqo ID is not the one in its reservation", async () => {
    pair.reserve({ requesterLiqoID: "cool-oslo" });
    expect(await pair.untilPeered()).toMatchObject({
      reason: "PeerRefused",
      message: expect.stringContaining("the broker knows rome as cool-oslo in Liqo, and it says cool-rome"),
    });
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
  });

  test.each<[string, () => unknown]>([
    ["an Identity", () => pair.paris.cluster.put(IDENTITIES, anIdentity("controlplane-cool-rome", AT_PARIS))],
    [
      "a slice",
      () =>
        pair.paris.cluster.put(RESOURCE_SLICES, {
          apiVersion: "authentication.liqo.io/v1beta1",
          kind: "ResourceSlice",
          metadata: { name: "theirs", namespace: AT_PARIS },
          spec: {},
        }),
    ],
    ["a mark", () => pair.paris.cluster.put(CONFIG_MAPS, markerManifest("liqo", ROME, ["rsv-1"]))],
  ])("keeps the tenant namespace while the other direction has %s in it", async (_, put) => {
    pair.reserve();
    await pair.untilPeered();
    put();
    pair.end();
    await pair.release();
    await pair.run(5000);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    expect(pair.paris.cluster.find(NAMESPACES, { name: AT_PARIS })).toBeDefined();
  });
});
