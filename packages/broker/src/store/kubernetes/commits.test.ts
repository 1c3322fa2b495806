import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import type { FailureKind } from "../store.ts";
import { contentIn, type LedgerManifest, manifestConfigMap } from "./ledger-manifest.ts";
import { LEDGER, linesIn, segmentConfigMap } from "./segments.ts";
import { faultyClient, type WriteFault } from "./testing/faulty-client.ts";
import { objectsOf, simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica, reopened } = useLedgers(simulatedServer);

const failure = (kind: FailureKind, says = "") => ({ kind, message: expect.stringContaining(says) });

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
    for (const _ of ["it cannot be read", "never sent", "answer lost"])
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

describe("a commit that fails", () => {
  const refusal = (
    code: "forbidden" | "invalid" | "overloaded" | "rate-limited" | "too-large",
    message = "",
  ) => ({ code, message }) as const;
  const rows: { fault: WriteFault; kind: FailureKind; says?: string }[] = [
    { fault: refusal("overloaded"), kind: "unknown" },
    { fault: refusal("rate-limited", "too many requests"), kind: "not-committed", says: "too many requests" },
    { fault: refusal("forbidden", "user x may not update"), kind: "not-committed", says: "may not update" },
    { fault: refusal("too-large", "limit is 3145728"), kind: "not-committed", says: "limit is" },
    { fault: refusal("invalid", "data: Too long"), kind: "not-committed", says: "Too long" },
    {
      fault: refusal("overloaded", "etcdserver: mvcc: database space exceeded"),
      kind: "not-committed",
      says: "etcd is full; compact",
    },
  ];
  it.each(rows)("($fault.code) is $kind, leaves nothing behind, and may be tried again", async (row) => {
    const { ledger, faulty, store, batch } = await disturbed();
    faulty.plan(row.fault);
    await expect(store.commit(batch)).rejects.toMatchObject(failure(row.kind, row.says));
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
    { name: "the client has sent it twice", faults: ["resent"] },
    { name: "people touch the object all the time", faults: ["touched", "touched", "touched", "touched"] },
    { name: "somebody has touched the object, and then deleted it", faults: ["touched", "deleted"] },
  ] as const)("$name", async ({ faults }) => {
    const { ledger, faulty, store, grants, batch } = await disturbed();
    faulty.plan(...faults);
    await store.commit(batch);
    await store.commit(grants.next());
    const { records, commitNumber } = await reopened(ledger, store);
    expect([records.reservations.length, commitNumber]).toEqual([3, 3]);
  });

  it("gives up where the object never stands still", async () => {
    const { faulty, store, batch } = await disturbed();
    faulty.plan(...Array.from({ length: 10 }, () => "touched" as const));
    await expect(store.commit(batch)).rejects.toMatchObject(
      failure("not-committed", "keeps changing ConfigMap"),
    );
    await store.commit(batch);
  });
});

const COMMITS = 40;
const FIRST_SEGMENT = `${LEDGER}-log-1-1`;

/** A ledger some of whose changes have moved into segments. */
async function withSegments() {
  const ledger = await newLedger();
  const store = replica(ledger);
  await store.open();
  const grants = new Grants();
  await grants.commit(store, COMMITS);
  await until(
    "some of it is in segments",
    async () => ((await objectsOf(ledger))["log"] ?? 0) > 0 || undefined,
  );
  return { ledger, store, grants };
}

const named = ({ client, namespace }: TestLedger, name = LEDGER): Promise<ConfigMap> =>
  client.get(CONFIG_MAPS, { name, namespace });

const remove = ({ client, namespace }: TestLedger, name: string): Promise<void> =>
  client.delete(CONFIG_MAPS, { name, namespace });

async function change(ledger: TestLedger, body: object): Promise<void> {
  const name = { name: LEDGER, namespace: ledger.namespace };
  await ledger.client.patch(CONFIG_MAPS, { name, patch: { kind: "merge", body } });
}

const replaceSegment =
  (change: (line: string, index: number) => string[]) =>
  async (ledger: TestLedger): Promise<void> => {
    const { client, namespace } = ledger;
    const lines = linesIn(await named(ledger, FIRST_SEGMENT)).flatMap(change);
    await remove(ledger, FIRST_SEGMENT);
    const segment = await segmentConfigMap({ namespace, name: FIRST_SEGMENT, role: "page", lines });
    await client.create(CONFIG_MAPS, segment);
  };

const untilSnapshot = (ledger: TestLedger) =>
  until("there is a snapshot", async () => (await objectsOf(ledger))["snapshot"]);

