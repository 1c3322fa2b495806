import { subtract } from "@resource-broker/base";
import { sqliteStore } from "@resource-broker/broker";
import { ledgerFrom } from "@resource-broker/domain";
import { type BenchRow, type BrokerProcess, cpuMsOf } from "@resource-broker/testkit";
import { type BenchEnvironment, type Section, withBroker } from "../environment.ts";
import type { LoopResult } from "../load/closed-loop.ts";
import { closeAll } from "../load/fleet.ts";
import { count, median, ms, percentile } from "../measure/percentile.ts";
import { openReservationLoad, type ReservationLoad } from "./reservation-load.ts";

const ROUNDS = 3;
const SUSTAINED_IN_FLIGHT = 250;
const RESTART_WITH = { full: 100_000, quick: 10_000 };
const MORE_THAN_ENOUGH_MS = 600_000;

interface Step {
  readonly inFlight: number;
  readonly metric: string;
  readonly target: string;
  readonly predecessor: string;
}

const STEPS: readonly Step[] = [
  {
    inFlight: 1,
    metric: "reservation round trip, 1 client, p50 / p99",
    target: "1 / 5 ms",
    predecessor: "433 ms mean",
  },
  { inFlight: 10, metric: "… 10 concurrent", target: "2 ms median", predecessor: "795 ms" },
  { inFlight: 100, metric: "… 100 concurrent", target: "", predecessor: "–" },
  { inFlight: 1000, metric: "… 1,000 concurrent", target: "100 / 300 ms", predecessor: "–" },
];

/** Round trips, sustained rate, nothing lost, and the restart with what they left behind. */
export const reservations: Section = {
  name: "reservations",
  run: (env) =>
    withBroker(env, async (broker, pid) => {
      const load = await openReservationLoad(env, broker);
      const rows: BenchRow[] = [];
      for (const step of STEPS) rows.push(await roundTrip(env, load, step));
      rows.push(...(await sustained(env, load, pid)));
      await topUp(env, load);
      closeAll(load.fleet);
      rows.push(...(await restart(env, broker, load.granted())));
      return rows;
    }),
};

/** The same where no provider is better than another: every one of them ties. */
export const alike: Section = {
  name: "alike",
  run: (env) =>
    withBroker(env, async (broker) => {
      const load = await openReservationLoad(env, broker, "alike");
      env.report("sustained reservations among providers that are all alike");
      await load.run(SUSTAINED_IN_FLIGHT, 500);
      const result = await load.run(SUSTAINED_IN_FLIGHT, env.isQuick ? 1500 : 5000);
      closeAll(load.fleet);
      return [
        { metric: "… 1,000 providers that are all alike", now: count(rateOf(result)), target: "8,000" },
      ];
    }),
};

async function roundTrip(
  { isQuick, report }: BenchEnvironment,
  load: ReservationLoad,
  step: Step,
): Promise<BenchRow> {
  const { inFlight, metric, target, predecessor } = step;
  report(`round trips, ${inFlight} at a time`);
  await load.run(inFlight, isQuick ? 200 : 1000);
  const rounds: LoopResult[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await load.run(inFlight, isQuick ? 400 : 3000));
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  const medians = rounds.map(({ latenciesMs }) => median(latenciesMs));
  const spread = `p50 of ${ROUNDS} rounds ${ms(Math.min(...medians))}–${ms(Math.max(...medians))}`;
  return {
    metric,
    now: `${ms(median(all))} / ${ms(percentile(all, 0.99))} ms`,
    target,
    predecessor,
    note: `${count(all.length)} requests, ${spread}, ${loadShare(rounds)}`,
  };
}

