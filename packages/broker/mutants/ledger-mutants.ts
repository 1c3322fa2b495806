import { type Mutant, SIMULATION, testFile } from "./mutant.ts";

const LEDGER = "packages/domain/src/ledger";
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);
const CALLS = testFile(`${LEDGER}/calls.test.ts`);

/** The rules of the ledger: what may be lent, to whom, until when, and how often. */
export const LEDGER_MUTANTS: readonly Mutant[] = [
  {
    name: "frees a reservation twice",
    file: `${LEDGER}/entries.ts`,
    find: "  replaceTerm(provider, before, heldFor(ledger, provider, id));\n  enterLoan(requester, reservation);",
    replace:
      "  replaceTerm(provider, before, heldFor(ledger, provider, id));\n  if (!isLive(reservation.phase)) replaceTerm(provider, before, heldFor(ledger, provider, id));\n  enterLoan(requester, reservation);",
    caughtBy: SIMULATION,
  },
  {
    name: "lends what an ended reservation's pods still use",
    file: `${LEDGER}/account.ts`,
    find: "  return holds.hasEnded(id) ? usage.used : larger(usage.granted, usage.used);",
    replace: "  return holds.hasEnded(id) ? NO_RESOURCES : larger(usage.granted, usage.used);",
    caughtBy: SIMULATION,
  },
  {
    name: "lends holds that it does not know",
    file: `${LEDGER}/account.ts`,
    find: "  return holds.hasEnded(id) ? usage.used : larger(usage.granted, usage.used);",
    replace: "  return holds.hasEnded(id) ? usage.used : NO_RESOURCES;",
    caughtBy: SIMULATION,
  },
  {
    name: "ignores that guests use more than was granted",
    file: `${LEDGER}/account.ts`,
    find: "return usage === undefined ? live.granted : larger(live.granted, usage.used);",
    replace: "return live.granted;",
    caughtBy: MODEL,
  },
  {
    name: "forgets the key on a replay",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "  const id = (name === undefined ? undefined : ledger.keys.get(name)) ?? reservationId;",
    replace: "  const id = `${reservationId}-${ledger.reservations.size}`;",
    caughtBy: SIMULATION,
  },
  {
    name: "binds a key by a refusal",
    file: `${LEDGER}/decide-reserve.ts`,
    find: '    return { events: [{ kind: "refused", at: moment.now, decision }], reply: { kind: "refused", decision } };',
    replace:
      '    const closedKey = { requester, key: command.key ?? "", until: moment.now + 60_000 };\n    return { events: [{ kind: "refused", at: moment.now, decision }, { kind: "key-closed", at: moment.now, closedKey }], reply: { kind: "refused", decision } };',
    caughtBy: SIMULATION,
  },
  {
    name: "serves a request whose key was released",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "  if (name !== undefined && ledger.closedKeys.has(name)) {",
    replace: "  if (name === undefined && ledger.closedKeys.has(requester)) {",
    caughtBy: SIMULATION,
  },
  {
    name: "answers another request under the same key",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "  if (!isSameRequest(existing, request)) {",
    replace: "  if (!isSameRequest(existing, request) && existing.generation < 0) {",
    caughtBy: CALLS,
  },
  {
    name: "ends reservations a second too early",
    file: `${LEDGER}/decide-expire-due.ts`,
    find: "  const due = ledger.deadlines.due(now, SWEEP_LIMIT);",
    replace: "  const due = ledger.deadlines.due(now + 1000, SWEEP_LIMIT);",
    caughtBy: SIMULATION,
  },
  {
    name: "renews what has expired and was not swept yet",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "  if (reservation.expiresAt !== undefined && reservation.expiresAt <= call.now) {",
    replace: "  if (reservation.expiresAt !== undefined && reservation.expiresAt <= 0) {",
    caughtBy: SIMULATION,
  },
  {
    name: "lets a renewal shorten a reservation",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "    if (reservation.expiresAt === undefined || reservation.expiresAt >= expiresAt)",
    replace: "    if (reservation.expiresAt === undefined)",
    caughtBy: CALLS,
  },
  {
    name: "releases what has ended already",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "  if (isFinal(reservation.phase)) return unchanged(reservation);\n  const reason = by",
    replace: "  const reason = by",
    caughtBy: SIMULATION,
  },
  {
    name: "lets strangers release",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: '  if (reservation.requester !== by.clusterId && !by.isAdmin) return notTheParty("requester", id);\n',
    replace: "",
    caughtBy: CALLS,
  },
  {
    name: "forgets ended reservations while their pods run",
    file: `${LEDGER}/decide-expire-due.ts`,
    find: "  return isHeard && provider.usage.has(id)",
    replace: "  return isHeard && provider.usage.has(id) && now < 0",
    caughtBy: CALLS,
  },
  {
    name: "forgets ended reservations, and their keys, after an hour",
    file: `${LEDGER}/evolve.ts`,
    find: "        keepUntil: event.at + KEEP_ENDED_MS,",
    replace: "        keepUntil: event.at + KEEP_ENDED_MS / 24,",
    caughtBy: SIMULATION,
  },
  {
    name: "believes an advertisement that was overtaken",
    file: `${LEDGER}/decide-advertise.ts`,
    find: "  if (isOldNews(account, advertisement))",
    replace: "  if (isOldNews(account, advertisement) && now < 0)",
    caughtBy: SIMULATION,
  },
  {
    name: "believes an agent that was replaced",
    file: `${LEDGER}/decide-advertise.ts`,
    find: "account.replacedInstances.includes(instance)",
    replace: 'account.replacedInstances.includes(instance + "?")',
    caughtBy: SIMULATION,
  },
  {
    name: "lends from clusters it has not heard of for long",
    file: "packages/domain/src/deciding/filters.ts",
    find: "now - candidate.receivedAt > policy.stalenessMs",
    replace: "now - candidate.receivedAt > 30 * policy.stalenessMs",
    caughtBy: SIMULATION,
  },
  {
    name: "looks at how old an advertisement is, but not closely",
    file: "packages/domain/src/deciding/glance.ts",
    find: "oldest: now - policy.stalenessMs",
    replace: "oldest: now - 30 * policy.stalenessMs",
    caughtBy: SIMULATION,
  },
  {
    name: "does not look at memory",
    file: "packages/domain/src/resources/resource-vector.ts",
    find: "  if (isShort(request.memoryBytes, available.memoryBytes)) return false;\n",
    replace: "",
    caughtBy: SIMULATION,
  },
  {
    name: "lends from a cordoned cluster",
    file: "packages/domain/src/deciding/filters.ts",
    find: "  rejects: (candidate) => candidate.cordon !== undefined,",
    replace: "  rejects: (candidate) => candidate.cordon?.at === 0,",
    caughtBy: SIMULATION,
  },
  {
    name: "asks a provider again that has just refused",
    file: "packages/domain/src/deciding/filters.ts",
    find: "age < policy.refusalMemoryMs;",
    replace: "age < policy.refusalMemoryMs / 100;",
    caughtBy: SIMULATION,
  },
  {
    name: "loses a deadline when another one is taken out",
    file: `${LEDGER}/deadlines.ts`,
    find: "    if (last !== undefined && position < this.#heap.length) this.#settle(position, last);",
    replace: "    if (last !== undefined && position < this.#heap.length - 1) this.#settle(position, last);",
    caughtBy: testFile(`${LEDGER}/deadlines.test.ts`),
  },
];
