import { type Mutant, testFile } from "./mutant.ts";

const QUEUE = "packages/domain/src/queue";
const PLANS = testFile(`${QUEUE}/plans.test.ts`);

/** Bugs in what is kept for requests that wait, and in who counts for which tenant. */
export const NOMINATION_MUTANTS: readonly Mutant[] = [
  {
    name: "nominates the request that came last",
    file: `${QUEUE}/nominations.ts`,
    find: "return [...still, ...others].slice(0, MAX_TURNS);",
    replace: "return [...others, ...still].map(({ id }) => ({ id, since: now }));",
    caughtBy: PLANS,
  },
  {
    name: "nominates at once",
    file: `${QUEUE}/nominations.ts`,
    find: "now - turn.since >= dueAfter * policy.queue.holdAfterMs",
    replace: "now - turn.since >= 0",
    caughtBy: PLANS,
  },
  {
    name: "nominates a request that starts when it was told",
    file: `${QUEUE}/nominations.ts`,
    find: "return from !== undefined && first.from > from ? OVERTAKEN_AFTER : undefined;",
    replace: "return OVERTAKEN_AFTER;",
    caughtBy: PLANS,
  },
  {
    name: "lets the start of the first be put off for ever",
    file: `${QUEUE}/nominations.ts`,
    find: "return from !== undefined && first.from > from ? OVERTAKEN_AFTER : undefined;",
    replace: "return undefined;",
    caughtBy: PLANS,
  },
  {
    name: "gives a turn to the first tenant alone",
    file: `${QUEUE}/plans.ts`,
    find: "!before.some((other) => other.tenant === tenant)",
    replace: "before.length === 0",
    caughtBy: PLANS,
  },
  {
    name: "nominates to a provider of which nobody knows when it has room",
    file: `${QUEUE}/nominations.ts`,
    find: "resources) ?? Number.MAX_VALUE",
    replace: "resources) ?? 0",
    caughtBy: PLANS,
  },
  {
    name: "never nominates a request for more than a quarter of the fleet",
    file: `${QUEUE}/nominated.ts`,
    find: "  if (others.length === 0) return true;\n",
    replace: "",
    caughtBy: testFile(`${QUEUE}/nominated.test.ts`),
  },
  {
    name: "nominates others before a request that is too large beside them",
    file: `${QUEUE}/nominations.ts`,
    find: "    return isWithinPart(ledger, entry, others) ? { id: entry.id, provider } : undefined;",
    replace: "    if (isWithinPart(ledger, entry, others)) return { id: entry.id, provider };",
    caughtBy: testFile(`${QUEUE}/nominated.test.ts`),
  },
  {
    name: "lets tenants that hold less take what is kept for a nominated request",
    file: `${QUEUE}/order.ts`,
    find: "if (kept.priority === priority) this.#ids.add(kept.id);",
    replace: "if (kept.priority > priority) this.#ids.add(kept.id);",
    caughtBy: PLANS,
  },
  {
    name: "lets short requests follow each other for ever where a nominated one waits",
    file: `${QUEUE}/kept.ts`,
    find: "return roomBy === undefined ? lifetimeMs <= policy.queue.backfillMs : now + lifetimeMs <= roomBy;",
    replace: "return roomBy === undefined || lifetimeMs <= policy.queue.backfillMs;",
    caughtBy: PLANS,
  },
  {
    name: "looks at the queue late when a nominated request has left it",
    file: `${QUEUE}/apply-queue.ts`,
    find: "    );\n  unsettle(ledger);",
    replace: "    );",
    caughtBy: PLANS,
  },
  {
    name: "gives a nomination up while its last victim still gives back",
    file: `${QUEUE}/victims.ts`,
    find: "now - Math.max(...ends) >= LAPSES_AFTER_MS",
    replace: "now - Math.min(...ends) >= LAPSES_AFTER_MS",
    caughtBy: testFile(`${QUEUE}/notices.test.ts`),
  },
  {
    name: "keeps a nomination to a cordoned provider",
    file: `${QUEUE}/nominations.ts`,
    find: "      if (!isSuitable || isHopeless(ledger, entry, context)) return entry;",
    replace: "      if (!isSuitable && isHopeless(ledger, entry, context)) return entry;",
    caughtBy: PLANS,
  },
  {
    name: "takes what is kept for others though something else fits",
    file: "packages/domain/src/scheduling/choose-provider.ts",
    find: "const isSpared = spared.fitting.length > 0 || ",
    replace: "const isSpared = ",
    caughtBy: PLANS,
  },
  {
    name: "forgets a nomination when a look is ahead of a commit",
    file: `${QUEUE}/apply-queue.ts`,
    find: "if (!isNominatedTo(ledger, plan.provider)) keep(",
    replace: "keep(",
    caughtBy: PLANS,
  },
  {
    name: "gives a cluster the rules of a tenant that is called like it",
    file: `${QUEUE}/tenants.ts`,
    find: "return lookup(policy.tenants, requester) === undefined ? requester : `cluster/${requester}`;",
    replace: "return requester;",
    caughtBy: testFile(`${QUEUE}/tenants.test.ts`),
  },
];
