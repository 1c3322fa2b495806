import { type Mutant, testFile } from "./mutant.ts";

const CLI = "apps/cli/src";
const QUEUE = testFile("apps/cli/e2e/broker/queue.test.ts");

/** What brokerctl shows of the queue, and how it waits. */
export const CLI_MUTANTS: readonly Mutant[] = [
  {
    name: "brokerctl lets an admin reserve for no cluster",
    file: `${CLI}/reservations/read-request.ts`,
    find: "if (named === undefined && isAdmin) {",
    replace: 'if (named === undefined && isAdmin && name === "") {',
    caughtBy: testFile("apps/cli/src/run.test.ts"),
  },
  {
    name: "brokerctl check proposes a flag that names the broker",
    file: `${CLI}/check/check-cluster.ts`,
    find: ', contextFlag: "--kube-context", namespace }',
    replace: ", namespace }",
    caughtBy: testFile("apps/cli/src/check/check.test.ts"),
  },
  {
    name: "brokerctl takes a wait that is over in vain for a conflict",
    file: `${CLI}/queue/waiting.ts`,
    find: 'reason === "WaitTimeout" ? "unsatisfiable" : "conflict"',
    replace: '"conflict"',
    caughtBy: QUEUE,
  },
  {
    name: "brokerctl asks for a waiting request as often after an hour as at first",
    file: `${CLI}/queue/follow-waiting.ts`,
    find: "Math.min(pauseMs * GROWTH, LONGEST_POLL_MS)",
    replace: "FIRST_POLL_MS",
    caughtBy: QUEUE,
  },
  {
    name: "brokerctl gives up waiting when the broker is away for a moment",
    file: `${CLI}/connection/patience.ts`,
    find: "if (!mayPass(error) || host.now() >= giveUpAt) throw error;",
    replace: "throw error;",
    caughtBy: QUEUE,
  },
  {
    name: "brokerctl does not say on Ctrl-C that a request still waits",
    file: `${CLI}/queue/follow-waiting.ts`,
    find: "host.onInterrupt?.(() => `\\n${stillWaits(id)}`)",
    replace: "host.onInterrupt?.(() => id)",
    caughtBy: QUEUE,
  },
  {
    name: "brokerctl calls a cluster drained that still lends without an end",
    file: `${CLI}/clusters/drain.ts`,
    find: "item.targetClusterID === id && isLive(item.status.phase)",
    replace:
      "item.targetClusterID === id && isLive(item.status.phase) && item.status.expiresAt !== undefined",
    caughtBy: QUEUE,
  },
  {
    name: "brokerctl blames a refusal of an older broker on the fleet",
    file: `${CLI}/connection/broker.ts`,
    find: "  throw tooOld(reply, call, fault) ?? fault;",
    replace: "  throw call.needs === 0 ? (tooOld(reply, call, fault) ?? fault) : fault;",
    caughtBy: QUEUE,
  },
  {
    name: "counts for a tenant only the first request of each line",
    file: "packages/domain/src/queue/tenant-status.ts",
    find: "(known?.waiting ?? 0) + entries.length",
    replace: "(known?.waiting ?? 0) + 1",
    caughtBy: testFile("packages/domain/src/queue/tenant-status.test.ts"),
  },
  {
    name: "tells a provider which tenant of the requester has reserved",
    file: "packages/contract/src/mapping/reservation.ts",
    find: 'tenant: view.role === "provider" ? undefined : reservation.tenant,',
    replace: "tenant: reservation.tenant,",
    caughtBy: testFile("packages/contract/src/mapping/reservation.test.ts"),
  },
];
