import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerSnapshot } from "./booking.ts";
import type { TrackedRequest } from "./order.ts";
import { type Drained, violations } from "./violations.ts";

const SETTLE_MS = 500;

export interface SnapshotCheck {
  readonly snapshot: LedgerSnapshot;
  /** What of them is wrong. */
  readonly problems: readonly string[];
}

/**
 * Compares what clients were told with the books of a broker that runs. A call whose client hung up may still be carried
 * out while they are read, page by page: books that look wrong are read again, and judged when they no longer change.
 */
export async function checkSnapshot(
  requests: readonly TrackedRequest[],
  read: () => Promise<LedgerSnapshot>,
  drained?: Drained,
): Promise<SnapshotCheck> {
  let snapshot = await read();
  for (;;) {
    const problems = violations(requests, snapshot, drained);
    if (problems.length === 0) return { snapshot, problems };
    await sleep(SETTLE_MS);
    const again = await read();
    if (JSON.stringify(again) === JSON.stringify(snapshot)) return { snapshot, problems };
    snapshot = again;
  }
}
