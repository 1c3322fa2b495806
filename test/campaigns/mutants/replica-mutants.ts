import { type Mutant, testFile } from "./mutant.ts";

const POSTGRES = "packages/broker/src/store/postgres";
/** Runs against a real PostgreSQL. */
const STORE = { ...testFile(`${POSTGRES}/postgres-store.test.ts`), needs: "postgres" as const };

const KUBERNETES = "packages/broker/src/store/kubernetes";
const ELECTOR = "packages/broker/src/store/common/leader-elector.ts";

/** One plant for both stores: the tests of each of them must catch it. */
const LEASE_RUN_OUT = {
  file: ELECTOR,
  find: "isLeaseValid(renewedAt, leaseTime(clock), leaseMs))",
  replace: "isLeaseValid(renewedAt, leaseTime(clock), 1000 * leaseMs))",
} as const;

const FENCING = { ...testFile(`${POSTGRES}/fencing.test.ts`), needs: "postgres" as const };

/** Several brokers on one database: who leads, and who may write. */
export const REPLICA_MUTANTS: readonly Mutant[] = [
  {
    name: "lets a deposed leader commit: the epoch is unchecked",
    file: `${POSTGRES}/postgres-lease.ts`,
    find: "WHERE one = 1 AND epoch = $1 AND commit_seq =",
    replace: "WHERE one = 1 AND $1::bigint > 0 AND commit_seq =",
    caughtBy: STORE,
  },
  {
    name: "takes a lease that another one holds",
    file: `${POSTGRES}/postgres-lease.ts`,
    find: "WHERE one = 1 AND (expires_at <= now() OR instance = $1)",
    replace: "WHERE one = 1 AND (expires_at IS NOT NULL OR instance = $1)",
    caughtBy: STORE,
  },
  {
    name: "believes that it leads though its lease has run out",
    ...LEASE_RUN_OUT,
    caughtBy: STORE,
  },
  {
    name: "believes that it leads though its lease on the API server has run out",
    ...LEASE_RUN_OUT,
    caughtBy: testFile(`${KUBERNETES}/kubernetes-store.test.ts`),
  },
  {
    name: "keeps a lease that another one held meanwhile, and does not ask who leads",
    file: ELECTOR,
    find: "    if (renewedAt !== undefined && !wasHeld) await lease.verify?.();\n",
    replace: "",
    caughtBy: testFile(`${KUBERNETES}/kubernetes-store.test.ts`),
  },
  {
    name: "lets a deposed leader trim: the epoch is unchecked there",
    file: `${POSTGRES}/ledger-database.ts`,
    find: "    await transact(session, { reads: [], plan: () => ({ writes, next }) });\n",
    replace: "    for (const write of writes) await session.send(write);\n",
    caughtBy: FENCING,
  },
  {
    name: "lets a deposed leader renew its successor's lease",
    file: `${POSTGRES}/postgres-lease.ts`,
    find: "WHERE one = 1 AND epoch = $1 RETURNING",
    replace: "WHERE one = 1 AND $1::bigint > 0 RETURNING",
    caughtBy: FENCING,
  },
  {
    name: "lets a deposed leader end its successor's term",
    file: `${POSTGRES}/postgres-lease.ts`,
    find: "SET expires_at = now() WHERE one = 1 AND epoch = $1`",
    replace: "SET expires_at = now() WHERE one = 1 AND $1::bigint > 0`",
    caughtBy: FENCING,
  },
  {
    name: "serves what it has read though its term was over by then",
    file: `${POSTGRES}/postgres-store.ts`,
    find: "    if (epoch !== term.epoch()) throw await writer.use(term.markLost);\n",
    replace: "    if (epoch < 0) throw await writer.use(term.markLost);\n",
    caughtBy: FENCING,
  },
  {
    name: "believes a monotonic clock that stood still while the machine was suspended",
    file: "packages/broker/src/store/common/leader-elector.ts",
    find: "  const onWallMs = now.wallMs - renewedAt.wallMs;\n",
    replace: "  const onWallMs = elapsedMs;\n",
    caughtBy: testFile("packages/broker/src/store/common/leader-elector.test.ts"),
  },
  {
    name: "gives its lease back while it still renews it",
    file: "packages/broker/src/store/common/leader-elector.ts",
    find: "      await renewals;\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/store/common/leader-elector.test.ts"),
  },
  {
    name: "talks on over its streams though another one may lead",
    file: "packages/broker/src/interface/http/stream/stream-hub.ts",
    find: "    if (deps.notLeading?.() !== undefined) return;\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/interface/http/stream/stream.test.ts"),
  },
  {
    name: "changes the tables of a ledger that another one leads",
    file: `${POSTGRES}/schema.ts`,
    find: "    if (epoch !== undefined && !(await isTerm(session, schema, epoch))) {\n",
    replace: "    if (epoch !== undefined && epoch < 0 && !(await isTerm(session, schema, epoch))) {\n",
    caughtBy: FENCING,
  },
  {
    name: "does not notice that rows were taken away from the database",
    file: `${POSTGRES}/read-ledger.ts`,
    find: "await readSum(session, schema, mapping.table));\n",
    replace: "sum);\n  await readSum(session, schema, mapping.table);\n",
    caughtBy: { ...testFile(`${POSTGRES}/open-ledger.test.ts`), needs: "postgres" },
  },
  {
    name: "removes old segments before the manifest lets go of them",
    file: `${KUBERNETES}/ledger-objects.ts`,
    find: '      dropped = oldest.map((segment) => segmentName("audit", segment));\n',
    replace:
      '      dropped = oldest.map((segment) => segmentName("audit", segment));\n      void segments.remove(dropped);\n',
    caughtBy: testFile(`${KUBERNETES}/history.test.ts`),
  },
  {
    name: "does not notice that a page of the ledger was replaced",
    file: `${KUBERNETES}/read-ledger.ts`,
    find: "records.sum, sumOf(content) ?? records.sum);\n",
    replace: "records.sum, records.sum ?? sumOf(content));\n",
    caughtBy: testFile(`${KUBERNETES}/commits.test.ts`),
  },
  {
    name: "takes a COMMIT that nobody confirmed for done",
    file: `${POSTGRES}/session.ts`,
    find: '  if (commit?.status !== "fulfilled") throw asFailure(failed?.reason, commit?.reason);\n',
    replace: '  if (commit?.status !== "fulfilled") return;\n',
    caughtBy: testFile(`${POSTGRES}/transaction.test.ts`),
  },
  {
    name: "answers from memory though another one may lead",
    file: "packages/broker/src/engine/create-engine.ts",
    find: "      else this.#requireLeadership();\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/engine/engine.test.ts"),
  },
  {
    name: "counts a renewal on the API server from its answer, so it leads for longer than others wait",
    file: `${KUBERNETES}/kubernetes-lease.ts`,
    find: "return { isHeld: true, sentAt, wasHeld: result.wasHeld };",
    replace: "return { isHeld: true, sentAt: leaseTime(clock), wasHeld: result.wasHeld };",
    caughtBy: testFile("packages/broker/src/store/leader-election.test.ts"),
  },
  {
    name: "counts a renewal in the database from its answer, so it leads for longer than others wait",
    file: `${POSTGRES}/postgres-lease.ts`,
    find: "if (isHeld) return { isHeld, sentAt, wasHeld: true };",
    replace: "if (isHeld) return { isHeld, sentAt: leaseTime(clock), wasHeld: true };",
    caughtBy: testFile("packages/broker/src/store/leader-election.test.ts"),
  },
  {
    name: "202: forgets who waits when it writes its log anew",
    file: `${KUBERNETES}/records.ts`,
    find: '  for (const entry of waiting.values()) yield line(["waiting", entry]);\n',
    replace: "  if (waiting.size < 0) return;\n",
    caughtBy: testFile(`${KUBERNETES}/records.test.ts`),
  },
];
