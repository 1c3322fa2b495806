import { FULL_HISTORY, LedgerDriver } from "@resource-broker/testkit";
import { expect, it } from "vitest";
import { changeLines, emptyRecords, replay, snapshotLines } from "./records.ts";

it("a snapshot holds every record, and adds up to the same sum", () => {
  const driver = new LedgerDriver();
  const records = emptyRecords();
  for (const step of FULL_HISTORY) {
    const batch = step(driver);
    if (batch !== undefined)
      replay(records, changeLines({ ...batch, advertisements: driver.advertisements }, records));
    const restored = emptyRecords();
    replay(restored, [...snapshotLines(records)]);
    expect(restored).toEqual(records);
  }
  expect(records.adoption).toBeDefined();
  expect([...records.waiting.values()].map(({ phase }) => phase)).toEqual([
    "Pending",
    "Released",
    "Pending",
    "Pending",
    "Released",
  ]);
});

it.each(["nominated", "constructor"])("a record of an unknown kind is never skipped: %s", (kind) => {
  const line = JSON.stringify([kind, "rsv-1"]);
  expect(() => replay(emptyRecords(), [line])).toThrow(`of a kind that this version does not know (${kind})`);
});