async function sustained(
  { isQuick, report }: BenchEnvironment,
  load: ReservationLoad,
  pid: number,
): Promise<BenchRow[]> {
  report(`sustained reservations, ${SUSTAINED_IN_FLIGHT} at a time`);
  await load.refresh();
  const rounds: { readonly result: LoopResult; readonly serverCpuMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = cpuMsOf(pid);
    const result = await load.run(SUSTAINED_IN_FLIGHT, isQuick ? 1200 : 6000);
    rounds.push({ result, serverCpuMs: cpuMsOf(pid) - before });
  }
  const rates = rounds.map(({ result }) => rateOf(result));
  const answered = rounds.reduce((sum, { result }) => sum + result.latenciesMs.length, 0);
  const serverCpu = rounds.reduce((sum, each) => sum + each.serverCpuMs, 0);
  const elapsed = rounds.reduce((sum, { result }) => sum + result.elapsedMs, 0);
  const ownCpu = rounds.reduce((sum, { result }) => sum + result.ownCpuMs, 0);
  const share = `${((100 * serverCpu) / elapsed).toFixed(0)} % of its core`;
  return [
    {
      metric: "durable reservations/s, sustained, 1,000 providers",
      now: count(median(rates)),
      target: "8,000",
      predecessor: "~12",
      note: `rounds ${count(Math.min(...rates))}–${count(Math.max(...rates))}, ${SUSTAINED_IN_FLIGHT} in flight`,
    },
    {
      metric: "… CPU of the broker for each",
      now: `${((1000 * serverCpu) / answered).toFixed(0)} µs`,
      target: "125 µs",
      note: `the broker used ${share}`,
    },
    {
      metric: "… ceiling of the load generator",
      now: `${count((1000 * answered) / ownCpu)}/s`,
      note: `${((1000 * ownCpu) / answered).toFixed(0)} µs of its own CPU for each`,
    },
  ];
}

async function topUp({ isQuick, report }: BenchEnvironment, load: ReservationLoad): Promise<void> {
  const wanted = isQuick ? RESTART_WITH.quick : RESTART_WITH.full;
  if (load.granted() >= wanted) return;
  report(`reserving until there are ${count(wanted)}`);
  await load.refresh();
  await load.run(SUSTAINED_IN_FLIGHT, MORE_THAN_ENOUGH_MS, wanted - load.granted());
}

async function restart(
  { report }: BenchEnvironment,
  broker: BrokerProcess,
  granted: number,
): Promise<BenchRow[]> {
  report(`restart with ${count(granted)} reservations`);
  await broker.kill("SIGKILL");
  const { readyAfterMs } = await broker.restart();
  await broker.stop();
  const { reservations: stored, doubled } = await countLedger(broker.storeDirectory);
  return [
    {
      metric: "lost / double-booked, of all of them",
      now: `${granted - stored} / ${doubled}`,
      target: "0 / 0",
      predecessor: "–",
      note: `${count(granted)} acknowledged, ${count(stored)} in the ledger after kill -9`,
    },
    {
      metric: `restart with ${count(stored)} reservations → ready`,
      now: `${(readyAfterMs / 1000).toFixed(2)} s`,
      target: "2 s with 100,000",
      predecessor: "–",
      note: "after kill -9, from spawn to the API answering",
    },
  ];
}

function rateOf({ latenciesMs, elapsedMs }: LoopResult): number {
  return (1000 * latenciesMs.length) / elapsedMs;
}

function loadShare(rounds: readonly LoopResult[]): string {
  const own = rounds.reduce((sum, { ownCpuMs }) => sum + ownCpuMs, 0);
  const elapsed = rounds.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0);
  return `load core ${((100 * own) / elapsed).toFixed(0)} %`;
}

interface LedgerCounts {
  readonly reservations: number;
  /** Providers that lend more than they have, or whose key made two reservations. */
  readonly doubled: number;
}

/** Counts what the ledger of a stopped broker holds. */
async function countLedger(directory: string): Promise<LedgerCounts> {
  const store = sqliteStore({ directory });
  const { records } = await store.open();
  await store.close();
  const keys = new Set(records.reservations.map(({ requester, key }) => `${requester}/${key}`));
  const accounts = [...ledgerFrom(records, records.time).accounts.values()];
  const overlent = accounts.filter(({ advertisement, reserved }) => {
    const left = advertisement && subtract(advertisement.allocatable, reserved);
    return left !== undefined && (left.cpuMillis < 0 || left.memoryBytes < 0);
  });
  return {
    reservations: records.reservations.length,
    doubled: records.reservations.length - keys.size + overlent.length,
  };
}
