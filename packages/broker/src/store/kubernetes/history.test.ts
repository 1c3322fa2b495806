import { ledgerFrom } from "@resource-broker/domain";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { clusterOf, eventsOf, LedgerDriver, requestFor, reserve, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { CHAIN_START, type ChainLink, canonical, nextLink } from "../common/audit.ts";
import { Grants } from "../common/testing/grants.ts";
import type { AuditEntry, CommitBatch } from "../store.ts";
import { LEDGER_LABEL } from "./segment.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica, reopened } = useServer(simulatedServer);
const DAY_MS = 24 * 60 * 60 * 1000;

/** The ledger's objects by their sort, such as `log` or `audit`. */
async function objectsOf({ client, namespace }: TestLedger): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await client.list(CONFIG_MAPS, { namespace, labelSelector: LEDGER_LABEL }, ({ metadata: { name } }) => {
    const [, sort = "head"] = /^resource-broker-ledger-([a-z]+)-/.exec(name) ?? [];
    counts[sort] = (counts[sort] ?? 0) + 1;
  });
  return counts;
}

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

  it("of reservations that are forgotten leaves no trace", async () => {
    const ledger = await newLedger();
    const store = replica(ledger);
    await store.open();
    const story = new LedgerDriver();
    story.batch({ kind: "advertise", advertisement: clusterOf("paris", 1000) });
    const commit = async (batch: CommitBatch | undefined) => batch && (await store.commit(batch));
    for (let number = 0; number < 60; number++)
      await commit(story.batch(reserve("rome", `key-${number}`, requestFor(1, { durationMs: 1000 }))));
    story.now += 2000;
    await commit(story.batch({ kind: "expire-due" }));
    story.now += 2 * DAY_MS;
    await commit(story.batch({ kind: "expire-due" }));
    expect(story.ledger.reservations.size).toBe(0);
    expect((await reopened(ledger, store)).records).toMatchObject({ reservations: [], closedKeys: [] });
  });

  it("keeps as much of the audit log and of the decisions as is wanted, and the chain continues", async () => {
    const ledger = await newLedger();
    const keep = { atMost: 200, forMs: 1000 * DAY_MS };
    const store = replica(ledger, { retention: { audit: keep, decisions: keep } });
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
    const segments = (await objectsOf(ledger))["audit"] ?? 0;
    expect(segments).toBeLessThanOrEqual(4);
    await store.close();

    const next = replica(ledger, { retention: { audit: keep, decisions: keep } });
    await next.open();
    expect(await next.readAudit({ after: 0, limit: 10_000 })).toEqual(lines);
    const decisionIn = (batch: CommitBatch) =>
      eventsOf(batch).flatMap((event) => ("decision" in event ? event.decision.id : []))[0] ?? "";
    const newest = grants.next();
    await next.commit(newest);
    expect(await next.findDecision(decisionIn(first))).toBeUndefined();
    expect(await next.findDecision(decisionIn(newest))).toBeDefined();
  });
});

describe("a batch larger than an object may be", () => {
  it("is one commit all the same", async () => {
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
});

describe("what a leader leaves behind that ends in the middle of something", () => {
  it("is removed by the next one", async () => {
    const ledger = await newLedger();
    const store = replica(ledger);
    await store.open();
    await new Grants().commit(store, 1);
    await store.close();
    const metadata = {
      name: "resource-broker-ledger-log-1-77",
      namespace: ledger.namespace,
      labels: { [LEDGER_LABEL]: "page" },
    };
    await ledger.client.create(CONFIG_MAPS, { metadata });
    await replica(ledger).open();
    const left = await until("the stray segment is gone", async () => {
      const found = await objectsOf(ledger);
      return found["log"] === undefined ? found : undefined;
    });
    expect(left).toMatchObject({ head: 1 });
  });
});
