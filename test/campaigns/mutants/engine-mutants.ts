import { type Check, type Mutant, SIMULATION, testFile } from "./mutant.ts";

const ENGINE = "packages/broker/src/engine/create-engine.ts";
const PERSIST = "packages/broker/src/engine/persist.ts";
const PAIR = "packages/broker/src/engine/ledger-pair.ts";
const CLOCK = "packages/broker/src/engine/ledger-clock.ts";
const ENGINE_TEST = testFile("packages/broker/src/engine/engine.test.ts");
const SWEEPER = "packages/broker/src/engine/sweeper.ts";

/** The shell around the ledger: what is durable, who is told what, whose clock counts. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  {
    name: "records every refusal, whoever asks how often",
    file: "packages/broker/src/engine/recorded-refusals.ts",
    find: " && this.#admits(event, now)",
    replace: "",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "one requester's refusals use up the share of all",
    file: "packages/broker/src/engine/recorded-refusals.ts",
    find: "    const count = (this.#counts.get(decision.requester) ?? 0) + 1;",
    replace: "    const count = [...this.#counts.values()].reduce((sum, each) => sum + each, 0) + 1;",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "answers before the commit is through",
    file: ENGINE,
    find: "    await persist(batch, { store, clock, onFailure });",
    replace: "    void persist(batch, { store, clock, onFailure });",
    caughtBy: SIMULATION,
  },
  {
    name: "lets readers see what is only tentative",
    file: PAIR,
    find: "    return this.#committed;\n",
    replace: "    return this.#tentative;\n",
    caughtBy: SIMULATION,
  },
  {
    name: "keeps what was decided on after the commit failed",
    file: ENGINE,
    find: "    this.#ledgers.rebuildTentative([]);\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "takes an unknown commit for done",
    file: PERSIST,
    find: '      if (failure.kind !== "unknown") throw failure;',
    replace: '      if (failure.kind !== "unknown") throw failure;\n      return;',
    caughtBy: SIMULATION,
  },
  {
    name: "takes an unknown commit for failed",
    file: PERSIST,
    find: '      if (failure.kind !== "unknown") throw failure;',
    replace: "      throw failure;",
    caughtBy: SIMULATION,
  },
  {
    name: "repeats an unknown commit without asking what became of it",
    file: PERSIST,
    find: "    if (last === batch.number) return;\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "takes the time from the wall clock",
    file: CLOCK,
    find: "  return () => startedAt + Math.floor(clock.monotonicMs() - zero);",
    replace: "  return () => Math.max(clock.wallMs(), earliest + zero * 0, startedAt * 0);",
    caughtBy: SIMULATION,
  },
  {
    name: "lets time run backwards over a restart",
    file: CLOCK,
    find: "Math.max(clock.wallMs(), earliest)",
    replace: "clock.wallMs() + earliest * 0",
    caughtBy: SIMULATION,
  },
  {
    name: "looks for what is due only now and then",
    file: SWEEPER,
    find: "    const sleepMs = Math.min(Math.max(untilDueMs, 0), LONGEST_SLEEP_MS);",
    replace: "    const sleepMs = untilDueMs < 0 ? 0 : 5 * LONGEST_SLEEP_MS;",
    caughtBy: SIMULATION,
  },
  {
    name: "gives up on an expiry that could not be written",
    file: SWEEPER,
    find: "    if (hasFailed && !this.#isStopped) this.#cancel = clock.after(LONGEST_SLEEP_MS, () => void this.#check());\n    else this.arm();",
    replace: "    if (!hasFailed) this.arm();",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "serves the lowest priority first",
    file: "packages/broker/src/engine/batch.ts",
    find: "urgency(b.command) - urgency(a.command)",
    replace: "urgency(a.command) - urgency(b.command)",
    caughtBy: SIMULATION,
  },
  {
    name: "puts an advertisement in force only where it decides",
    file: PAIR,
    find: "      if (isSoft(event)) apply(this.#committed, event);\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "drops an advertisement that could not be saved",
    file: "packages/broker/src/engine/write-behind.ts",
    find: "      this.#unsaved = new Map([...saving, ...this.#unsaved]);\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/engine/advertisements.test.ts"),
  },
  {
    name: "tells listeners before the commit is readable",
    file: ENGINE,
    find: "    this.#commitNumber = batch.number;\n    this.#health",
    replace: "    this.#notifyListeners(batch);\n    this.#commitNumber = batch.number;\n    this.#health",
    caughtBy: SIMULATION,
  },
  {
    name: "starts an empty ledger where another one is missing",
    file: "packages/broker/src/store/sqlite/last-commit.ts",
    find: "  if (commitNumber === 0) return everythingMissing(noted, file);\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/store/sqlite/last-commit.test.ts"),
  },
  {
    name: "verify calls commits missing that were made while it read",
    file: "packages/broker/src/store/sqlite/verify.ts",
    find: "missingCommits(noted, found, file)",
    replace: "missingCommits(readLastCommit(directory), found, file)",
    caughtBy: testFile("packages/broker/src/store/sqlite/verify.test.ts"),
  },
];

/** The second strike damages the ledger, or suspends the leader. */
const KILL_CAMPAIGN: Check = { kind: "campaign", store: "sqlite", strikes: 2, needs: "time" };
const REPLICA_CAMPAIGN: Check = { kind: "campaign", store: "postgres", strikes: 2, needs: "postgres" };

