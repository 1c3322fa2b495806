import { type Mutant, SIMULATION, testFile } from "./mutant.ts";

const ENGINE = "packages/broker/src/engine/create-engine.ts";
const BEHIND = "packages/broker/src/engine/write-behind.ts";
const BEHIND_TEST = testFile("packages/broker/src/engine/advertisements.test.ts");
const OUTLIVE = "packages/domain/src/ledger/must-be-durable.ts";
const ENGINE_TEST = testFile("packages/broker/src/engine/advertisements.test.ts");
const OUTLIVE_TEST = testFile("packages/domain/src/ledger/must-be-durable.test.ts");
const SHARDS = "packages/broker/src/store/kubernetes/advertisement-shards.ts";

/** One plant for both SQL stores: the tests of each of them must catch it. */
const COMMITTED_LEFT_OUT = {
  file: "packages/broker/src/store/common/changes.ts",
  find: "      ...additionOf(ADVERTISEMENT, advertisements),\n",
  replace: "      ...additionOf(ADVERTISEMENT, []),\n",
} as const;

/** What an agent was told to be accepted is what the next process lends from. */
export const ADVERTISEMENT_MUTANTS: readonly Mutant[] = [
  {
    name: "takes a commit for the durable word of an advertisement that came after",
    file: BEHIND,
    find: "      if (this.#latest.get(clusterId)?.advertisement !== advertisement) continue;\n",
    replace: "",
    caughtBy: BEHIND_TEST,
  },
  {
    name: "after a failed save the older advertisement wins",
    file: BEHIND,
    find: "new Map([...saving, ...this.#unsaved])",
    replace: "new Map([...this.#unsaved, ...saving])",
    caughtBy: BEHIND_TEST,
  },
  {
    name: "answers an advertisement that allows less before it is durable",
    file: ENGINE,
    find: "      return isDone ? Promise.resolve(outcome.reply)",
    replace: "      return isDone || received !== undefined ? Promise.resolve(outcome.reply)",
    caughtBy: SIMULATION,
  },
  {
    name: "answers an advertisement again before it is durable",
    file: BEHIND,
    find: "        : last.isSafe && !mustBeDurable(last.advertisement, advertisement);",
    replace: "        : !mustBeDurable(last.advertisement, advertisement);",
    // Seed 411 meets it.
    caughtBy: { kind: "simulation", seeds: 450 },
  },
  {
    name: "takes an advertisement for durable though its commit failed",
    file: ENGINE,
    find: "    await persist(batch, { store, clock, onFailure });\n    this.#writeBehind.committed(batch.advertisements);\n",
    replace:
      "    this.#writeBehind.committed(batch.advertisements);\n    await persist(batch, { store, clock, onFailure });\n",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "writes an older advertisement over one that was committed",
    file: ENGINE,
    find: "    if (waiting.some(({ outcome }) => outcome !== undefined)) await this.#writeBehind.idle();\n",
    replace: "",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "takes what it read back for the last thing a cluster said",
    file: BEHIND,
    find: "        ? before === undefined && instance === undefined",
    replace: "        ? before !== undefined || instance === undefined",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "lets a crash bring back capacity that was withdrawn",
    file: OUTLIVE,
    find: "    isLess(unallocatedOf(after), unallocatedOf(before)) ||\n",
    replace: "",
    caughtBy: OUTLIVE_TEST,
  },
  {
    name: "lets a crash bring back capacity that guests use",
    file: OUTLIVE,
    find: "    reservesMore(before, after) ||\n",
    replace: "",
    caughtBy: OUTLIVE_TEST,
  },
  {
    name: "lets a crash bring back an agent that was replaced",
    file: OUTLIVE,
    find: "after.instance !== before.instance || ",
    replace: "",
    caughtBy: OUTLIVE_TEST,
  },
  {
    name: "lets a crash bring back a post that was overtaken",
    file: OUTLIVE,
    find: "skipsSequence(before, after) || ",
    replace: "",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "commits without the advertisements of the batch",
    ...COMMITTED_LEFT_OUT,
    caughtBy: testFile("packages/broker/src/store/sqlite/sqlite-store.test.ts"),
  },
  {
    name: "keeps an advertisement of a clock that was ahead",
    file: "packages/broker/src/store/common/changes.ts",
    find: "      remove: advertisements.map(({ advertisement }) => advertisement.clusterId),\n",
    replace: "      remove: [],\n",
    caughtBy: testFile("packages/broker/src/store/sqlite/sqlite-store.test.ts"),
  },
  {
    name: "leaves committed advertisements out of the database",
    ...COMMITTED_LEFT_OUT,
    caughtBy: {
      kind: "test",
      file: "packages/broker/src/store/postgres/postgres-store.test.ts",
      needs: "postgres",
    },
  },
  {
    name: "orders the advertisements of several leaders by their clocks",
    file: SHARDS,
    find: "  return a.commit === b.commit ? a.receivedAt >= b.receivedAt : a.commit > b.commit;",
    replace: "  return a.receivedAt >= b.receivedAt;",
    caughtBy: testFile("packages/broker/src/store/kubernetes/kubernetes-store.test.ts"),
  },
];
