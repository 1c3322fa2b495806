import { fakeClock, settle } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { StoreFailure } from "../store.ts";
import { type Content, newManifest } from "./ledger-manifest.ts";
import { ledgerObjects } from "./ledger-objects.ts";
import type { ManifestChange } from "./manifest-writer.ts";
import { recordSums } from "./record-sums.ts";
import { emptyRecords } from "./records.ts";
import type { SegmentId } from "./segment.ts";

const AUDIT_SEGMENTS = 5;
const OLD = { lastHash: "0", lastAt: 0 };

/** A leader with old pages of every sort, whose writes end as the test says. */
function leader(write: (change: ManifestChange) => void) {
  const first = newManifest("ledger");
  let content: Content = {
    manifest: {
      ...first,
      epoch: 1,
      log: { ranges: [[1, 1, 3]], bytes: 10 },
      audit: { ...first.audit, pages: [[1, 1, AUDIT_SEGMENTS]] },
    },
    changes: [],
    audit: [],
  };
  const removed: string[] = [];
  const made: string[] = [];
  const create = (sort: string): Promise<SegmentId> => {
    made.push(sort);
    return Promise.resolve({ epoch: 1, number: 100 + made.length });
  };
  const objects = ledgerObjects(
    {
      records: emptyRecords(),
      sums: recordSums(),
      auditSegments: Array.from({ length: AUDIT_SEGMENTS }, () => OLD),
    },
    {
      writer: {
        content: () => content,
        write: async (change) => {
          const next = await change(content);
          write(next);
          content = next.content;
          next.onWritten?.();
        },
        lastCommit: () => Promise.resolve(content.manifest.commitNumber),
      },
      segments: {
        create,
        createAll: async (sort) => [await create(sort)],
        read: () => Promise.resolve(undefined),
        remove: (names) => Promise.resolve(void removed.push(...names)),
      },
      auditRetention: { atMost: 100, forMs: Number.MAX_SAFE_INTEGER },
      clock: fakeClock(),
      onCommitted: () => undefined,
      onError: () => undefined,
    },
  );
  return { objects, removed };
}

const deposed = (): never => {
  throw new StoreFailure("deposed", "another replica leads now: young");
};
const COMMIT = { number: 1, at: 1, entries: [] };

test("old pages of the audit log go once the head no longer names them", async () => {
  const { objects, removed } = leader(() => undefined);
  await objects.commit(COMMIT);
  await settle();
  expect(removed).toHaveLength(AUDIT_SEGMENTS - 1);
});

test("a leader that was replaced after its last commit trims nothing", async () => {
  const { objects, removed } = leader(({ content }) => {
    if (content.manifest.audit.pages[0]?.[1] !== 1) deposed();
  });
  await objects.commit(COMMIT);
  await settle();
  expect(removed).toEqual([]);
});

test("a leader that was replaced while it took a snapshot removes none of the pages that it would replace", async () => {
  const { objects, removed } = leader(({ content }) => {
    if (content.manifest.snapshot.ranges.length > 0) deposed();
  });
  objects.rewriteRecords();
  await settle();
  expect(removed).toEqual([]);
});
