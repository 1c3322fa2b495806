import { type Mutant, testFile } from "./mutant.ts";

const CONSUMER = "packages/agent/src/liqo/consumer";
const PEERING = testFile(`${CONSUMER}/liqo-peering.test.ts`);
const TEARDOWN = testFile(`${CONSUMER}/plan-teardown.test.ts`);
const ESTABLISH = testFile(`${CONSUMER}/plan-establish.test.ts`);

/** How an agent peers and unpeers: each was a defect, or would have been one, with the real Liqo. */
export const PEERING_MUTANTS: readonly Mutant[] = [
  {
    name: "takes Liqo's role for a peering, without an Identity",
    file: `${CONSUMER}/foreign-cluster-state.ts`,
    find: 'return isProvider(foreignCluster) && identityOf(foreignCluster)?.status === "Ready";',
    replace: "return isProvider(foreignCluster);",
    caughtBy: PEERING,
  },
  {
    name: "peers anew without waiting until Liqo has let go",
    file: `${CONSUMER}/peer-work.ts`,
    find: "if (!isTerminating(await reads.foreignCluster(pair.liqoId))) return undefined;",
    replace: "if (reads !== undefined) return undefined;",
    caughtBy: PEERING,
  },
  {
    name: "unpeers in liqoctl's order: the rights go before Liqo has used them",
    file: `${CONSUMER}/peer-work.ts`,
    find: "const isGone = await endIdentity(pair, TERMINATION_MS, signal);",
    replace: "const isGone = true;",
    caughtBy: PEERING,
  },
  {
    name: "leaves a slice that has no Identity",
    file: `${CONSUMER}/plan-establish.ts`,
    find: 'return { kind: "remove-slice", slice };',
    replace: "return undefined;",
    caughtBy: PEERING,
  },
  {
    name: "waits for ever for slices that the replicator does not serve",
    file: `${CONSUMER}/plan-establish.ts`,
    find: "if (isServed || ageMs < REPLICATION_TIMEOUT_MS) return undefined;",
    replace: "if (isServed || ageMs >= 0) return undefined;",
    caughtBy: PEERING,
  },
  {
    name: "unpeers by force while the provider borrows here",
    file: `${CONSUMER}/plan-unpeer.ts`,
    find: "if (slicesFrom === 0 && !isConsumer(foreignCluster)) {",
    replace: "if (guests >= 0) {",
    caughtBy: TEARDOWN,
  },
  {
    name: "unpeers by force after the first failure",
    file: `${CONSUMER}/plan-unpeer.ts`,
    find: "if (unreachableForMs(foreignCluster, wallMs) < UNREACHABLE_MS) return undefined;",
    replace: "if (unreachableForMs(foreignCluster, wallMs) < 0) return undefined;",
    caughtBy: TEARDOWN,
  },
  {
    name: "calls a node ready that is forbidden everything at its provider",
    file: `${CONSUMER}/plan-establish.ts`,
    find: 'if (tenantStatus === "admitted" || tenantStatus === "unknown") return undefined;',
    replace: 'if (tenantStatus !== "terminating") return undefined;',
    caughtBy: ESTABLISH,
  },
];
