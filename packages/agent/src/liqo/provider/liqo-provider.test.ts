import { Fault, type ReservationDTO } from "@resource-broker/contract";
import { countedResources } from "@resource-broker/domain";
import { NAMESPACES } from "@resource-broker/kube";
import { fakeTime } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { Occurrence } from "../../events/tell.ts";
import { reservationBook } from "../../reservations/reservation-book.ts";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import { recordedLog } from "../../testing/recorded-log.ts";
import { ended } from "../../testing/samples.ts";
import { QUOTAS } from "../objects/quota.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/resource-slice.ts";
import { SHADOW_PODS } from "../objects/shadow-pod.ts";
import { TENANTS } from "../objects/tenant.ts";
import { END_GRACE_MS, SETTLE_MS } from "./judge-replica.ts";
import { liqoProvider } from "./liqo-provider.ts";
import {
  aLoan,
  aQuota,
  aReplica,
  aShadowPod,
  aTenant,
  acceptedWith,
  ASKED,
  ID,
  MALLORY,
  ROME,
  tenantNamespace,
} from "./testing/replicas.ts";

const OVER = ended("Expired", { requesterLiqoID: ROME });
const MINUTE_MS = 60_000;

/** paris' API server with Liqo in it, and the agent's provider side, which has or has not started yet. */
function world({ isEnforcing = false } = {}) {
  const time = fakeTime(Date.parse("2026-07-01T10:00:00Z"));
  const cluster = fakeCluster(time);
  const book = reservationBook({ clusterId: "paris", now: time.wallMs });
  const events: Occurrence[] = [];
  const log = recordedLog();
  const broker: { answer: () => Promise<ReservationDTO | undefined>; isCurrent: boolean; asked: string[] } = {
    answer: async () => undefined,
    isCurrent: true,
    asked: [],
  };
  const held = new Set<string>([ID]);
  for (const tenant of [ROME, MALLORY]) cluster.put(NAMESPACES, tenantNamespace(tenant));
  const begin = () => {
    const provider = liqoProvider(
      { resources: countedResources(), isEnforcing },
      {
        client: cluster.client,
        machine: time,
        random: () => 0.5,
        log,
        book,
        communicator: {
          fetchReservation: (id) => {
            broker.asked.push(id);
            return broker.answer();
          },
        },
        link: { isCurrent: () => broker.isCurrent },
        broker: () => ({ now: time.wallMs(), isSilent: false }),
        isHeld: (id) => held.has(id),
        isReady: () => true,
        tell: (occurrence) => void events.push(occurrence),
        onRetry: () => undefined,
      },
    );
    provider.setPresent(true);
    return provider;
  };
  const find = (tenant = ROME): ResourceSlice | undefined =>
    cluster.find(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${tenant}` });
  return {
    time,
    cluster,
    book,
    events,
    log,
    broker,
    held,
    begin,
    find,
    word: (tenant = ROME) => {
      const condition = find(tenant)?.status?.conditions?.find(({ type }) => type === "Resources");
      return condition && `${condition.status} ${condition.reason ?? ""}`;
    },
    cordon: (tenant = ROME) => find(tenant)?.metadata.annotations?.["liqo.io/cordon"],
    told: () => events.map(({ reason }) => reason),
    shadowPods: () => cluster.all(SHADOW_PODS).map(({ metadata }) => metadata.name),
    writes: () => cluster.calls.filter(({ verb }) => verb !== "get" && verb !== "list" && verb !== "watch"),
  };
}

type World = ReturnType<typeof world>;

/** rome has its slice, and three pods in it. */
async function lent(options = {}): Promise<World & { provider: ReturnType<World["begin"]> }> {
  const made = world(options);
  made.book.learn("provider", aLoan());
  made.cluster.put(RESOURCE_SLICES, aReplica());
  const provider = made.begin();
  await made.time.advance(1000);
  made.cluster.put(QUOTAS, aQuota(ROME));
  for (const name of ["web-1", "web-2", "web-3"]) made.cluster.put(SHADOW_PODS, aShadowPod(name));
  await made.time.advance(1000);
  return { ...made, provider };
}

/** Liqo's quota controller, when it gets round to it. */
function cordonQuota({ cluster }: World, tenant = ROME): void {
  const { name, namespace = "" } = aQuota(tenant).metadata;
  cluster.edit(QUOTAS, { name, namespace }, (quota) => ({
    ...quota,
    spec: { ...quota.spec, cordoned: true },
  }));
}

describe("granting", () => {
  test("gives a replica what is reserved, once, and says so", async () => {
    const { word, find, told, writes, time } = await lent();
    expect(word()).toBe("Accepted Reserved");
    expect(find()?.status?.resources).toEqual(ASKED);
    expect(told()).toEqual(["SliceGranted"]);
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([{ verb: "update", plural: "resourceslices", name: ID }]);
  });

  test("waits for a reservation that comes later than its slice", async () => {
    const { cluster, begin, time, word, book, told } = world();
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(SETTLE_MS / 2);
    expect(word()).toBeUndefined();
    book.learn("provider", aLoan());
    await time.advance(100);
    expect(word()).toBe("Accepted Reserved");
    expect(told()).toEqual(["SliceGranted"]);
  });

  test("refuses what nobody reserved, and grants it when somebody has", async () => {
    const { cluster, begin, time, word, book, broker } = world();
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(SETTLE_MS + 1000);
    expect(word()).toBe("Denied UnknownReservation");
    expect(broker.asked).toEqual([]);
    book.learn("provider", aLoan());
    await time.advance(100);
    expect(word()).toBe("Accepted Reserved");
  });

  test("waits until the capacity is held", async () => {
    const { cluster, begin, time, word, book, held } = world();
    held.clear();
    book.learn("provider", aLoan());
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(5000);
    expect(word()).toBeUndefined();
    held.add(ID);
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("decides again when somebody writes at the same time", async () => {
    const { cluster, begin, time, word, book } = world();
    let conflicts = 3;
    cluster.setMishaps(({ verb }) =>
      verb === "update" && conflicts-- > 0
        ? { fault: new Fault("conflict", "the object was modified") }
        : undefined,
    );
    book.learn("provider", aLoan());
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("is judged on the newest version, not on what the watch showed", async () => {
    const { cluster, begin, time, word, book } = world();
    book.learn("provider", aLoan());
    cluster.put(RESOURCE_SLICES, aReplica());
    cluster.setWatchLag(20_000);
    begin();
    cluster.setMishaps(({ verb, plural }) => {
      if (verb !== "get" || plural !== "namespaces") return undefined;
      cluster.setMishaps(undefined);
      cluster.edit(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${ROME}` }, (slice) => ({
        ...slice,
        spec: { ...slice.spec, resources: { cpu: "64" } },
      }));
      return undefined;
    });
    await time.advance(1000);
    expect(word()).toBe("Denied TooMuch");
  });

  test.each(["Cordoned", "Drained"] as const)(
    "leaves a %s tenant to Liqo until it is active again",
    async (state) => {
      const { cluster, begin, time, word, book } = world();
      book.learn("provider", aLoan());
      cluster.put(TENANTS, aTenant(ROME, state));
      cluster.put(RESOURCE_SLICES, aReplica());
      begin();
      await time.advance(1000);
      expect(word()).toBeUndefined();
      cluster.edit(TENANTS, { name: ROME, namespace: `liqo-tenant-${ROME}` }, () => aTenant(ROME, "Active"));
      await time.advance(MINUTE_MS);
      expect(word()).toBe("Accepted Reserved");
    },
  );

  test("follows a reservation that was renewed after it seemed over", async () => {
    const { book, time, word, cordon, provider: _, ...rest } = await lent();
    book.endHere(ID, "Expired");
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota({ ...rest, book, time, word, cordon });
    expect(cordon()).toBe("true");
    book.learn("provider", aLoan({ generation: 2 }));
    await time.advance(1000);
    expect(cordon()).toBeUndefined();
    expect(word()).toBe("Accepted Reserved");
  });
});

