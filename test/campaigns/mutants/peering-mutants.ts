import { type Mutant, testFile } from "./mutant.ts";

const PEERING = testFile("packages/agent/src/liqo/requester/liqo-peering.test.ts");
const UNPEER = testFile("packages/agent/src/liqo/requester/plan-peering.test.ts");
const ESTABLISH = testFile("packages/agent/src/liqo/requester/plan-establish.test.ts");

/** How an agent peers and unpeers: each was a defect, or would have been one, with the real Liqo. */
export const PEERING_MUTANTS: readonly Mutant[] = [
  {
    name: "takes Liqo's role for a peering, without an Identity",
    file: "packages/agent/src/liqo/requester/plan-peering.ts",
    find: 'return isProvider(foreignCluster) && identityOf(foreignCluster)?.status === "Ready";',
    replace: "return isProvider(foreignCluster);",
    caughtBy: PEERING,
  },
  {
    name: "peers anew without waiting until Liqo has let go",
    file: "packages/agent/src/liqo/requester/end-peering.ts",
    find: "if (!isTerminating(await reads.foreignCluster(pair.liqoId))) return undefined;",
    replace: "if (reads !== undefined) return undefined;",
    caughtBy: PEERING,
  },
  {
    name: "unpeers in liqoctl's order: the rights go before Liqo has used them",
    file: "packages/agent/src/liqo/requester/peering-jobs.ts",
    find: "const isGone = await endIdentity(pair, TERMINATION_MS, signal);",
    replace: "const isGone = true;",
    caughtBy: PEERING,
  },
  {
    name: "leaves a slice that has no Identity",
    file: "packages/agent/src/liqo/requester/plan-peering.ts",
    find: 'return act("SliceRemoved", message, remove(RESOURCE_SLICES, slice));',
    replace: 'return message === "" ? undefined : undefined;',
    caughtBy: PEERING,
  },
  {
    name: "waits for ever for slices that the replicator does not serve",
    file: "packages/agent/src/liqo/requester/plan-establish.ts",
    find: "if (isServed || ageMs < REPLICATION_TIMEOUT_MS) return undefined;",
    replace: "if (isServed || ageMs >= 0) return undefined;",
    caughtBy: PEERING,
  },
  {
    name: "unpeers by force while the provider borrows here",
    file: "packages/agent/src/liqo/requester/plan-peering.ts",
    find: "if (slicesFrom === 0 && !isConsumer(foreignCluster)) {",
    replace: "if (slicesFrom >= 0) {",
    caughtBy: UNPEER,
  },
  {
    name: "unpeers by force after the first failure",
    file: "packages/agent/src/liqo/requester/plan-peering.ts",
    find: "if (unreachableForMs(foreignCluster, wallMs) < UNREACHABLE_MS) return undefined;",
    replace: "if (unreachableForMs(foreignCluster, wallMs) < 0) return undefined;",
    caughtBy: UNPEER,
  },
  {
    name: "calls a node ready that is forbidden everything at its provider",
    file: "packages/agent/src/liqo/requester/plan-establish.ts",
    find: 'if (tenantStatus === "admitted" || tenantStatus === "unknown") return undefined;',
    replace: 'if (tenantStatus !== "terminating") return undefined;',
    caughtBy: ESTABLISH,
  },
];
