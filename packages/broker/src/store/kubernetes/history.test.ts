import { type ClusterAdvertisement, clusterAdvertisementKind } from "@resource-broker/contract/crd";
import { ledgerFrom } from "@resource-broker/domain";
import { CONFIG_MAPS, type ConfigMap, customResource, type KubeClient } from "@resource-broker/kube";
import { clusterOf, eventsOf, LedgerDriver, requestFor, reserve, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { CHAIN_START, type ChainLink, canonical, nextLink } from "../common/audit.ts";
import type { ReplicatedStore } from "../common/leader-elector.ts";
import { Grants } from "../common/testing/grants.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import type { AuditEntry, CommitBatch } from "../store.ts";
import { contentIn, type LedgerManifest } from "./ledger-manifest.ts";
import { LEDGER, LEDGER_LABEL } from "./segments.ts";
import { objectsOf, simulatedServer } from "./testing/test-ledger.ts";

const { newLedger, replica, reopened } = useLedgers(simulatedServer);
const DAY_MS = 24 * 60 * 60 * 1000;
const KEEP_200 = { atMost: 200, forMs: 1000 * DAY_MS };
const RETENTION = { audit: KEEP_200, decisions: KEEP_200 };

/** Where the chain of these lines ends, which begins after `start`. */
function chainEnd(start: ChainLink, lines: readonly AuditEntry[]): ChainLink {
  let link: ChainLink = { sequence: start.sequence, hash: start.hash };
  for (const { sequence, hash, ...line } of lines) {
    link = nextLink(link, canonical(line));
    expect({ sequence, hash }).toEqual(link);
  }
  return link;
}

describe("a long history", () => {
  it("moves into segments, which snapshots replace, and comes back whole", async () => {
    const ledger = await newLedger();
    const store = replica(ledger);
    await store.open();
    const grants = new Grants();
    const total = 700;
    await grants.commit(store, total);
    const counts = await until("a snapshot was taken", async () => {
      const found = await objectsOf(ledger);
      return (found["snapshot"] ?? 0) > 0 ? found : undefined;
    });
    expect(counts["head"]).toBe(1);
    const all = await store.readAudit({ after: 0, limit: 10_000 });
    expect(chainEnd(CHAIN_START, all).sequence).toBe(total);
    const paged = await store.readAudit({ after: 198, limit: 205 });
    expect(paged).toEqual(all.slice(198, 403));
    const { records, commitNumber } = await reopened(ledger, store);
    expect(commitNumber).toBe(total);
    expect(ledgerFrom(records, records.time).reservations).toEqual(grants.story.ledger.reservations);
  });

  it("keeps as much of the audit log and of the decisions as is wanted, and the chain continues", async () => {
    const ledger = await newLedger();
    const store = replica(ledger, { retention: RETENTION });
    await store.open();
    const grants = new Grants();
    const first = grants.next();
    await store.commit(first);
    await grants.commit(store, 549);
    const lines = await until("old lines are gone", async () => {
      const found = await store.readAudit({ after: 0, limit: 10_000 });
      return found.length < 400 ? found : undefined;
    });
    const [oldest = CHAIN_START, ...younger] = lines;
    expect(oldest.sequence).toBeGreaterThan(150);
    expect(chainEnd(oldest, younger).sequence).toBe(550);
    expect((await objectsOf(ledger))["audit"]).toBeLessThanOrEqual(4);
    await store.close();

    const next = replica(ledger, { retention: RETENTION });
    await next.open();
    expect(await next.readAudit({ after: 0, limit: 10_000 })).toEqual(lines);
    const decisionIn = (batch: CommitBatch) =>
      eventsOf(batch).flatMap((event) => ("decision" in event ? event.decision.id : []))[0] ?? "";
    const newest = grants.next();
    await next.commit(newest);
    expect(await next.findDecision(decisionIn(first))).toBeUndefined();
    expect(await next.findDecision(decisionIn(newest))).toBeDefined();
  });

  it.each<{ doing: string; options?: object; isDoing: (manifest: LedgerManifest) => boolean }>([
    { doing: "takes a snapshot", isDoing: ({ snapshot }) => snapshot.ranges.length > 0 },
    {
      doing: "trims the audit log",
      options: { retention: RETENTION },
      isDoing: ({ audit }) => audit.trimmed.sequence > 0,
    },
  ])("of a leader that is replaced while it $doing is still there", async ({ isDoing, options }) => {
    const ledger = await newLedger();
    let young: ReplicatedStore | undefined;
    const through = (client: KubeClient): KubeClient => ({
      ...client,
      update: async (resource, object, options) => {
        const isManifest = (object as ConfigMap).data?.["head"] !== undefined;
        if (isManifest && young === undefined && isDoing(contentIn(object as ConfigMap).manifest)) {
          young = replica(ledger, { replica: "young" });
          await ledger.expireLease();
          await young.open();
        }
        return client.update(resource, object, options);
      },
    });
    const old = replica(ledger, { through, ...options });
    await old.open();
    await new Grants().commit(old, 700).catch(() => undefined);
    const successor = await until("it was replaced", async () => young);
    await old.close();
    const lines = await successor.readAudit({ after: 0, limit: 10_000 });
    const { records, commitNumber } = await reopened(ledger, successor);
    expect(records.reservations).toHaveLength(commitNumber);
    expect(chainEnd(CHAIN_START, lines).sequence).toBe(commitNumber);
  });
});

it("a batch larger than an object may be is one commit all the same", async () => {
  const ledger = await newLedger();
  const store = replica(ledger);
  await store.open();
  const story = new LedgerDriver();
  for (const name of ["paris", "lyon"])
    story.batch({ kind: "advertise", advertisement: clusterOf(name, 100_000) });
  const asks = Array.from({ length: 1500 }, (_, number) => reserve("rome", `key-${number}`, requestFor(1)));
  const batch = story.batch(...asks);
  if (batch === undefined) throw new Error("there is room");
  await store.commit(batch);
  const later = story.batch({ kind: "release-by-key", requester: "rome", key: "key-7" });
  if (later !== undefined) await store.commit(later);
  expect(await store.readAudit({ after: 0, limit: 10_000 })).toHaveLength(1502);
  const { records, commitNumber } = await reopened(ledger, store);
  expect(commitNumber).toBe(2);
  expect(ledgerFrom(records, records.time).reservations).toEqual(story.ledger.reservations);
});

it("a segment that a leader made and did not come to use is removed by the next one", async () => {
  const ledger = await newLedger();
  const { namespace } = ledger;
  const store = replica(ledger);
  await store.open();
  await new Grants().commit(store, 1);
  await store.close();
  const metadata = { name: `${LEDGER}-log-1-77`, namespace, labels: { [LEDGER_LABEL]: "page" } };
  await ledger.client.create(CONFIG_MAPS, { metadata });
  await replica(ledger).open();
  const left = await until("the stray segment is gone", async () => {
    const found = await objectsOf(ledger);
    return found["log"] === undefined ? found : undefined;
  });
  expect(left["head"]).toBe(1);
});

it("status.holds of a ClusterAdvertisement shows what the ledger lends, and is put right after a restart", async () => {
  const ADVERTISEMENTS = customResource(clusterAdvertisementKind);
  const ledger = await newLedger();
  const { client, namespace } = ledger;
  const name = { name: "paris-adv", namespace };
  const amounts = { cpu: "64", memory: "256Gi" };
  const resources = { capacity: amounts, allocatable: amounts, allocated: { cpu: "0", memory: "0" } };
  await client.create(ADVERTISEMENTS, {
    apiVersion: "broker.fluidos.eu/v1alpha1",
    kind: "ClusterAdvertisement",
    metadata: name,
    spec: { clusterID: "paris", resources, timestamp: "2026-01-05T11:00:00Z" },
  });
  const changeStatus = (status: object) =>
    client.patch(
      ADVERTISEMENTS,
      { name, patch: { kind: "merge", body: { status } } },
      { subresource: "status" },
    );
  const shown = (count: number): Promise<ClusterAdvertisement> =>
    until(`${count} holds are shown`, async () => {
      const found = await client.get(ADVERTISEMENTS, name);
      return (found.status?.holds ?? []).length === count ? found : undefined;
    });
  await changeStatus({ phase: "Active", score: "62.50" });
  const store = replica(ledger);
  await store.open();
  const grants = new Grants();
  await grants.commit(store, 2);
  const { status } = await shown(2);
  expect(status).toMatchObject({ phase: "Active", score: "62.50", epoch: 1 });
  expect(status?.holds?.[0]).toMatchObject({ requesterID: "rome", granted: { cpu: "1", memory: "1Gi" } });
  const by = { clusterId: "rome", isAdmin: false };
  const release = grants.story.batch({ kind: "release", by, id: status?.holds?.[0]?.id ?? "" });
  if (release !== undefined) await store.commit(release);
  await shown(1);
  await store.close();
  await changeStatus({ holds: [] });
  await replica(ledger).open();
  expect((await shown(1)).status).toMatchObject({ epoch: 2, commit: 3 });
});
