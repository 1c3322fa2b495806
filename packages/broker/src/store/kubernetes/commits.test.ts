import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { LEDGER } from "./segment.ts";
import { faultyClient, type WriteFault } from "./testing/faulty-client.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica, reopened } = useServer(simulatedServer);

/** A store with one commit, whose later ones can be disturbed. */
async function disturbed() {
  const ledger = await newLedger();
  const faulty = faultyClient();
  const store = replica(ledger, { replica: "old", through: faulty.through });
  await store.open();
  const grants = new Grants();
  await grants.commit(store, 1);
  return { ledger, faulty, store, grants, batch: grants.next() };
}

describe("a commit whose answer is lost", () => {
  it.each([
    { fate: "answer-lost", last: 2 },
    { fate: "never-sent", last: 1 },
    { fate: { code: "overloaded" }, last: 1 },
    { fate: { code: "internal" }, last: 1 },
  ] as const)("($fate) is settled by its number", async ({ fate, last }) => {
    const { ledger, faulty, store, grants, batch } = await disturbed();
    faulty.plan(fate);
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect(await store.lastCommit()).toBe(last);
    if (last === 1) await store.commit(batch);
    await store.commit(grants.next());
    expect(await store.lastCommit()).toBe(3);
    const { records, commitNumber } = await reopened(ledger, store);
    expect([records.reservations.length, commitNumber]).toEqual([3, 3]);
  });

  it("is there when it arrives before anybody asks", async () => {
    const { faulty, store, grants, batch } = await disturbed();
    faulty.plan("late");
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect(await faulty.arrive()).toBe(true);
    expect(await store.lastCommit()).toBe(2);
    await store.commit(grants.next());
  });

  it("is turned away when it arrives after somebody was told that it is not there", async () => {
    const { ledger, faulty, store, batch } = await disturbed();
    faulty.plan("late");
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect(await store.lastCommit()).toBe(1);
    expect(await faulty.arrive()).toBe(false);
    await store.commit(batch);
    expect((await reopened(ledger, store)).commitNumber).toBe(2);
  });

  it("is settled also where asking fails, in each of its steps", async () => {
    const { faulty, store, grants, batch } = await disturbed();
    faulty.plan("late", "never-sent", "answer-lost");
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    faulty.failReads(1);
    await expect(store.lastCommit()).rejects.toMatchObject({ kind: "unknown" });
    await expect(store.lastCommit()).rejects.toMatchObject({ kind: "unknown" });
    await expect(store.lastCommit()).rejects.toMatchObject({ kind: "unknown" });
    expect(await faulty.arrive()).toBe(false);
    expect(await store.lastCommit()).toBe(1);
    await store.commit(batch);
    await store.commit(grants.next());
    expect(await store.lastCommit()).toBe(3);
  });

  it("comes before the next one: that one is not even sent as long as it is not settled", async () => {
    const { faulty, store, batch } = await disturbed();
    faulty.plan("late", "never-sent");
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "not-committed" });
    await store.commit(batch);
    expect(await faulty.arrive()).toBe(false);
    expect(await store.lastCommit()).toBe(2);
  });
});

describe("a commit that is refused", () => {
  const refusals: { fate: WriteFault; says: RegExp }[] = [
    { fate: { code: "rate-limited", message: "too many requests" }, says: /too many requests/ },
    { fate: { code: "forbidden", message: "user x may not update configmaps" }, says: /may not update/ },
    { fate: { code: "too-large", message: "limit is 3145728" }, says: /limit is/ },
    { fate: { code: "invalid", message: "data: Too long" }, says: /Too long/ },
    {
      fate: { code: "overloaded", message: "etcdserver: mvcc: database space exceeded" },
      says: /etcd is full; compact/,
    },
  ];
  it.each(refusals)("($says) has left nothing behind, and may be tried again", async ({ fate, says }) => {
    const { ledger, faulty, store, batch } = await disturbed();
    faulty.plan(fate);
    const failure = { kind: "not-committed", message: expect.stringMatching(says) };
    await expect(store.commit(batch)).rejects.toMatchObject(failure);
    expect(await store.lastCommit()).toBe(1);
    await store.commit(batch);
    expect((await reopened(ledger, store)).commitNumber).toBe(2);
  });

  it("is of unknown outcome where nobody can look whether it is there all the same", async () => {
    const { faulty, store, batch } = await disturbed();
    faulty.plan({ code: "forbidden" });
    faulty.failReads(1);
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect(await store.lastCommit()).toBe(1);
    await store.commit(batch);
  });
});

