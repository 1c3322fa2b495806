import type { CapacityHistoryDTO } from "@resource-broker/contract";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apply, type Decision, DEFAULT_POLICY, emptyLedger, type LedgerEvent } from "@resource-broker/domain";
import { cluster, HOUR_MS, reservation } from "@resource-broker/domain/testing";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { NO_DECISION } from "../testing/arbitrary-ledger.ts";
import { createHistory } from "./history.ts";

const DAY_MS = 24 * HOUR_MS;

function historyOf(time: FakeClock, file?: string, ledgerId = "ledger-1") {
  const ledger = emptyLedger();
  const logged: string[] = [];
  const reasons: unknown[] = [];
  const note = (fields: object, message: string) => {
    logged.push(message);
    if ("error" in fields) reasons.push(fields.error);
  };
  const engine = {
    ledger,
    ledgerId,
    now: time.wallMs,
    policy: { ...DEFAULT_POLICY, stalenessMs: 10 * DAY_MS },
  };
  const history = createHistory({
    engine,
    clock: time,
    log: { info: note, warn: note, error: note },
    ...(file === undefined ? {} : { file }),
  });
  return {
    history,
    logged,
    reasons,
    advertise: (clusterId: string, cpu: number) =>
      apply(ledger, { kind: "advertised", at: time.wallMs(), advertisement: cluster(clusterId, { cpu }) }),
  };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "history-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const cpus = (points: CapacityHistoryDTO["points"]) => points.map(({ available }) => available?.cpu ?? null);

test("the fleet and each cluster are recorded every ten seconds; what was not known is null", async () => {
  const time = fakeClock();
  const { history, advertise } = historyOf(time);
  advertise("paris", 10);
  await history.start();
  await time.advance(10_000);
  advertise("rome", 5);
  await time.advance(10_000);
  const fleet = history.capacity("hour");
  expect(fleet).toMatchObject({ window: "hour", stepMs: 10_000, from: "2026-01-05T11:00:30.000Z" });
  expect(fleet.points).toHaveLength(360);
  expect(cpus(fleet.points).slice(-4)).toEqual([null, 10, 10, 15]);
  expect(cpus(history.capacity("hour", "rome").points).slice(-3)).toEqual([null, null, 5]);
  expect(new Set(cpus(history.capacity("hour", "oslo").points))).toEqual(new Set([null]));
  await history.stop();
});

test("a restart continues where the last process was, with a gap for the time between", async () => {
  const file = join(folder(), "history.bin");
  const time = fakeClock();
  const first = historyOf(time, file);
  first.advertise("paris", 10);
  await first.history.start();
  first.history.refused(refusal(time.wallMs()));
  await time.advance(20_000);
  await first.history.stop();
  await time.advance(20_000);
  const second = historyOf(time, file);
  second.advertise("paris", 12);
  await second.history.start();
  await time.advance(10_000);
  expect(cpus(second.history.capacity("hour", "paris").points).slice(-6)).toEqual([10, 10, 10, null, 12, 12]);
  expect(second.history.demand("hour").refused).toMatchObject([{ reason: "capacity" }]);
  expect(second.logged).toEqual([]);
  await second.history.stop();
});

test.each([
  {
    name: "a changed byte",
    damage: (bytes: Buffer) => void bytes.writeUInt8((bytes[5000] ?? 0) ^ 1, 5000),
    to: undefined,
  },
  { name: "a lost end", damage: () => undefined, to: 5000 },
  { name: "another file", damage: (bytes: Buffer) => void bytes.write("something else"), to: undefined },
  { name: "nothing but a beginning", damage: () => undefined, to: 30 },
])("$name: it begins afresh and says so once", async ({ damage, to }) => {
  const file = join(folder(), "history.bin");
  const time = fakeClock();
  const first = historyOf(time, file);
  first.advertise("paris", 10);
  await first.history.start();
  await first.history.stop();
  const bytes = readFileSync(file);
  damage(bytes);
  writeFileSync(file, bytes.subarray(0, to));
  await time.advance(10_000);
  const second = historyOf(time, file);
  await second.history.start();
  expect(second.logged).toEqual(["the dashboard's history cannot be read; a new one is started"]);
  expect(
    second.history.capacity("hour", "paris").points.filter(({ available }) => available !== undefined),
  ).toEqual([]);
  await second.history.stop();
});

test.each([
  { name: "of another ledger", ledgerId: "ledger-2", backMs: 0 },
  { name: "from before the clock was set back", ledgerId: "ledger-1", backMs: DAY_MS },
])("a history $name is not gone on with: it begins afresh and says so", async ({ ledgerId, backMs }) => {
  const file = join(folder(), "history.bin");
  const before = fakeClock(fakeClock().wallMs() + backMs);
  const first = historyOf(before, file);
  first.advertise("paris", 10);
  await first.history.start();
  await first.history.stop();
  const time = fakeClock();
  const second = historyOf(time, file, ledgerId);
  second.advertise("paris", 12);
  await second.history.start();
  expect(second.logged).toEqual(["the dashboard's history cannot be read; a new one is started"]);
  expect(cpus(second.history.capacity("hour").points).filter((cpu) => cpu !== null)).toEqual([12]);
  await second.history.stop();
});

test("a file that is far too large is not read into memory", async () => {
  const file = join(folder(), "history.bin");
  writeFileSync(file, "");
  truncateSync(file, 65 * 1024 ** 2);
  const { history, reasons } = historyOf(fakeClock(), file);
  await history.start();
  expect(reasons).toEqual(["it is too large to be a history"]);
  await history.stop();
  expect(statSync(file).size).toBeLessThan(1e6);
});

test("a disk that cannot be written is reported, and nothing else happens", async () => {
  const time = fakeClock();
  const { history, logged } = historyOf(time, join(folder(), "no", "such", "history.bin"));
  await history.start();
  await history.stop();
  expect(logged).toEqual(["the dashboard's history was not written; the broker tries again"]);
});

test("granted and refused requests are counted by reason, and a slot in which nothing happened counts 0", async () => {
  const time = fakeClock();
  const { history } = historyOf(time);
  await history.start();
  const at = time.wallMs();
  history.committed({ number: 1, at, events: [grant(at), grant(at)] });
  history.refused(refusal(at));
  await time.advance(10_000);
  history.refused(refusal(time.wallMs(), { target: 2, stale: 1 }));
  const unmet = history.demand("hour");
  expect(unmet).toMatchObject({ window: "hour", stepMs: 10_000 });
  expect(unmet.granted.slice(-2)).toEqual([2, 0]);
  expect(unmet.refused.map(({ reason, counts }) => ({ reason, last: counts.slice(-2) }))).toEqual([
    { reason: "stale", last: [0, 1] },
    { reason: "capacity", last: [1, 0] },
  ]);
  await history.stop();
});

function refusal(at: number, refusedBy: Decision["refusedBy"] = { capacity: 1 }): Decision {
  return { ...NO_DECISION, at, refusedBy };
}

function grant(at: number): LedgerEvent {
  return { kind: "granted", at, decision: NO_DECISION, reservation: reservation() };
}
