import { type Mutant, SIMULATION, testFile } from "./mutant.ts";

const QUEUE = "packages/domain/src/queue";
const LEDGER = "packages/domain/src/ledger";
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);
const WAITING = testFile(`${QUEUE}/waiting.test.ts`);
const PLANS = testFile(`${QUEUE}/plans.test.ts`);
const ADMISSION = testFile("packages/broker/src/engine/admission.test.ts");

/** Requests that wait: their order, what is kept for them, and how they leave the queue. */
export const QUEUE_MUTANTS: readonly Mutant[] = [
  {
    name: "lets a newcomer take what another waits for",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "  if (!isSettledAt(ledger, context.now)) {",
    replace: "  if (ledger.time < 0) {",
    caughtBy: WAITING,
  },
  {
    name: "does not look at the queue before a newcomer of the same batch",
    file: "packages/broker/src/engine/create-engine.ts",
    find: 'pending.command.kind === "reserve" && !this.#ledgers.isSettledAt(this.now());',
    replace: 'pending.command.kind === "import";',
    caughtBy: ADMISSION,
  },
  {
    name: "does not look at the queue when a reservation ends",
    file: `${LEDGER}/ledger.ts`,
    find: "  if (exceeds(account.available, available)) unsettle(ledger);\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "counts what has come back a second time beside a plan",
    file: `${LEDGER}/ledger.ts`,
    find: "  if (returnedBy === undefined && victims === undefined) return kept;",
    replace: "  if (victims === undefined) return kept;",
    caughtBy: PLANS,
  },
  {
    name: "plans without what is being torn down",
    file: `${LEDGER}/ledger.ts`,
    find: "    if (ended !== undefined)\n",
    replace: "    if (ended === null)\n",
    caughtBy: PLANS,
  },
  {
    name: "puts off the next look at the queue with every commit",
    file: "packages/broker/src/engine/admission.ts",
    find: "    if (this.#cancel === undefined || this.#isSoon) this.#sleep(LOOK_EVERY_MS);\n",
    replace: "    this.#sleep(LOOK_EVERY_MS);\n",
    caughtBy: ADMISSION,
  },
  {
    name: "takes the lowest priority first",
    file: `${QUEUE}/order.ts`,
    find: ".sort(([a], [b]) => b - a)",
    replace: ".sort(([a], [b]) => a - b)",
    caughtBy: MODEL,
  },
  {
    name: "serves the tenant with the largest share first",
    file: `${QUEUE}/order.ts`,
    find: "a.share - b.share ||",
    replace: "b.share - a.share ||",
    caughtBy: MODEL,
  },
  {
    name: "ignores the weight of a tenant",
    file: `${QUEUE}/tenants.ts`,
    find: "(largest / weight)",
    replace: "(largest / Math.max(1, 0 * weight))",
    caughtBy: WAITING,
  },
  {
    name: "serves the last of a line first",
    file: `${QUEUE}/waiting.ts`,
    find: "  return a.since - b.since ||",
    replace: "  return b.since - a.since ||",
    caughtBy: MODEL,
  },
  {
    name: "prolongs the wait when the requester asks again",
    file: `${LEDGER}/decide-reserve.ts`,
    find: '{ kind: "waiting", waiting: existing, isReplay: true }',
    replace: '{ kind: "waiting", waiting: { ...existing, until: existing.until + 1 }, isReplay: true }',
    caughtBy: WAITING,
  },
  {
    name: "leaves the key of a released request open",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "  return { events: [left, ...closing], reply };",
    replace: "  return { events: [left, ...closing.slice(1)], reply };",
    caughtBy: WAITING,
  },
  {
    name: "lets a granted request wait on",
    file: `${LEDGER}/apply.ts`,
    find: "  const { id, key } = reservation;\n  removeWaiting(ledger, id);\n",
    replace: "  const { id, key } = reservation;\n",
    caughtBy: MODEL,
  },
  {
    name: "gives a request up before its time",
    file: `${QUEUE}/apply-queue.ts`,
    find: "Math.max(until, sparedUntil",
    replace: "Math.max(until - 1000, sparedUntil",
    caughtBy: MODEL,
  },
  {
    name: "gives all requests up that became due while the broker was down",
    file: `${QUEUE}/apply-queue.ts`,
    find: "Math.max(until, sparedUntil(ledger, id))",
    replace: "until",
    caughtBy: ADMISSION,
  },
  {
    name: "takes a grant from the queue for a sign of life",
    file: `${LEDGER}/apply.ts`,
    find: "      if (!ledger.waiting.byId.has(event.reservation.id)) markSeen(",
    replace: "      if (ledger.time >= 0) markSeen(",
    caughtBy: WAITING,
  },
  {
    name: "lends what is planned for another",
    file: `${QUEUE}/kept.ts`,
    find: "  return !fits(context.request.resources, besides(candidate.available, kept));",
    replace: "  return !fits(context.request.resources, candidate.available);",
    caughtBy: PLANS,
  },
  {
    name: "forgets that capacity takes its time to come back",
    file: `${QUEUE}/kept.ts`,
    find: "now + lifetimeMs + policy.queue.turnaroundMs <= from",
    replace: "now + lifetimeMs <= from",
    caughtBy: PLANS,
  },
  {
    name: "does not look again when a plan was put off",
    file: `${QUEUE}/kept.ts`,
    find: "return before.from !== undefined && from > before.from;",
    replace: "return before.from === undefined && from > 0;",
    caughtBy: PLANS,
  },
  {
    name: "plans two requests for one provider",
    file: `${QUEUE}/plans.ts`,
    find: "    taken.add(plan.provider);\n",
    replace: "",
    caughtBy: PLANS,
  },
  {
    name: "renews beyond the start of a plan",
    file: `${QUEUE}/kept.ts`,
    find: "? undefined : from - turnaroundMs;",
    replace: "? undefined : from + turnaroundMs;",
    caughtBy: PLANS,
  },
  {
    name: "counts what a tenant holds for its cluster alone",
    file: `${QUEUE}/apply-queue.ts`,
    find: "const { tenant = reservation.requester, granted, cost, phase } = reservation;",
    replace: "const { requester: tenant, granted, cost, phase } = reservation;",
    caughtBy: WAITING,
  },
  {
    name: "overlooks providers whose memory suffices for a waiting request",
    file: "packages/domain/src/scheduling/filter-candidates.ts",
    find: "at(values, row + 1) < second ||",
    replace: "at(values, row + 1) <= second ||",
    caughtBy: testFile("packages/domain/src/scheduling/choose-provider.test.ts"),
  },
  {
    name: "forgets who comes first where capacity is kept for a plan",
    file: `${QUEUE}/decide-admit.ts`,
    find: "if (ledger.plans.has(entry.id)) predecessors.pass(entry);",
    replace: "predecessors.of(entry);",
    caughtBy: PLANS,
  },
  {
    name: "answers that a request waits before that is committed",
    file: "packages/broker/src/engine/create-engine.ts",
    find: "    const batch = batchOf(decided, { ...about, refusals: this.#refusals });\n",
    replace:
      '    const batch = batchOf(decided, { ...about, refusals: this.#refusals });\n    for (const { pending, outcome } of decided) if (outcome.reply.kind === "waiting") pending.resolve(outcome.reply);\n',
    caughtBy: SIMULATION,
  },
];
