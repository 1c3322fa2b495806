import {
  apply,
  DEFAULT_POLICY,
  type Decision,
  decide,
  emptyLedger,
  explain,
  type Policy,
} from "@resource-broker/domain";
import { clusterOf, requestFor, reserve } from "@resource-broker/testkit";
import { expect, it } from "vitest";
import { decodeDecision, encodeDecision } from "./decision-codec.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const EUR = { currency: "EUR", onDemand: { cpuHour: 0.03, memoryGbHour: 0.001 } };

function decisionAmong(clusters: number, cpu: number, policy: Partial<Policy> = {}): Decision {
  const ledger = emptyLedger();
  for (let index = 0; index < clusters; index++) {
    const extended = index % 3 === 0 ? { "amd.com/gpu": index } : {};
    const size = clusterOf(`c-${index}`, index % 20);
    const advertisement = {
      ...size,
      allocatable: { ...size.allocatable, extended },
      ...(index % 2 === 0 ? { cost: EUR } : {}),
    };
    apply(ledger, { kind: "advertised", at: NOW, advertisement });
  }
  const { reply } = decide(ledger, reserve("rome", "k", requestFor(cpu)), {
    now: NOW,
    policy: { ...DEFAULT_POLICY, ...policy },
  });
  if (reply.kind !== "granted" && reply.kind !== "refused") throw new Error(`unexpected ${reply.kind}`);
  return reply.decision;
}

const RATED = { weights: { resources: 0.5, latency: 0.5 }, ratings: { latency: { "c-1": 0.4, "c-9": 0.9 } } };

it.each([
  { name: "a grant among priced, unpriced and too small clusters", decision: decisionAmong(40, 5) },
  { name: "a grant that the operator's ratings took part in", decision: decisionAmong(12, 1, RATED) },
  { name: "a grant among very many", decision: decisionAmong(300, 3) },
  { name: "a refusal by everyone", decision: decisionAmong(40, 500) },
  { name: "a refusal by nobody", decision: decisionAmong(0, 1) },
])("brings back $name, to the last digit, in less space", ({ decision }) => {
  const bytes = encodeDecision(decision);
  expect(decodeDecision(bytes)).toEqual(decision);
  expect(JSON.stringify(decodeDecision(bytes))).toBe(JSON.stringify(decision));
  expect(explain(decodeDecision(bytes))).toBe(explain(decision));
  if (decision.candidates.length > 0) expect(bytes.length).toBeLessThan(JSON.stringify(decision).length);
});

it("brings back fields of the decision that it has no column for", () => {
  const place = { priority: 5, tenant: "ml", share: 0.125, since: NOW };
  const queue = { of: 7, waitedMs: 90_000, ...place, next: [{ id: "rsv-1", ...place, passedOver: "Quota" }] };
  const decision = { ...decisionAmong(3, 1), queue };
  expect(decodeDecision(encodeDecision(decision))).toEqual(decision);
});

it("refuses a form it does not know", () => {
  const bytes = Buffer.from(encodeDecision(decisionAmong(1, 1)));
  const text = bytes.toString("latin1").replace('"version":1', '"version":2');
  expect(() => decodeDecision(Buffer.from(text, "latin1"))).toThrow("unknown version 2");
});