describe("a hostile consumer", () => {
  test("cannot raise what it was given", async () => {
    const { cluster, time, find } = await lent();
    cluster.edit(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${ROME}` }, (slice) => ({
      ...slice,
      status: acceptedWith({ ...ASKED, cpu: "64" }),
    }));
    await time.advance(100);
    expect(find()?.status?.resources).toEqual(ASKED);
  });

  test("that asks for more afterwards keeps what it has", async () => {
    const { cluster, time, find, word, shadowPods } = await lent();
    cluster.edit(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${ROME}` }, (slice) => ({
      ...slice,
      spec: { ...slice.spec, resources: { ...ASKED, cpu: "64" } },
      status: acceptedWith({ ...ASKED, cpu: "64", "nvidia.com/gpu": "8" }),
    }));
    await time.advance(100);
    expect(word()).toBe("Accepted TooMuch");
    expect(find()?.status?.resources).toEqual(ASKED);
    expect(shadowPods()).toHaveLength(3);
  });

  test("gets nothing under another's id, and takes nothing from it", async () => {
    const { cluster, time, word, shadowPods } = await lent();
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY }));
    await time.advance(1000);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
    expect(shadowPods()).toHaveLength(3);
  });

  test("that accepts itself under another's id loses its own pods, and nobody else's", async () => {
    const made = await lent();
    const { cluster, time, word, cordon, shadowPods } = made;
    cluster.put(QUOTAS, aQuota(MALLORY));
    cluster.put(SHADOW_PODS, aShadowPod("miner", { tenant: MALLORY }));
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, status: acceptedWith({ cpu: "64" }) }));
    await time.advance(3000);
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, "true"]);
    expect(shadowPods()).toEqual(["web-1", "web-2", "web-3"]);
    expect(word(MALLORY)).toBe("Accepted Reserved");
    cordonQuota(made, MALLORY);
    await time.advance(3000);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
  });

  test("that pretends to be another cluster harms nobody but itself", async () => {
    const { cluster, time, word, cordon, shadowPods } = await lent();
    const status = acceptedWith({ cpu: "64" });
    const { metadata, ...quota } = aQuota(ROME);
    const namespace = `liqo-tenant-${MALLORY}`;
    cluster.put(QUOTAS, { ...quota, metadata: { ...metadata, namespace } });
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, origin: ROME, status }));
    await time.advance(MINUTE_MS);
    expect(cluster.all(QUOTAS).map((each) => each.metadata.namespace)).toEqual([`liqo-tenant-${ROME}`]);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
    // A cordon would go to the Quota of the user it claims to be: rome's.
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, undefined]);
    expect(shadowPods()).toHaveLength(3);
  });

  test("cannot stop the work on others by a replica that makes no sense or always fails", async () => {
    const { cluster, begin, time, word, book } = world();
    book.learn("provider", aLoan());
    const { spec: _, ...bare } = aReplica({ tenant: MALLORY });
    cluster.put(RESOURCE_SLICES, bare as ResourceSlice);
    cluster.put(NAMESPACES, tenantNamespace("oslo-liqo"));
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: "oslo-liqo" }));
    cluster.put(RESOURCE_SLICES, aReplica());
    cluster.setMishaps(({ verb, name }) =>
      verb === "get" && name === "liqo-tenant-oslo-liqo"
        ? { fault: new Fault("internal", "it broke") }
        : undefined,
    );
    begin();
    await time.advance(1000);
    expect(word(ROME)).toBe("Accepted Reserved");
    book.learn("provider", OVER);
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    await time.advance(END_GRACE_MS + 2 * MINUTE_MS);
    expect(cluster.all(SHADOW_PODS)).toEqual([]);
  });

  test("that writes replicas outside of its namespace is denied", async () => {
    const { cluster, begin, time, word, book } = world();
    book.learn("provider", aLoan());
    cluster.remove(NAMESPACES, { name: `liqo-tenant-${ROME}` });
    cluster.put(NAMESPACES, { metadata: { name: `liqo-tenant-${ROME}` } });
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(1000);
    expect(word()).toBe("Denied WrongRequester");
  });

  test("that accepts itself without a reservation is cordoned at once, and cleared when the broker agrees", async () => {
    const { cluster, begin, time, word, cordon, shadowPods, broker } = world();
    broker.answer = () => Promise.reject(new Fault("unreachable", "nobody answers"));
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith({ cpu: "64" }) }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual(["web-1"]);
    expect(broker.asked.length).toBeLessThanOrEqual(11);
    broker.answer = async () => undefined;
    await time.advance(2 * MINUTE_MS);
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Denied UnknownReservation");
  });

  test("is not cleared because an older broker cannot be asked", async () => {
    const { cluster, begin, time, cordon, shadowPods, broker } = world();
    broker.isCurrent = false;
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual(["web-1"]);
  });
});

