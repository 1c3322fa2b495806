import type { Check, Mutant } from "./mutant.ts";

/** The second strike damages the ledger, or suspends the leader. */
const KILL_CAMPAIGN: Check = { kind: "campaign", store: "sqlite", strikes: 2, needs: "time" };
const REPLICA_CAMPAIGN: Check = { kind: "campaign", store: "postgres", strikes: 2, needs: "postgres" };

/** Each has a test of its own as well; here the campaigns have to notice, by what real processes do. */
export const CAMPAIGN_MUTANTS: readonly Mutant[] = [
  {
    name: "serves from a ledger that rows were taken away from",
    file: "packages/broker/src/store/table-sums.ts",
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
    file: "packages/broker/src/store/lease-time.ts",
    find: "Math.max(elapsedMs, onWallMs) < leaseMs && Math.abs(onWallMs - elapsedMs) <= leaseMs * MAX_CLOCK_SKEW",
    replace: "elapsedMs < leaseMs && onWallMs > -leaseMs * MAX_CLOCK_SKEW",
    caughtBy: REPLICA_CAMPAIGN,
  },
];
