import { CONFIG_MAPS, type ConfigMap } from "@resource-broker/kube";
import { until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { contentIn, type LedgerManifest, manifestConfigMap } from "./ledger-manifest.ts";
import { recordSums } from "./record-sums.ts";
import { LEDGER, linesIn, segmentConfigMap } from "./segment.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { newLedger, replica } = useServer(simulatedServer);
const COMMITS = 60;

const named = ({ client, namespace }: TestLedger, name: string): Promise<ConfigMap> =>
  client.get(CONFIG_MAPS, { name, namespace });

/** A ledger that nobody leads, some of whose changes have moved into pages. */
async function inSegments() {
  const ledger = await newLedger();
  const store = replica(ledger);
  await store.open();
  await new Grants().commit(store, COMMITS);
  await until("there are pages", async () => {
    const { manifest } = contentIn(await named(ledger, LEDGER));
    return manifest.log.ranges.length > 0 || undefined;
  });
  await store.close();
  return ledger;
}

async function changeSegment(ledger: TestLedger, change: (lines: readonly string[]) => readonly string[]) {
  const { client, namespace } = ledger;
  const name = `${LEDGER}-log-1-1`;
  const lines = change(linesIn(await named(ledger, name)));
  await client.delete(CONFIG_MAPS, { name, namespace });
  await client.create(CONFIG_MAPS, await segmentConfigMap({ namespace, name, role: "page", lines }));
}

async function changeManifest(
  ledger: TestLedger,
  change: (head: LedgerManifest) => LedgerManifest,
): Promise<void> {
  const object = await named(ledger, LEDGER);
  const content = contentIn(object);
  const next = manifestConfigMap(object, ledger.namespace, {
    ...content,
    manifest: change(content.manifest),
  });
  await ledger.client.update(CONFIG_MAPS, next);
}

function withoutSum(manifest: LedgerManifest): LedgerManifest {
  const { sum: _, ...rest } = manifest;
  return rest;
}

describe("a ledger in objects", () => {
  it("is read back as it was committed", async () => {
    const { records } = await replica(await inSegments()).open();
    expect(records.reservations).toHaveLength(COMMITS);
  });

  it("is refused when a segment was replaced by one that lacks a record", async () => {
    const ledger = await inSegments();
    await changeSegment(ledger, (lines) => lines.slice(1));
    await expect(replica(ledger).open()).rejects.toMatchObject({
      kind: "corrupt",
      message: expect.stringContaining(`holds ${COMMITS - 1} rows, and ${COMMITS} were committed`),
    });
  });

  it("is refused when a segment was replaced by one that says something else", async () => {
    const ledger = await inSegments();
    await changeSegment(ledger, (lines) =>
      lines.map((line) => line.replace('"cpuMillis":1000', '"cpuMillis":1')),
    );
    await expect(replica(ledger).open()).rejects.toMatchObject({
      kind: "corrupt",
      message: expect.stringContaining("does not hold the rows that were committed"),
    });
  });

  it.each([
    { name: "never counted", change: withoutSum },
    {
      name: "has made commits since and did not count them",
      change: (manifest: LedgerManifest): LedgerManifest => ({
        ...manifest,
        sum: { commit: COMMITS - 1, records: [1, 1] },
      }),
    },
  ])("of an older broker that $name is counted again, and guarded from then on", async ({ change }) => {
    const ledger = await inSegments();
    await changeManifest(ledger, change);
    const store = replica(ledger);
    const { records } = await store.open();
    expect(records.reservations).toHaveLength(COMMITS);
    await store.commit({ number: COMMITS + 1, at: records.time, entries: [] });
    await store.close();
    expect(contentIn(await named(ledger, LEDGER)).manifest.sum).toMatchObject({
      commit: COMMITS + 1,
      records: [COMMITS, expect.any(Number)],
    });
  });
});

describe("the sum of the records", () => {
  const cordon = (by: string) => JSON.stringify(["cordon", "paris", { at: 1, by }]);

  it("counts each record once, as its last line has it", () => {
    const [sums, other] = [recordSums(), recordSums()];
    sums.read([cordon("rome"), cordon("oslo")]);
    other.read([cordon("oslo")]);
    expect(sums.sum()).toEqual(other.sum());
    expect(sums.after([JSON.stringify(["uncordon", "paris"])])).toEqual([0, 0]);
    expect(sums.after([JSON.stringify(["uncordon", "paris"]), cordon("oslo")])).toEqual(sums.sum());
  });

  it("does not count what is soft", () => {
    const sums = recordSums();
    sums.read([JSON.stringify(["something-of-a-later-version", 1])]);
    expect(sums.sum()).toEqual([0, 0]);
  });
});
