import { amountOf, resourceNames } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hourlyPrice, priceQueryFor } from "../cost/price.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { cluster, priced, request, type Size } from "../testing/builders.ts";
import { runs } from "../testing/runs.ts";
import { openWorld } from "../testing/world.ts";
import { type Candidate, CandidateTable } from "./candidate-table.ts";
import { chooseProvider } from "./choose-provider.ts";
import type { Decision } from "./decision.ts";
import { fitsSomewhere } from "./filter-candidates.ts";
import type { SchedulingContext } from "./scheduling-context.ts";
import { DEFAULT_POLICY, type Policy } from "./policy.ts";
import { replayWinner } from "./record-decision.ts";

const amount = fc.integer({ min: 0, max: 40 });
const size = fc.record({ cpu: amount, memoryGi: amount, gpu: fc.integer({ min: 0, max: 4 }) });
const fleet = fc.array(
  fc.record({ size, allocated: size, price: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }) }),
  { maxLength: 8 },
);
const weights = fc.record({
  resources: fc.integer({ min: 0, max: 10 }),
  cost: fc.integer({ min: 0, max: 10 }),
  latency: fc.integer({ min: 0, max: 3 }),
});

interface Member {
  readonly size: Size;
  readonly allocated: Size;
  readonly price: number | undefined;
}

const RATINGS = { latency: { "c-0": 0.9, "c-1": 0.2, "c-5": 0.4 } };

function candidates(members: readonly Member[]) {
  const world = openWorld();
  members.forEach((member, index) => {
    const more = member.price === undefined ? {} : { cost: priced(member.price) };
    world.advertise(cluster(`c-${index}`, { ...member.size, allocated: member.allocated, more }));
  });
  return {
    list: world.ledger.candidateTable.candidates,
    table: world.ledger.candidateTable,
    now: world.now,
  };
}

function tableOf(list: readonly Candidate[]): CandidateTable {
  const table = new CandidateTable();
  for (const candidate of list) table.refresh(candidate);
  return table;
}

/** §5 of the design, written down plainly a second time. */
function oracle(
  list: readonly Candidate[],
  asked: ReservationRequest,
  { policy, now }: Pick<SchedulingContext, "policy" | "now">,
): string | undefined {
  const names = resourceNames(asked.resources);
  const fitting = list
    .filter((c) => names.every((name) => amountOf(c.available, name) >= amountOf(asked.resources, name)))
    .map((c) => ({
      id: c.clusterId,
      headroom: mean(
        names.map(
          (name) =>
            (amountOf(c.available, name) - amountOf(asked.resources, name)) /
            amountOf(c.advertisement.allocatable, name),
        ),
      ),
      share: mean(
        names.map((name) => amountOf(c.reserved, name) / amountOf(c.advertisement.allocatable, name)),
      ),
      price: priceOf(c, asked, now),
      latency: new Map(Object.entries(RATINGS.latency)).get(c.clusterId),
    }));
  const prices = fitting.map((c) => c.price).filter((p) => p !== undefined);
  const lowest = Math.min(...prices);
  const cost = (price: number) => (price === 0 ? 1 : lowest / price);
  const medianCost = median(prices.map(cost));
  const latencies = fitting.map((c) => c.latency).filter((m) => m !== undefined);
  const weight = (name: string) => policy.weights[name] ?? 0;
  const wCost = prices.length > 0 ? weight("cost") : 0;
  const wLatency = latencies.length > 0 ? weight("latency") : 0;
  const wResources = weight("resources") + (prices.length > 0 ? 0 : weight("cost"));
  const total = wCost + wLatency + wResources;
  const ranked = fitting.map((c) => {
    const latency = latencies.length === 0 ? 0 : (c.latency ?? median(latencies));
    const cheap = prices.length === 0 ? 0 : c.price === undefined ? medianCost : cost(c.price);
    const weighed = wResources * c.headroom + wCost * cheap + wLatency * latency;
    return { ...c, score: total === 0 ? c.headroom : weighed / total };
  });
  ranked.sort((a, b) => b.score - a.score || a.share - b.share || (a.id < b.id ? -1 : 1));
  return ranked[0]?.id;
}

function priceOf({ advertisement }: Candidate, asked: ReservationRequest, at: number): number | undefined {
  if (advertisement.cost === undefined) return undefined;
  return hourlyPrice(
    priceQueryFor(asked.resources, { tier: "on-demand", at, prices: DEFAULT_POLICY.prices }),
    advertisement.cost,
  );
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return mean(sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1));
}

