import { deepStrictEqual, ok, strictEqual } from "node:assert";
import fc from "fast-check";
import { test } from "vitest";
import { comparableLedger, recordsOf } from "../testing/comparable-ledger.ts";
import { differsFromModel, LedgerModel } from "../testing/ledger-model.ts";
import { ReceivedCommands } from "../testing/fitting-rules.ts";
import { wrongBudgetReply } from "../testing/budget-rules.ts";
import { fits } from "../testing/queue-rules.ts";
import { violationIn } from "../testing/ledger-rules.ts";
import { commandsFor, type LedgerAction, ledgerAction, marketAction } from "../testing/random-commands.ts";
import { runs } from "../testing/runs.ts";
import { openWorld } from "../testing/world.ts";
import { DEFAULT_POLICY, type Policy } from "../scheduling/policy.ts";
import { type CandidateTableView, ROW_WIDTH } from "../scheduling/candidate-table.ts";
import type { Command, Outcome } from "./command.ts";
import { decide } from "./decide.ts";
import { cloneLedger } from "./ledger.ts";
import { ledgerFrom } from "./records.ts";

/** On average half as many are drawn: a hundred commands a run. */
const COMMANDS = 200;

test("driven by random commands under a random clock, the ledger never double-books, never ends twice, never expires early, and rebuilds to itself (invariants 1, 3, 4, 5, 7)", () => {
  fc.assert(
    fc.property(
      fc.array(ledgerAction, { minLength: 1, maxLength: COMMANDS, size: "max" }),
      fc.constantFrom("none", "spot", "lower-priority", "lower-priority"),
      compareWithModel,
    ),
    runs(250, 10_000),
  );
}, 3_600_000);

test("where others must give way, nobody ends who need not, too early, or twice, and nobody else gets what they give back", () => {
  fc.assert(
    fc.property(
      fc.array(marketAction, { minLength: 1, maxLength: COMMANDS, size: "max" }),
      fc.constantFrom("spot", "lower-priority", "lower-priority"),
      compareWithModel,
    ),
    // Not shrunk: that would take minutes, and the first counterexample is as long as a shrunk one.
    { ...runs(80, 5000), endOnFailure: true },
  );
}, 3_600_000);

/** Runs actions on a real ledger and on a plain model beside it, and compares after each. */
function compareWithModel(actions: readonly LedgerAction[], victims: Policy["preemption"]["victims"]): void {
  const world = openWorld({
    refusalMemoryMs: 20_000,
    requesterLostMs: 3_000_000,
    activationTimeoutMs: 70_000,
    // Time leaps by days here: with the usual staleness hardly anything would be granted. The world began longer ago.
    stalenessMs: 1e12,
    queue: { ...DEFAULT_POLICY.queue, holdAfterMs: 40_000, turnaroundMs: 20_000, backfillMs: 60_000 },
    preemption: { victims, minPriorityGap: 10, graceMs: 30_000, maxUnderNotice: 0.5, minRunMs: 10_000 },
    tenants: {
      ml: {
        members: ["rome", "paris"].map((each) => ({ cluster: each, namespaces: ["ml"] })),
        weight: 3,
        quota: {},
        budget: { perDay: 1_500_000 },
      },
      berlin: { members: [{ cluster: "berlin" }], weight: 1, quota: {}, budget: { perDay: 400_000 } },
    },
  });
  const { ledger, policy } = world;
  const model = new LedgerModel();
  const asked = new ReceivedCommands();
  const context = { policy, asked, listeningSince: Number.NEGATIVE_INFINITY };

  const run = (command: Command): Outcome => {
    asked.add(command);
    const before = comparableLedger(cloneLedger(ledger));
    decide(ledger, command, { now: world.now, policy });
    deepStrictEqual(comparableLedger(ledger), before, "decide must change nothing");
    const time = ledger.time;
    const isFitting = canBeServed(model, command, { at: Math.max(world.now, time), context });
    const outcome = world.run(command);
    const answer = { command, reply: outcome.reply, at: Math.max(world.now, time) };
    strictEqual(wrongBudgetReply(model, answer, { policy, canBeServed: isFitting }), undefined);
    ok(ledger.time >= time, "time ran backwards");
    for (const event of outcome.events) {
      strictEqual(violationIn(model, event, context), undefined);
      if (event.kind === "advertised") ok(model.advertise(event.advertisement, event.at), "old news");
      model.apply(event);
    }
    strictEqual(differsFromModel(ledger, model), undefined);
    const copied = tableRows(cloneLedger(ledger).candidateTable);
    deepStrictEqual(tableRows(ledger.candidateTable), copied, "deciding reads old figures");
    return outcome;
  };

  const commandFor = commandsFor(world);
  for (const action of actions) {
    const command = commandFor(action);
    if (command === undefined) continue;
    let { reply } = run(command);
    while ((reply.kind === "swept" || reply.kind === "admitted") && reply.hasMore) ({ reply } = run(command));
  }

  // Invariant 5: what the store keeps is enough to get the same ledger back.
  const rebuilt = ledgerFrom(recordsOf(ledger), Math.max(world.now, world.latest));
  deepStrictEqual(comparableLedger(rebuilt), comparableLedger(ledger));
  const { events } = decide(rebuilt, { kind: "expire-due" }, { now: world.now, policy });
  const isLost = events.some((event) => event.kind === "ended" && event.reason === "RequesterLost");
  ok(!isLost, "lost by a restart");
}

function canBeServed(model: LedgerModel, command: Command, moment: Parameters<typeof fits>[2]): boolean {
  return command.kind === "reserve" && fits(model, command, moment);
}

/** The values of the candidate table by cluster. */
function tableRows({ candidates, values }: CandidateTableView): [string, number[]][] {
  const rows = candidates.map(({ clusterId }, position): [string, number[]] => {
    return [clusterId, [...values.subarray(position * ROW_WIDTH, (position + 1) * ROW_WIDTH)]];
  });
  return rows.sort(([a], [b]) => (a < b ? -1 : 1));
}