describe("at the end of a reservation", () => {
  test("a consumer that cooperates has its time, and is not touched", async () => {
    const { book, time, cluster, writes, shadowPods } = await lent();
    const before = writes().length;
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS - 2000);
    expect(shadowPods()).toHaveLength(3);
    for (const name of shadowPods()) cluster.remove(SHADOW_PODS, { name, namespace: `shop-${ROME}` });
    cluster.remove(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${ROME}` });
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toHaveLength(before);
  });

  test("one that does not is cordoned, loses its pods, and is denied last", async () => {
    const made = await lent();
    const { book, time, word, cordon, shadowPods, told } = made;
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Accepted Reserved");
    cordonQuota(made);
    await time.advance(3000);
    expect(word()).toBe("Denied ReservationEnded");
    expect(told()).toEqual(["SliceGranted", "SliceCordoned", "GuestsRemoved", "SliceRefused"]);
  });

  test("pods that come back are removed again", async () => {
    const made = await lent();
    const { book, time, cluster, shadowPods } = made;
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    cluster.put(SHADOW_PODS, aShadowPod("web-4"));
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
    cordonQuota(made);
    await time.advance(5000);
    cluster.put(SHADOW_PODS, aShadowPod("web-5"));
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
  });

  test("pods left behind without their slice are removed all the same", async () => {
    const { book, time, cluster, shadowPods } = await lent();
    cluster.remove(RESOURCE_SLICES, { name: ID, namespace: `liqo-tenant-${ROME}` });
    await time.advance(1000);
    expect(shadowPods()).toHaveLength(3);
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual([]);
  });

  test("pods without a stamped user are known by where they come from", async () => {
    const { book, time, cluster, shadowPods } = await lent();
    cluster.put(SHADOW_PODS, aShadowPod("unstamped", { isStamped: false }));
    cluster.put(SHADOW_PODS, aShadowPod("other", { slice: "mypool" }));
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual(["other"]);
  });

  test("many pods are removed in bounded rounds", async () => {
    const { book, time, cluster, shadowPods, told } = await lent();
    for (let pod = 0; pod < 120; pod++) cluster.put(SHADOW_PODS, aShadowPod(`batch-${pod}`));
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 20_000);
    expect(shadowPods()).toEqual([]);
    expect(told().filter((reason) => reason === "GuestsRemoved")).toHaveLength(3);
  });

  test("a pod that cannot go is deleted once, and waited for", async () => {
    const made = await lent();
    const { book, time, cluster, shadowPods, word, writes } = made;
    const stuck = aShadowPod("stuck");
    cluster.put(SHADOW_PODS, {
      ...stuck,
      metadata: { ...stuck.metadata, finalizers: ["somebody.example/slow"] },
    });
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota(made);
    await time.advance(10 * MINUTE_MS);
    expect(shadowPods()).toEqual(["stuck"]);
    expect(writes().filter(({ verb, name }) => verb === "delete" && name === "stuck")).toHaveLength(1);
    expect(word()).toBe("Accepted Reserved");
    cluster.edit(SHADOW_PODS, { name: "stuck", namespace: `shop-${ROME}` }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, finalizers: [] },
    }));
    await time.advance(5000);
    expect(word()).toBe("Denied ReservationEnded");
  });

  test("an API server that fails is asked again until all is gone", async () => {
    const { book, time, cluster, shadowPods } = await lent();
    let failures = 10;
    cluster.setMishaps(({ verb }) =>
      verb === "delete" && failures-- > 0
        ? { fault: new Fault("unreachable", "connection reset") }
        : undefined,
    );
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS + 5 * MINUTE_MS);
    expect(shadowPods()).toEqual([]);
  });

  test("an agent that was away for it asks the broker, and finishes", async () => {
    const { time, cluster, book, broker, begin, shadowPods, word } = world();
    broker.answer = async () => OVER;
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    begin();
    await time.advance(1000);
    expect(book.get("provider", ID)?.endedAt).toBeDefined();
    expect(shadowPods()).toEqual(["web-1"]);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Denied ReservationEnded");
  });

  test("an agent that starts again in the middle goes on", async () => {
    const made = await lent();
    const { book, time, provider, begin, shadowPods, cordon } = made;
    book.learn("provider", OVER);
    await time.advance(END_GRACE_MS / 2);
    await provider.stop();
    await time.advance(END_GRACE_MS);
    expect(shadowPods()).toHaveLength(3);
    begin();
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
    expect(cordon()).toBe("true");
  });
});

describe("what is not ours", () => {
  const FOREIGN = aReplica({
    name: "mypool",
    spec: { class: "default" },
    status: acceptedWith({ cpu: "64" }),
  });
  const NAME = { name: "mypool", namespace: `liqo-tenant-${ROME}` };

  test("is left alone, whatever it takes", async () => {
    const { cluster, begin, time, writes, broker } = world();
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([]);
    expect(broker.asked).toEqual([]);
  });

  test("is flagged and cordoned with --liqo-enforce, and its pods stay", async () => {
    const { cluster, begin, time, told, shadowPods } = world({ isEnforcing: true });
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cluster.find(RESOURCE_SLICES, NAME)?.metadata.annotations).toMatchObject({
      "liqo.io/cordon": "true",
      "rear.fluidos.eu/cordoned": "NotReserved",
    });
    expect(cluster.find(RESOURCE_SLICES, NAME)?.status).toEqual(FOREIGN.status);
    expect(told()).toEqual(["SliceFlagged"]);
    expect(shadowPods()).toEqual(["web-1"]);
  });

  test("nor are slices that this cluster sends to others", async () => {
    const { cluster, begin, time, writes } = world({ isEnforcing: true });
    const own = aReplica();
    const labels = { "liqo.io/replication": "true", "liqo.io/remoteID": "rome-liqo" };
    cluster.put(RESOURCE_SLICES, { ...own, metadata: { ...own.metadata, labels } });
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([]);
  });
});

describe("without Liqo", () => {
  test("nothing of it is asked for, and its going is no trouble", async () => {
    const { cluster, time, provider, log } = await lent();
    provider.setPresent(false);
    await time.advance(1000);
    const before = cluster.calls.length;
    await time.advance(10 * MINUTE_MS);
    expect(cluster.calls).toHaveLength(before);
    provider.setPresent(true);
    await time.advance(1000);
    expect(cluster.calls.length).toBeGreaterThan(before);
    await provider.stop();
    expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });
});