describe("choosing a provider", () => {
  const asked = fc.record({
    cpu: fc.integer({ min: 1, max: 20 }),
    memoryGi: fc.integer({ min: 1, max: 20 }),
    gpu: fc.integer({ min: 0, max: 2 }),
  });

  test("picks the winner that the rules written down plainly pick", () => {
    fc.assert(
      fc.property(fleet, asked, weights, (members, wanted, chosenWeights) => {
        const policy: Policy = { ...DEFAULT_POLICY, weights: chosenWeights, ratings: RATINGS };
        const { list, table, now } = candidates(members);
        const context = { requester: "rome", request: request(wanted), now, policy };
        const choice = chooseProvider(table, context, "d");
        const expected = oracle(list, context.request, context);
        // Scores computed in another order may differ in the last bit: then both are right.
        const close = isNearTie(choice, expected);
        if (!close) expect(choice.winner).toBe(expected);
      }),
      runs(1000, 50_000),
    );
  });

  test("does not depend on the order of the candidates, and replays from its record", () => {
    fc.assert(
      fc.property(
        fleet,
        asked,
        weights,
        fc.infiniteStream(fc.nat()),
        (members, wanted, chosenWeights, dice) => {
          const policy: Policy = { ...DEFAULT_POLICY, weights: chosenWeights, ratings: RATINGS };
          const { list, table, now } = candidates(members);
          const context = { requester: "rome", request: request(wanted), now, policy };
          const record = chooseProvider(table, context, "d");
          const shuffled = list.toSorted(() => ((dice.next().value ?? 0) % 3) - 1);
          expect(chooseProvider(tableOf(shuffled), context, "d")).toEqual(record);
          const kept: Decision = JSON.parse(JSON.stringify(record));
          expect(replayWinner(kept)).toBe(record.winner);
        },
      ),
      runs(300, 10_000),
    );
  });

  test("gives one outcome to every candidate, and has a winner exactly when the request fits somewhere", () => {
    fc.assert(
      fc.property(fleet, asked, (members, wanted) => {
        const { list, table, now } = candidates(members);
        const context = { requester: "c-0", request: request(wanted), now, policy: DEFAULT_POLICY };
        const record = chooseProvider(table, context, "d");
        expect(fitsSomewhere(table, context)).toBe(record.winner !== undefined);
        expect(record.candidates.map((c) => c.clusterId).sort()).toEqual(list.map((c) => c.clusterId).sort());
        const refused = Object.values(record.refusedBy).reduce((a, b) => a + b, 0);
        expect(record.fitted + refused).toBe(record.considered);
      }),
      runs(200, 5000),
    );
  });

  test("breaks a tie by the lowest reserved share, then by cluster ID", () => {
    const world = openWorld();
    world.advertise(cluster("b"), cluster("a"));
    expect(world.grant("rome", request({ cpu: 4 })).provider).toBe("a");
    // The same headroom, but a lends already and b runs pods of its own.
    world.advertise(cluster("b", { allocated: { cpu: 4, memoryGi: 8 } }));
    expect(world.grant("rome", request({ cpu: 4 })).provider).toBe("b");
  });
});

describe("a record of many candidates", () => {
  function crowd(cpu: (index: number) => number) {
    return candidates(
      Array.from({ length: 100 }, (_, i) => ({
        size: { cpu: cpu(i), memoryGi: 64 },
        allocated: {},
        price: 1 + (i % 7),
      })),
    );
  }

  test("keeps the winner and the next fifteen, with the counts of the rest", () => {
    const { table, now } = crowd((i) => (i < 30 ? 1 : 10 + i));
    const context = { requester: "c-99", request: request(), now, policy: DEFAULT_POLICY };
    const record = chooseProvider(table, context, "d");
    expect(record.candidates).toHaveLength(16);
    expect(record.candidates[0]?.clusterId).toBe(record.winner);
    expect(record).toMatchObject({ considered: 100, fitted: 69, refusedBy: { capacity: 30, self: 1 } });
    expect(replayWinner(record)).toBe(record.winner);
  });

  test("keeps the sixteen nearest misses when nothing fits", () => {
    const { table, now } = crowd((i) => i / 100);
    const context = { requester: "c-99", request: request({ cpu: 2 }), now, policy: DEFAULT_POLICY };
    const record = chooseProvider(table, context, "d");
    expect(record.winner).toBeUndefined();
    expect(record.candidates.map((c) => c.clusterId)).toEqual(
      Array.from({ length: 16 }, (_, i) => `c-${98 - i}`),
    );
  });
});

function isNearTie(record: Decision, rival: string | undefined): boolean {
  const scoreOf = (id: string | undefined) => {
    const outcome = record.candidates.find((c) => c.clusterId === id)?.outcome;
    return outcome?.kind === "scored" ? outcome.score : Number.NaN;
  };
  return Math.abs(scoreOf(record.winner) - scoreOf(rival)) < 1e-12;
}