/** Each has a test of its own as well; here the campaigns have to notice, by what real processes do. */
export const CAMPAIGN_MUTANTS: readonly Mutant[] = [
  {
    name: "serves from a ledger that rows were taken away from",
    file: "packages/broker/src/store/common/seals.ts",
    find: "  if (found[0] === rows && found[1] === seals) return;\n",
    replace: "  if (found[0] <= rows) return;\n",
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "serves from the past when its write-ahead log was cut",
    file: "packages/broker/src/store/sqlite/last-commit.ts",
    find: "  const missing = missingCommits(noted, lastCommitIn(file), file);\n",
    replace: "  const missing = missingCommits(noted, noted, file);\n",
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "answers after it was suspended and replaced",
    file: "packages/broker/src/store/common/leader-elector.ts",
    find: "Math.max(elapsedMs, onWallMs) < leaseMs && Math.abs(onWallMs - elapsedMs) <= leaseMs * MAX_CLOCK_SKEW",
    replace: "elapsedMs < leaseMs && onWallMs > -leaseMs * MAX_CLOCK_SKEW",
    caughtBy: REPLICA_CAMPAIGN,
  },
  {
    name: "202: leaves the row of a waiting request when it is granted",
    file: "packages/broker/src/store/common/changes.ts",
    find: '  return kind === "adopted" || reservation.generation > 1;',
    replace: '  return kind === "adopted" || reservation.generation > 1000;',
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "202: starts without those that wait",
    file: "packages/broker/src/store/sqlite/read-ledger.ts",
    find: "    waiting: [...all(WAITING)],\n",
    replace: "    waiting: [...all(WAITING)].slice(0, 0),\n",
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "202: does not write that a request has left the queue",
    file: "packages/broker/src/store/common/changes.ts",
    find: '    case "unqueued":\n',
    replace: '    case "unqueued":\n      return {};\n',
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "202: never looks at the queue after a start",
    file: "packages/broker/src/engine/create-engine.ts",
    find: "    this.#sweeper.arm();\n    this.#admission.batchCommitted();\n  };",
    replace: "    this.#sweeper.arm();\n    this.#admission.stop();\n  };",
    caughtBy: KILL_CAMPAIGN,
  },
  {
    name: "grants what waits before the BrokerPolicy is read",
    file: "packages/broker/src/app.ts",
    find: "    await kubernetes?.readPolicy();\n    if (isStopping) return;\n    await openLedger();\n",
    replace: "    await openLedger();\n    await kubernetes?.readPolicy();\n",
    caughtBy: testFile("packages/broker/src/policy-before-ledger.test.ts"),
  },
];
