import { type Mutant, testFile } from "./mutant.ts";

const QUEUE = "packages/domain/src/queue";
const LEDGER = "packages/domain/src/ledger";
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);
const BUDGET = testFile(`${QUEUE}/budget.test.ts`);

/** What tenants are charged, and what a budget stops. */
export const BUDGET_MUTANTS: readonly Mutant[] = [
  {
    name: "charges a whole day for the last day of a reservation",
    file: `${QUEUE}/charges.ts`,
    find: "  addTo(charges.parts, last, charge(to - startOfDay(last)));",
    replace: "  addTo(charges.parts, last, charge(DAY_MS));",
    caughtBy: MODEL,
  },
  {
    name: "keeps what was charged for the time after an early end",
    file: `${QUEUE}/charges.ts`,
    find: "  return Math.min(endedAt, expiresAt);",
    replace: "  return Math.max(endedAt, expiresAt);",
    caughtBy: MODEL,
  },
  {
    name: "charges a reservation without an end for its first day only",
    file: `${QUEUE}/charges.ts`,
    find: "  const open = day > today ? 0n : sumUpTo(openSteps, day);",
    replace: "  const open = day >= today ? 0n : sumUpTo(openSteps, day);",
    caughtBy: MODEL,
  },
  {
    name: "rounds charges down",
    file: `${QUEUE}/charges.ts`,
    find: "Math.ceil(exact * (1 - ROUNDING_ERROR))",
    replace: "Math.floor(exact * (1 - ROUNDING_ERROR))",
    caughtBy: MODEL,
  },
  {
    name: "looks at the first day of a reservation only",
    file: `${QUEUE}/budget.ts`,
    find: "[first, first + 1].map(",
    replace: "[first].map(",
    caughtBy: MODEL,
  },
  {
    name: "lends to a tenant with a budget without a price",
    file: "packages/domain/src/scheduling/filters.ts",
    find: "budget !== undefined && Number.isNaN(budget.priceOf(candidate)),",
    replace: "budget !== undefined && budget.priceOf(candidate) < 0,",
    caughtBy: MODEL,
  },
  {
    name: "renews beyond the budget",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "    return tooDear ?? changed(",
    replace: "    return changed(",
    caughtBy: MODEL,
  },
  {
    name: "counts what a renewal has paid already a second time",
    file: `${QUEUE}/over-budget.ts`,
    find: "  countCharges(others, reservation, -1);\n",
    replace: "",
    caughtBy: BUDGET,
  },
  {
    name: "forgets a reservation before its day is written down",
    file: `${LEDGER}/decide-expire.ts`,
    find: "[...closeDaysThatAreOver(ledger, now), ...events, ...lost]",
    replace: "[...events, ...lost, ...closeDaysThatAreOver(ledger, now)]",
    caughtBy: MODEL,
  },
  {
    name: "remembers charged days for ever",
    file: `${QUEUE}/closed-days.ts`,
    find: "  for (const day of forgets) ledger.closedDays.delete(day);\n",
    replace: "",
    caughtBy: BUDGET,
  },
  {
    name: "lets a newcomer take what a budget allows another since midnight",
    file: `${LEDGER}/ledger.ts`,
    find: "(waiting.pendingCount === 0 || settledOn === utcDay(now))",
    replace: "(waiting.pendingCount === 0 || settledOn <= utcDay(now))",
    caughtBy: BUDGET,
  },
  {
    name: "passes nobody over for a budget when the queue is looked at",
    file: `${QUEUE}/passed-over.ts`,
    find: "  if (fitsSomewhere(table, scheduling)) return undefined;",
    replace: "  if (fitsSomewhere(table, { ...scheduling, budget: undefined })) return undefined;",
    caughtBy: BUDGET,
  },
  {
    name: "loses the charges of days that are over in a restart",
    file: "packages/broker/src/store/sqlite/read-ledger.ts",
    find: "    closedDays: [...all(CLOSED_DAY)],",
    replace: "    closedDays: [...all(CLOSED_DAY)].slice(1),",
    caughtBy: testFile("packages/broker/src/store/sqlite/sqlite-store.test.ts"),
  },
];
