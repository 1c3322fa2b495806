import { type Mutant, testFile } from "./mutant.ts";

const LEDGER = "packages/domain/src/ledger";
const IMPORT = "packages/broker/src/import-reservations.ts";
const IMPORT_TEST = testFile("packages/broker/src/import-reservations.test.ts");
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);

/** Ways to book without a grant, and names that pass where they must not. */
export const ADOPTION_MUTANTS: readonly Mutant[] = [
  {
    name: "adopts holds on a ledger that has forgotten nothing",
    file: `${LEDGER}/unacceptable-offer.ts`,
    find: "  if (adoption === undefined || now >= adoption.until) {",
    replace: "  if (adoption === undefined) {",
    caughtBy: MODEL,
  },
  {
    name: "adopts holds that are younger than the ledger's memory",
    file: `${LEDGER}/unacceptable-offer.ts`,
    find: "  if (createdAt < adoption.since) return undefined;",
    replace: "  if (createdAt < adoption.until) return undefined;",
    caughtBy: MODEL,
  },
  {
    name: "adopts more than the provider has",
    file: `${LEDGER}/adoption.ts`,
    find: "  if (isZero(missing)) return undefined;",
    replace: "  if (isZero(missing) || !isZero(granted)) return undefined;",
    caughtBy: MODEL,
  },
  {
    name: "begins a ledger's memory anew with every start",
    file: "packages/broker/src/store/common/adoption-window.ts",
    find: "    if (commitNumber > 0 || records.adoption !== undefined) return contents;",
    replace: "    if (commitNumber < 0) return contents;",
    caughtBy: testFile("packages/broker/src/engine/engine.test.ts"),
  },
  {
    name: "serves Reservations that name no requester",
    file: "packages/broker/src/interface/kubernetes/reservations/plan-reservation.ts",
    find: "identity.requester === NOBODY && !mayBeUnnamed",
    replace: 'identity.requester === "" && !mayBeUnnamed',
    caughtBy: testFile("packages/broker/src/interface/kubernetes/reservations/plan-reservation.test.ts"),
  },
  {
    name: "takes cluster IDs with two dots in a row",
    file: "packages/domain/src/reservation/ids.ts",
    find: "export const DNS_SUBDOMAIN = `${LABEL}(?:\\\\.${LABEL})*`;",
    replace: "export const DNS_SUBDOMAIN = `${LABEL}(?:\\\\.+${LABEL})*`;",
    caughtBy: testFile("packages/domain/src/reservation/ids.test.ts"),
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
    file: IMPORT,
    find: "  if (engine.commitNumber > 0 || engine.ledger.reservations.size > 0) return;\n",
    replace: "",
    caughtBy: IMPORT_TEST,
  },
  {
    name: "skips what it cannot read of an older broker's reservations",
    file: IMPORT,
    find: "  if (unreadable.length > 0) throw",
    replace: "  if (unreadable.length > MAX_REPORTED) throw",
    caughtBy: IMPORT_TEST,
  },
  {
    name: "does not wait until it knows what an older broker has lent",
    file: "packages/broker/src/app.ts",
    find: "    if (needs.imports) await importReservations(",
    replace: "    if (needs.imports) void importReservations(",
    caughtBy: IMPORT_TEST,
  },
  {
    name: "takes nothing over from a kubeconfig without views",
    file: "packages/broker/src/settings/read-settings.ts",
    find: '=== "auto" && (views || isNamed);',
    replace: '=== "auto" && (views || objects || store);',
    caughtBy: IMPORT_TEST,
  },
  {
    name: "lends again what an older broker's borrowers use",
    file: IMPORT,
    find: 'status?.phase === "Reserved" || status?.phase === "Active"',
    replace: 'status?.phase === "Reserved"',
    caughtBy: IMPORT_TEST,
  },
  {
    name: "brings back what was deleted while no broker ran",
    file: IMPORT,
    find: "[expiresAt, deletionTimestamp].flatMap(",
    replace: "[expiresAt].flatMap(",
    caughtBy: IMPORT_TEST,
  },
  {
    name: "an agent offers reservations without their end",
    file: "packages/agent/src/transport/reservation-mapping.ts",
    find: "    createdAt,\n    expiresAt,\n",
    replace: "    createdAt,\n",
    caughtBy: testFile("packages/agent/src/transport/reservation-mapping.test.ts"),
  },
];
