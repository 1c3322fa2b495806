import { Fault, resourceVector } from "@resource-broker/base";
import { apply, DEFAULT_POLICY, type Decision, decide, emptyLedger } from "@resource-broker/domain";
import { cluster } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { validate } from "../schema/validate.ts";
import { decisionSchema } from "../wire/decision.ts";
import { errorSchema } from "../wire/error.ts";
import { fromDecision, refusalDetails, toRefusals } from "./decision.ts";
import { toErrorBody } from "./fault.ts";

/** berlin is too small, paris is cheap, oslo is dear. */
function decisionFor(cpuMillis: number): Decision {
  const ledger = emptyLedger();
  const clusters = [
    ["paris", 16, 0.04],
    ["oslo", 16, 0.08],
    ["berlin", 1, 0.01],
  ] as const;
  for (const [clusterId, cpu, cpuHour] of clusters) {
    const cost = { currency: "EUR", onDemand: { cpuHour, memoryGbHour: 0.001 } };
    const advertisement = cluster(clusterId, { cpu, memoryGi: 64, more: { cost } });
    apply(ledger, { kind: "advertised", at: 0, advertisement });
  }
  const request = {
    resources: resourceVector({ cpuMillis, memoryBytes: 1e9 }),
    priority: 0,
    constraints: {},
    tier: "on-demand",
  } as const;
  const command = {
    kind: "reserve",
    requester: "rome",
    request,
    reservationId: "rsv-a",
    decisionId: "dec-1",
  } as const;
  const { reply } = decide(ledger, command, { now: 5000, policy: DEFAULT_POLICY });
  if (reply.kind !== "granted" && reply.kind !== "refused") throw new Error(`unexpected reply ${reply.kind}`);
  return reply.decision;
}

describe("a decision told in full", () => {
  const dto = fromDecision(decisionFor(4000), "full");

  test("shows every candidate with its score parts or what it lacked", () => {
    expect(dto).toMatchObject({
      id: "dec-1",
      at: "1970-01-01T00:00:05.000Z",
      requesterID: "rome",
      request: { requestedResources: { cpu: "4", memory: "1000000000" } },
      winner: "paris",
      considered: 3,
      fitted: 2,
      counts: { capacity: 1 },
      candidates: [
        { clusterID: "paris", advertisementAge: "5s", parts: { cost: 1 }, price: "0.161" },
        { clusterID: "oslo", price: "0.321" },
        { clusterID: "berlin", reason: "capacity", message: "needs 3 more CPU", missing: { cpu: "3" } },
      ],
    });
    expect(dto.explanation).toContain("paris");
    expect(dto.flip).toContain("oslo");
  });

  test("fits its schema", () => {
    expect(validate(decisionSchema, dto)).toEqual({ ok: true, value: dto });
  });
});

describe("a decision told without figures", () => {
  const decision = decisionFor(4000);
  const dto = fromDecision(decision, "reasons");

  test("keeps the reasons and hides what other clusters have and ask", () => {
    expect(dto.candidates).toEqual([
      { clusterID: "paris" },
      { clusterID: "oslo" },
      { clusterID: "berlin", reason: "capacity", message: "does not have enough CPU" },
    ]);
    expect(dto.explanation).toBe(
      "paris lends 4 CPU / 953.67Mi Memory to rome.\n  berlin  does not have enough CPU",
    );
    expect(dto.flip).toBeUndefined();
    expect(JSON.stringify(dto)).not.toMatch(/0\.161|0\.321|more CPU|available/);
  });

  test("fits its schema", () => {
    expect(validate(decisionSchema, dto)).toEqual({ ok: true, value: dto });
  });
});

describe("a decision that gave notice", () => {
  const frees = resourceVector({ cpuMillis: 8000, memoryBytes: 1e9 });
  const victim = { id: "rsv-bern-a", priority: 3, tier: "spot", reservedAt: 0, frees } as const;
  const at = (provider: string) => ({ provider, free: frees, victims: [victim], share: 0.25 });
  const notice = { until: 65_000, chosen: at("paris"), alternatives: [at("oslo")] };
  const decision: Decision = { ...decisionFor(100_000), notice };
  const shown = {
    victims: [
      {
        reservationID: "rsv-bern-a",
        priority: 3,
        tier: "spot",
        reservedAt: "1970-01-01T00:00:00.000Z",
        frees: { cpu: "8", memory: "1000000000" },
      },
    ],
    share: 0.25,
  };

  test("tells an admin the victims, and where others could have been", () => {
    const dto = fromDecision(decision, "admin");
    expect(dto.notice).toMatchObject({
      until: "1970-01-01T00:01:05.000Z",
      chosen: { clusterID: "paris", ...shown },
      alternatives: [{ clusterID: "oslo", ...shown }],
    });
    expect(dto.explanation).toContain("spot of priority 3");
    expect(validate(decisionSchema, dto)).toEqual({ ok: true, value: dto });
  });

  test.each(["full", "reasons"] as const)("tells its requester nothing of it, with disclosure %s", (view) => {
    expect(fromDecision(decision, view)).toEqual(fromDecision(decisionFor(100_000), view));
  });
});

describe("the reasons of a refusal", () => {
  const decision = decisionFor(100_000);

  test.each([
    [
      "full",
      { clusterID: "berlin", reason: "capacity", message: "needs 99 more CPU", missing: { cpu: "99" } },
    ],
    ["reasons", { clusterID: "berlin", reason: "capacity", message: "does not have enough CPU" }],
  ] as const)("with disclosure %s name every cluster", (disclosure, berlin) => {
    const reasons = toRefusals(decision, disclosure);
    expect(reasons.map(({ clusterID }) => clusterID).sort()).toEqual(["berlin", "oslo", "paris"]);
    expect(reasons).toContainEqual(berlin);
    expect(validate(errorSchema, { error: "x", reasons })).toMatchObject({ ok: true });
  });
});

test("an admin's reason of every allowed length is told, with the broker's own words around it", () => {
  const decision = decisionFor(4000);
  const reason = "x".repeat(512);
  const candidates = decision.candidates.map((candidate) =>
    candidate.outcome.kind === "scored"
      ? candidate
      : {
          ...candidate,
          outcome: {
            ...candidate.outcome,
            refusal: { ...candidate.outcome.refusal, message: `is cordoned: ${reason}` },
          },
        },
  );
  const long = { ...decision, candidates };
  expect(validate(decisionSchema, fromDecision(long, "full")).ok).toBe(true);
  const fault = new Fault("no-capacity", "nobody", { details: refusalDetails(long, "full") });
  const body = validate(errorSchema, toErrorBody(fault));
  expect(body.ok && body.value.reasons?.[0]?.message).toMatch(/^is cordoned: x{498}…$/u);
});