describe("what people do to the ledger", () => {
  it("labels and annotations on the manifest stay", async () => {
    const { ledger, store, batch } = await disturbed();
    await change(ledger, { metadata: { annotations: { team: "platform" } } });
    await store.commit(batch);
    expect((await named(ledger)).metadata.annotations).toMatchObject({ team: "platform" });
  });

  it("a manifest that was changed, or put back from a backup, under a running broker is noticed", async () => {
    const [changed, restored] = [await disturbed(), await disturbed()];
    await change(changed.ledger, { data: { changes: "" } });
    await expect(changed.store.commit(changed.batch)).rejects.toMatchObject(failure("corrupt", "is damaged"));
    const { data } = await named(restored.ledger);
    await restored.store.commit(restored.batch);
    await change(restored.ledger, { data });
    await expect(restored.store.commit(restored.grants.next())).rejects.toMatchObject(
      failure("corrupt", "was a backup put back"),
    );
  });

  it.each<{ name: string; kind?: FailureKind; damage: (ledger: TestLedger) => Promise<void>; says: string }>([
    {
      name: "a changed manifest",
      damage: (ledger) => change(ledger, { data: { changes: "" } }),
      says: "is damaged",
    },
    {
      name: "a manifest of a newer broker",
      kind: "not-committed",
      damage: (ledger) => change(ledger, { data: { format: "5" } }),
      says: "newer broker (format 5, this one knows 4)",
    },
    {
      name: "a manifest that is gone: a full ledger does not become an empty one",
      damage: (ledger) => remove(ledger, LEDGER),
      says: "is missing, but",
    },
    {
      name: "a segment that is gone",
      damage: (ledger) => remove(ledger, FIRST_SEGMENT),
      says: `${FIRST_SEGMENT} of the ledger is missing`,
    },
    {
      name: "a segment that lacks a record",
      damage: replaceSegment((line, index) => (index === 0 ? [] : [line])),
      says: `holds ${COMMITS - 1} rows, and ${COMMITS} were committed`,
    },
    {
      name: "a segment that says something else",
      damage: replaceSegment((line) => [line.replace('"cpuMillis":1000', '"cpuMillis":1')]),
      says: "does not hold the rows that were committed",
    },
    {
      name: "a segment with a record of an unknown kind",
      damage: replaceSegment((line, index) => (index === 0 ? [line, '["later","x"]'] : [line])),
      says: "records of a kind that this version does not know (later)",
    },
  ])(
    "while no broker runs: $name is noticed at the next start",
    async ({ kind = "corrupt", damage, says }) => {
      const { ledger, store } = await withSegments();
      await store.close();
      await damage(ledger);
      await expect(replica(ledger).open()).rejects.toMatchObject(failure(kind, says));
    },
  );

  it("a ledger of the format before is read, and from then on refused by the version before", async () => {
    const { ledger, store } = await withSegments();
    await store.close();
    await change(ledger, { data: { format: "3" } });
    const { records } = await replica(ledger).open();
    expect(records).toMatchObject({ reservations: { length: COMMITS }, waiting: [], closedDays: [] });
    expect((await named(ledger)).data?.["format"]).toBe("4");
  });

  it("a segment deleted under a running broker is written again", async () => {
    const { ledger, store, grants } = await withSegments();
    await remove(ledger, FIRST_SEGMENT);
    await untilSnapshot(ledger);
    await store.commit(grants.next());
    expect((await reopened(ledger, store)).records.reservations).toHaveLength(COMMITS + 1);
  });

  it("a namespace that comes back gets its ledger back from the broker that lives", async () => {
    const { ledger, store, grants } = await withSegments();
    const name = { name: ledger.namespace };
    await ledger.client.delete(NAMESPACES, name);
    await until("it is gone", async () =>
      (await ledger.client.find(NAMESPACES, name)) === undefined ? true : undefined,
    );
    const batch = grants.next();
    const noNamespace = failure("not-committed", "create the namespace");
    await expect(store.commit(batch)).rejects.toMatchObject(noNamespace);
    await expect(replica(ledger).open()).rejects.toMatchObject(noNamespace);
    await ledger.client.create(NAMESPACES, { metadata: name });
    await store.commit(batch);
    await untilSnapshot(ledger);
    expect((await reopened(ledger, store)).records.reservations).toHaveLength(COMMITS + 1);
  });

  it.each([
    { name: "never counted", sum: undefined },
    {
      name: "has made commits since and did not count them",
      sum: { commit: COMMITS - 1, records: [1, 1] as const },
    },
  ])("a ledger of an older broker that $name is counted again, and guarded from then on", async ({ sum }) => {
    const { ledger, store: first } = await withSegments();
    await first.close();
    const object = await named(ledger);
    const { manifest, ...lines } = contentIn(object);
    const { sum: _, ...uncounted } = manifest;
    const older: LedgerManifest = sum === undefined ? uncounted : { ...uncounted, sum };
    const next = manifestConfigMap(object, ledger.namespace, { ...lines, manifest: older });
    await ledger.client.update(CONFIG_MAPS, next);
    const store = replica(ledger);
    const { records } = await store.open();
    expect(records.reservations).toHaveLength(COMMITS);
    await store.commit({ number: COMMITS + 1, at: records.time, entries: [] });
    expect(contentIn(await named(ledger)).manifest.sum).toMatchObject({
      commit: COMMITS + 1,
      records: [COMMITS, expect.any(Number)],
    });
  });
});
