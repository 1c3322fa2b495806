import { type Mutant, testFile } from "./mutant.ts";

const QUEUE = "packages/domain/src/queue";
const LEDGER = "packages/domain/src/ledger";
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);
const DRAIN = testFile(`${LEDGER}/drain.test.ts`);
const AFTER_START = testFile(`${QUEUE}/after-start.test.ts`);

/** Notices of drains, notices after a start, and what is counted as unmet demand. */
export const DRAIN_MUTANTS: readonly Mutant[] = [
  {
    name: "drains a reservation whose requester cannot be told",
    file: `${LEDGER}/decide-cordon.ts`,
    find: "  return protocol >= MARKET_PROTOCOL;",
    replace: "  return protocol >= MARKET_PROTOCOL || true;",
    caughtBy: DRAIN,
  },
  {
    name: "leaves the notices of a drain when its cluster is uncordoned",
    file: `${LEDGER}/decide-cordon.ts`,
    find: "    ...drained.map(",
    replace: "    ...drained.slice(0, 0).map(",
    caughtBy: MODEL,
  },
  {
    name: "reprieves a drained reservation, which no request needs",
    file: `${QUEUE}/victims.ts`,
    find: "isDrained(victim) ? drainText(ledger, victim) : endFor(",
    replace: "isDrained(victim) && context.now < 0 ? drainText(ledger, victim) : endFor(",
    caughtBy: DRAIN,
  },
  {
    name: "moves the end of a notice when a cluster is drained again",
    file: `${LEDGER}/decide-cordon.ts`,
    find: "      .filter((each) => !isDrained(each))\n",
    replace: "",
    caughtBy: DRAIN,
  },
  {
    name: "ends a notice right after a start",
    file: "packages/domain/src/reservation/under-notice.ts",
    find: "preemption && Math.max(preemption.at, spare)",
    replace: "preemption?.at",
    caughtBy: DRAIN,
  },
  {
    name: "preempts right after a start what has expired",
    file: `${LEDGER}/decide-expire.ts`,
    find: "const endsAt = Math.max(preemption.at, sparedUntil(ledger, id));",
    replace: "const endsAt = preemption.at;",
    caughtBy: AFTER_START,
  },
  {
    name: "counts a refused request again with each repetition",
    file: "packages/broker/src/engine/request-identity.ts",
    find: "object ?? `in ${namespace}`",
    replace: "object === undefined ? `in ${namespace}` : key",
    caughtBy: testFile("packages/broker/src/engine/request-identity.test.ts"),
  },
];
