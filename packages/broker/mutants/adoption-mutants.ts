import { type Mutant, testFile } from "./mutant.ts";

const LEDGER = "packages/domain/src/ledger";
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
    file: "packages/broker/src/store/memory-begins.ts",
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
];
