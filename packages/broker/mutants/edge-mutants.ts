import { type Mutant, testFile } from "./mutant.ts";

const HTTP = "packages/broker/src/interface/http";
const DURABILITY = { ...testFile("packages/broker/e2e/durability.test.ts"), needs: "strace" as const };
const SQLITE = "packages/broker/src/store/sqlite";

/** What stands between the ledger and the world: the API, certificates, and the file. */
export const EDGE_MUTANTS: readonly Mutant[] = [
  {
    name: "does not notice that rows were taken away, added or put back",
    file: "packages/broker/src/store/table-sums.ts",
    find: "  if (found[0] === rows && found[1] === seals) return;\n",
    replace: "  if (rows >= 0 && seals >= 0) return;\n",
    caughtBy: testFile("packages/broker/src/store/sqlite/sqlite-store.test.ts"),
  },
  {
    name: "starts in the past when its write-ahead log was cut",
    file: "packages/broker/src/store/sqlite/sqlite-store.ts",
    find: "      insistOnLastCommit(directory, contents);\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/store/sqlite/last-commit.test.ts"),
  },
  {
    name: "believes what an agent says is available",
    file: "packages/contract/src/mapping/advertisement.ts",
    find: 'allocatable: reader.given(resources.allocatable, "resources.allocatable"),',
    replace: 'allocatable: reader.given(resources.available, "resources.allocatable"),',
    caughtBy: testFile("packages/contract/src/mapping/advertisement.test.ts"),
  },
  {
    name: "gives the same key of two clusters the same id",
    file: "packages/runtime/src/ids/reservation-name.ts",
    find: 'hash("sha256", `${requester}\\0${key}`, "buffer")',
    replace: 'hash("sha256", key, "buffer")',
    caughtBy: testFile(`${HTTP}/plumbing.test.ts`),
  },
  {
    name: "lets a cluster advertise for another one",
    file: `${HTTP}/routes/advertisements.ts`,
    find: "    if (dto.clusterID !== caller.clusterId) {",
    replace: '    if (dto.clusterID === "") {',
    caughtBy: testFile(`${HTTP}/bad-input.test.ts`),
  },
  {
    name: "takes a certificate with two names",
    file: `${HTTP}/identity.ts`,
    find: "  if (names.length > 1)",
    replace: "  if (names.length > 2)",
    caughtBy: testFile(`${HTTP}/mutual-tls.test.ts`),
  },
  {
    name: "keeps the reservation of a caller who hung up and had no key",
    file: `${HTTP}/routes/reservations.ts`,
    find: "    if (key === undefined && call.isCallerGone()) return",
    replace: "    if (key === undefined && call.isCallerGone() && caller.isAdmin) return",
    caughtBy: testFile(`${HTTP}/routes/routes.test.ts`),
  },
  {
    name: "lends before it knows what an older broker has lent",
    file: "packages/broker/src/app.ts",
    find: "    await takeOverObjects();\n",
    replace: "",
    caughtBy: testFile("packages/broker/e2e/go-take-over.test.ts"),
  },
  {
    name: "takes an older broker's reservations over at every start",
    file: "packages/broker/src/import-reservations.ts",
    find: "  if (engine.commitNumber > 0 || engine.ledger.reservations.size > 0) return;\n",
    replace: "",
    caughtBy: testFile("packages/broker/src/import-reservations.test.ts"),
  },
  {
    name: "skips what it cannot read of an older broker's reservations",
    file: "packages/broker/src/import-reservations.ts",
    find: "  if (unreadable.length > 0) throw",
    replace: "  if (unreadable.length > SHOWN) throw",
    caughtBy: testFile("packages/broker/src/import-reservations.test.ts"),
  },
  {
    name: "does not wait for the disk",
    file: `${SQLITE}/ledger-file.ts`,
    find: "        begin.run();\n        const next = write(batch);",
    replace:
      '        database.exec("PRAGMA synchronous = OFF");\n        begin.run();\n        const next = write(batch);',
    caughtBy: DURABILITY,
  },
  {
    name: "answers after a restart from what is only in the cache",
    file: `${SQLITE}/ledger-file.ts`,
    find: "  secureLog(file);\n",
    replace: "",
    caughtBy: DURABILITY,
  },
  {
    name: "opens a ledger that another process has open",
    file: `${SQLITE}/directory-lock.ts`,
    find: '    database.exec("BEGIN EXCLUSIVE");',
    replace: '    database.exec("BEGIN");',
    caughtBy: testFile(`${SQLITE}/processes.test.ts`),
  },
  {
    name: "writes over what another program wrote",
    file: `${SQLITE}/ledger-file.ts`,
    find: "    if (changes === 1) return next;",
    replace: "    if (changes <= 1) return next;",
    caughtBy: testFile(`${SQLITE}/ledger-file.test.ts`),
  },
  {
    name: "chains audit lines without the one before",
    file: "packages/broker/src/store/audit.ts",
    find: "`${previous.hash}\\n${sequence}\\n${text}`",
    replace: "`${sequence}\\n${text}`",
    caughtBy: testFile("packages/broker/src/store/audit.test.ts"),
  },
  {
    name: "does not look at a row's seal",
    file: `${SQLITE}/seal.ts`,
    find: '  if (row["seal"] === sealOf(table, cells)) return cells;',
    replace: '  if (row["seal"] !== undefined) return cells;',
    caughtBy: testFile(`${SQLITE}/verify.test.ts`),
  },
];
