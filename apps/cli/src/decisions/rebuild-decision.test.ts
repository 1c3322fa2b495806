import { type DecisionDTO, fromDecision } from "@resource-broker/contract";
import {
  apply,
  type CostModel,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  replayWinner,
} from "@resource-broker/domain";
import { chooseProvider } from "@resource-broker/domain/testing";
import { clusterOf, requestFor } from "@resource-broker/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rebuildDecision } from "./replay.ts";
import { weightsInForce } from "./print-decision.ts";

const NOW = Date.UTC(2026, 0, 15, 12);
const RATINGS = { latency: { "c-0": 0.9, "c-1": 0.2, "c-5": 0.4 } };

const fleet = fc.array(
  fc.record({
    cpu: fc.integer({ min: 1, max: 40 }),
    price: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 8 },
);
const weight = fc.integer({ min: 0, max: 10 });
const weights = fc.record({ resources: weight, cost: weight, latency: weight });

function priced(cpuHour: number): CostModel {
  return { currency: "EUR", onDemand: { cpuHour, memoryGbHour: 0.01 } };
}

interface Case {
  readonly members: readonly { readonly cpu: number; readonly price: number | undefined }[];
  readonly weights: Readonly<Record<string, number>>;
}

/** What the broker tells an admin of a decision among these clusters. */
function decisionAmong({ members, weights }: Case): DecisionDTO {
  const ledger = emptyLedger();
  const policy = { ...DEFAULT_POLICY, weights, ratings: RATINGS };
  members.forEach(({ cpu, price }, index) => {
    const advertisement = clusterOf(`c-${index}`, cpu, price === undefined ? {} : { cost: priced(price) });
    const { events } = decide(ledger, { kind: "advertise", advertisement }, { now: NOW, policy });
    for (const event of events) apply(ledger, event);
  });
  const question = { requester: "rome", request: requestFor(1), now: NOW, policy };
  const decision = chooseProvider(ledger.candidateTable, question, "dec-1");
  // As it is read from the wire.
  return JSON.parse(JSON.stringify(fromDecision(decision, "full"))) as DecisionDTO;
}

const cases = fc.record({ members: fleet, weights });

test("the winner computed from what the broker tells is the broker's, or has its score", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const dto = decisionAmong(drawn);
      const scores = new Map(dto.candidates.map(({ clusterID, score }) => [clusterID, score]));
      const computed = replayWinner(rebuildDecision(dto)) ?? "";
      expect(scores.get(computed)).toBeCloseTo(scores.get(dto.winner ?? "") ?? Number.NaN, 9);
    }),
  );
});

test("the weights in force make the score of its parts", () => {
  fc.assert(
    fc.property(cases, (drawn) => {
      const dto = decisionAmong(drawn);
      const shares = weightsInForce(dto);
      for (const { score = Number.NaN, parts = {} } of dto.candidates) {
        const total = shares.reduce((sum, { name, share }) => sum + share * (parts[name] ?? 0), 0);
        expect(total).toBeCloseTo(score, 9);
      }
    }),
  );
});

test("a record whose numbers were changed has another winner", () => {
  const dto = decisionAmong({
    members: [
      { cpu: 40, price: 1 },
      { cpu: 2, price: 1 },
    ],
    weights: { resources: 1 },
  });
  expect(dto.winner).toBe("c-0");
  const candidates = dto.candidates.map((candidate) =>
    candidate.clusterID === "c-0" ? { ...candidate, available: { cpu: "1", memory: "1Gi" } } : candidate,
  );
  expect(replayWinner(rebuildDecision({ ...dto, candidates }))).toBe("c-1");
});