describe("a commit succeeds though", () => {
  it.each([
    { name: "the client has sent it twice", fates: ["resent"] },
    { name: "people touch the object all the time", fates: ["touched", "touched", "touched", "touched"] },
    { name: "somebody has deleted the object", fates: ["deleted"] },
    { name: "somebody has deleted the object, and touched it before", fates: ["touched", "deleted"] },
  ] as const)("$name", async ({ fates }) => {
    const { ledger, faulty, store, grants, batch } = await disturbed();
    faulty.plan(...fates);
    await store.commit(batch);
    await store.commit(grants.next());
    const { records, commitNumber } = await reopened(ledger, store);
    expect([records.reservations.length, commitNumber]).toEqual([3, 3]);
  });

  it("gives up where the object never stands still", async () => {
    const { faulty, store, batch } = await disturbed();
    faulty.plan(...Array.from({ length: 10 }, () => "touched" as const));
    const failure = { kind: "not-committed", message: /keeps changing ConfigMap/ };
    await expect(store.commit(batch)).rejects.toMatchObject(failure);
    await store.commit(batch);
  });
});

describe("what people do to the ledger", () => {
  async function change(ledger: TestLedger, data: Record<string, string>): Promise<void> {
    const name = { name: LEDGER, namespace: ledger.namespace };
    await ledger.client.patch(CONFIG_MAPS, { name, patch: { kind: "merge", body: { data } } });
  }
  async function segmentsOf({ client, namespace }: TestLedger): Promise<string[]> {
    const names: string[] = [];
    await client.list(
      CONFIG_MAPS,
      { namespace, labelSelector: "broker.fluidos.eu/ledger=page" },
      (segment) => {
        names.push(segment.metadata.name);
      },
    );
    return names;
  }
  /** A ledger that nobody has open, with some of it in pages. */
  async function withSegments() {
    const ledger = await newLedger();
    const store = replica(ledger);
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 40);
    await until("some of it is in segments", async () => (await segmentsOf(ledger)).length > 0 || undefined);
    return { ledger, store, grants };
  }

  it("labels and annotations on the head stay", async () => {
    const { ledger, store, grants } = await disturbed();
    const name = { name: LEDGER, namespace: ledger.namespace };
    const body = { metadata: { annotations: { team: "platform" } } };
    await ledger.client.patch(CONFIG_MAPS, { name, patch: { kind: "merge", body } });
    grants.story.commitNumber = 1;
    await store.commit(grants.next());
    const manifest: ConfigMap = await ledger.client.get(CONFIG_MAPS, name);
    expect(manifest.metadata.annotations).toMatchObject({ team: "platform" });
  });

  it("a changed head is noticed", async () => {
    const { ledger, store, batch } = await disturbed();
    await change(ledger, { changes: "" });
    const failure = { kind: "corrupt", message: /is damaged/ };
    await expect(store.commit(batch)).rejects.toMatchObject(failure);
    await store.close();
    await expect(replica(ledger).open()).rejects.toMatchObject(failure);
  });

  it("a head that was put back from a backup under a running broker is noticed", async () => {
    const { ledger, store, grants, batch } = await disturbed();
    const name = { name: LEDGER, namespace: ledger.namespace };
    const { data = {} } = await ledger.client.get(CONFIG_MAPS, name);
    await store.commit(batch);
    await change(ledger, data);
    const failure = { kind: "corrupt", message: /was a backup put back/ };
    await expect(store.commit(grants.next())).rejects.toMatchObject(failure);
  });

  it("a head of a newer broker is left alone", async () => {
    const { ledger, store } = await disturbed();
    await store.close();
    await change(ledger, { format: "2" });
    const failure = { kind: "not-committed", message: /newer broker \(format 2, this one knows 1\)/ };
    await expect(replica(ledger).open()).rejects.toMatchObject(failure);
    await expect(replica(ledger).leadership.prepare()).rejects.toMatchObject(failure);
  });

  it("a segment deleted under a running broker is written again", async () => {
    const { ledger, store, grants } = await withSegments();
    const [first = ""] = await segmentsOf(ledger);
    await ledger.client.delete(CONFIG_MAPS, { name: first, namespace: ledger.namespace });
    await until(
      "there is a snapshot",
      async () => (await segmentsOf(ledger)).some((name) => name.includes("snapshot")) || undefined,
    );
    await store.commit(grants.next());
    expect((await reopened(ledger, store)).records.reservations).toHaveLength(41);
  });

  it("a segment deleted while no broker runs is missed, by its name", async () => {
    const { ledger, store } = await withSegments();
    await store.close();
    const [first = ""] = await segmentsOf(ledger);
    await ledger.client.delete(CONFIG_MAPS, { name: first, namespace: ledger.namespace });
    const failure = {
      kind: "corrupt",
      message: expect.stringContaining(`${first} of the ledger is missing`),
    };
    await expect(replica(ledger).open()).rejects.toMatchObject(failure);
  });

  it("a head deleted while no broker runs does not make an empty ledger of a full one", async () => {
    const { ledger, store } = await withSegments();
    await store.close();
    await ledger.client.delete(CONFIG_MAPS, { name: LEDGER, namespace: ledger.namespace });
    const failure = { kind: "corrupt", message: /is gone, and \d+ pages of its ledger are there/ };
    await expect(replica(ledger).open()).rejects.toMatchObject(failure);
  });

  it("a namespace that is not there is named, with the remedy", async () => {
    const ledger = await newLedger();
    await ledger.client.delete(NAMESPACES, { name: ledger.namespace });
    await until(
      "it is gone",
      async () =>
        (await ledger.client.find(NAMESPACES, { name: ledger.namespace })) === undefined || undefined,
    );
    const failure = { kind: "not-committed", message: /create the namespace/ };
    await expect(replica(ledger).open()).rejects.toMatchObject(failure);
    await ledger.client.create(NAMESPACES, { metadata: { name: ledger.namespace } });
  });

  it("a namespace that comes back gets its ledger back from the broker that lives", async () => {
    const { ledger, store, grants, batch } = await disturbed();
    const name = { name: ledger.namespace };
    await ledger.client.delete(NAMESPACES, name);
    await until(
      "it is gone",
      async () => (await ledger.client.find(NAMESPACES, name)) === undefined || undefined,
    );
    const failure = { kind: "not-committed", message: /create the namespace/ };
    await expect(store.commit(batch)).rejects.toMatchObject(failure);
    await ledger.client.create(NAMESPACES, { metadata: name });
    await store.commit(batch);
    await store.commit(grants.next());
    expect((await reopened(ledger, store)).records.reservations).toHaveLength(3);
  });

  it("a namespace that comes back gets the pages of its ledger back, too", async () => {
    const { ledger, store, grants } = await withSegments();
    const name = { name: ledger.namespace };
    await ledger.client.delete(NAMESPACES, name);
    await until("it is gone", async () =>
      (await ledger.client.find(NAMESPACES, name)) === undefined ? true : undefined,
    );
    await ledger.client.create(NAMESPACES, { metadata: name });
    await store.commit(grants.next());
    await until("there is a snapshot", async () =>
      (await segmentsOf(ledger)).some((segment) => segment.includes("snapshot")) ? true : undefined,
    );
    expect((await reopened(ledger, store)).records.reservations).toHaveLength(41);
  });
});
