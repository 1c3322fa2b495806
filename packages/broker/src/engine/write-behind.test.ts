import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { cluster } from "@resource-broker/domain/testing";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { startLedgerClock } from "./ledger-clock.ts";
import { WriteBehind } from "./write-behind.ts";

function advertised(cpu: number): ReceivedAdvertisement {
  return { advertisement: cluster("paris", { cpu }), receivedAt: 0, replacedInstances: [] };
}

/** With what it has saved, and a save that can be made to fail in the middle. */
function collecting() {
  const saved: (readonly ReceivedAdvertisement[])[] = [];
  let during: (() => void) | undefined;
  const behind = new WriteBehind({
    clock: startLedgerClock(fakeClock(), 0),
    save: async (some) => {
      const act = during;
      during = undefined;
      act?.();
      saved.push(some);
    },
    onError: () => undefined,
  });
  const failNext = (act: () => void): void => {
    during = () => {
      act();
      throw new Error("the disk is full");
    };
  };
  return { behind, saved, failNext };
}

test("a commit does not speak for what was said while it was made", async () => {
  const { behind, saved } = collecting();
  const [smaller, later] = [advertised(8), advertised(12)];
  behind.add(advertised(16), undefined);
  expect(behind.add(smaller, undefined)).toBe(false);
  expect(behind.add(later, undefined)).toBe(false);
  behind.committed([smaller]);
  expect(behind.add(later, undefined)).toBe(false);
  behind.committed([smaller]);
  await behind.flush();
  expect(saved).toEqual([[later]]);
});

test("what came while a save failed is newer than what was to be saved", async () => {
  const { behind, saved, failNext } = collecting();
  const [older, newer] = [advertised(16), advertised(20)];
  behind.add(older, undefined);
  failNext(() => void behind.add(newer, older.advertisement));
  await behind.flush();
  expect(saved).toEqual([]);
  await behind.flush();
  expect(saved).toEqual([[newer]]);
});
