import type { CommitBatch } from "@resource-broker/broker";
import { type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { SimDisk } from "./sim-disk.ts";

const commit = (number: number): CommitBatch => ({ number, at: number, entries: [] });
/** Everything that can be lost is lost. */
const worst: SeededRandom = { ...seededRandom(1), chance: () => false, below: () => 0 };
/** Everything is lost that has an odd number. */
function everyOther(): SeededRandom {
  let calls = 0;
  return { ...seededRandom(1), chance: () => calls++ % 2 === 1, below: () => 0 };
}

test("what was synced survives a power failure, what was only written does not", () => {
  const disk = new SimDisk("l");
  disk.append(commit(1));
  const done = disk.sync();
  // Written after the sync began: not covered by it.
  disk.append(commit(2));
  done();
  expect([disk.syncedCommit, disk.lastCommit]).toEqual([1, 2]);
  disk.losePower(worst);
  disk.recover();
  expect([disk.lastCommit, disk.commitsAfter(0)]).toEqual([1, [commit(1)]]);
});

test("what a killed process wrote is there for the next one, and is safe only after a sync", () => {
  const disk = new SimDisk("l");
  disk.append(commit(1));
  disk.recover();
  expect([disk.syncedCommit, disk.lastCommit]).toEqual([0, 1]);
  disk.sync()();
  disk.losePower(worst);
  disk.recover();
  expect(disk.lastCommit).toBe(1);
});

test("a log ends at the first record that is not whole, whatever came behind it", () => {
  const disk = new SimDisk("l");
  for (const number of [1, 2, 3]) disk.append(commit(number));
  disk.losePower(everyOther());
  disk.recover();
  expect(disk.lastCommit).toBe(0);
});
