import { type Mutant, testFile } from "./mutant.ts";

const HTTP = "packages/broker/src/interface/http";
const OBJECTS = "packages/broker/src/interface/kubernetes/reservations";
const TRANSPORT = "packages/agent/src/transport/kubernetes";
const ENGINE = "packages/broker/src/engine";
const CALLS = testFile(`${HTTP}/routes/queue.test.ts`);
const ENGINE_TEST = testFile(`${ENGINE}/engine.test.ts`);

/** What callers see of requests that wait, and what is recorded of those that are refused again and again. */
export const WAITING_CALL_MUTANTS: readonly Mutant[] = [
  {
    name: "answers a retry as if the request did not wait any more",
    file: `${HTTP}/routes/reservations.ts`,
    find: '    status: waiting.phase === "Pending" ? 202 : 200,',
    replace: "    status: isReplay ? 200 : 202,",
    caughtBy: CALLS,
  },
  {
    name: "lets requests of older agents wait",
    file: `${HTTP}/routes/reservations.ts`,
    find: "const mayWait = wait !== undefined && protocol >= MARKET_PROTOCOL;",
    replace: "const mayWait = wait !== undefined;",
    caughtBy: CALLS,
  },
  {
    name: "answers a retry of an older agent with a request that waits",
    file: `${HTTP}/routes/reservations.ts`,
    find: "        if (protocol < MARKET_PROTOCOL) throw waitsAlready(reply.waiting);\n",
    replace: "",
    caughtBy: CALLS,
  },
  {
    name: "shows older agents requests that wait",
    file: `${HTTP}/route.ts`,
    find: "  return caller.isAdmin || protocol >= MARKET_PROTOCOL;",
    replace: "  return caller.isAdmin || protocol < MARKET_PROTOCOL + 1;",
    caughtBy: CALLS,
  },
  {
    name: "sends older agents events of requests that wait",
    file: `${HTTP}/stream/stream-hub.ts`,
    find: "({ protocol }) => protocol >= MARKET_PROTOCOL",
    replace: "({ protocol }) => protocol < MARKET_PROTOCOL + 1",
    caughtBy: CALLS,
  },
  {
    name: "shows every cluster who waits",
    file: "packages/broker/src/interface/shared/render-waiting.ts",
    find: "  return isAdmin || requester === clusterId;",
    replace: "  return isAdmin || requester.length + clusterId.length > 0;",
    caughtBy: CALLS,
  },
  {
    name: "shows admins the keys of requests that wait",
    file: "packages/broker/src/interface/shared/render-waiting.ts",
    find: "isRequester: reader.clusterId === requester,",
    replace: "isRequester: reader.clusterId.length > 0,",
    caughtBy: CALLS,
  },
  {
    name: "shows one more waiting request than the page has",
    file: "packages/broker/src/interface/insight/queue-list.ts",
    find: "index < limit;",
    replace: "index <= limit;",
    caughtBy: CALLS,
  },
  {
    name: "lets one more request wait than the policy allows",
    file: "packages/domain/src/ledger/decide-reserve.ts",
    find: "  if (ledger.waiting.pendingCount >= max)",
    replace: "  if (ledger.waiting.pendingCount > max)",
    caughtBy: CALLS,
  },
  {
    name: "counts the waiting requests of a cluster instead of its tenant",
    file: "packages/domain/src/ledger/decide-reserve.ts",
    find: "    if (tenantOf(policy, requester, namespace) === tenant) own += entries.length;",
    replace:
      "    if (tenantOf(policy, requester, `${namespace}`.slice(0, 0)) === tenant) own += entries.length;",
    caughtBy: CALLS,
  },
  {
    name: "refuses quotes while waiting requests go first",
    file: `${ENGINE}/ledger-pair.ts`,
    find: "{ ...this.#committed, isSettled: true, settledOn: utcDay(moment.now) }",
    replace: "{ ...this.#committed }",
    caughtBy: CALLS,
  },
  {
    name: "refuses an object for good while waiting requests go first",
    file: "packages/broker/src/interface/kubernetes/reservations/reservation-calls.ts",
    find: '      if (code === "overloaded") throw faultOf(reply);\n',
    replace: "",
    caughtBy: testFile("packages/broker/src/interface/kubernetes/reservations/reservation-calls.test.ts"),
  },
  {
    name: "lets two tenants claim one namespace by a pattern",
    file: "packages/contract/src/policy/policy-mapping.ts",
    find: "each.name !== name && overlap(",
    replace: "each.name !== name && each.pattern === pattern && overlap(",
    caughtBy: testFile("packages/contract/src/policy/policy.test.ts"),
  },
  {
    name: "counts every grant as one from the queue",
    file: "packages/broker/src/metrics/queue-metrics.ts",
    find: "  return reservation.generation > 1;",
    replace: "  return reservation.generation > 0;",
    caughtBy: testFile("packages/broker/src/metrics/metrics.test.ts"),
  },
  {
    name: "records every repeated refusal",
    file: `${ENGINE}/recorded-refusals.ts`,
    find: "    const id = this.#recorded.get(decision.requester)?.get(digestOf(decision));",
    replace: '    const id = this.#recorded.get("")?.get(digestOf(decision));',
    caughtBy: ENGINE_TEST,
  },
  {
    name: "answers a repeated request with a refusal for other reasons",
    file: `${ENGINE}/recorded-refusals.ts`,
    find: "policyVersion, JSON.stringify(refusedBy), ...reasons.sort()];",
    replace: "policyVersion, `${Object.keys(refusedBy).length + reasons.length}`.slice(0, 0)];",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "names a recorded refusal that was never written",
    file: `${ENGINE}/create-engine.ts`,
    find: "    const isEmpty = batch.entries.length === 0",
    replace: "    this.#refusals.committed(batch);\n    const isEmpty = batch.entries.length === 0",
    caughtBy: ENGINE_TEST,
  },
  {
    name: "a waiting object is let go before it has left the queue",
    file: `${OBJECTS}/plan-reservation.ts`,
    find: "  return own !== undefined && !isFinal(own.phase)",
    replace: "  return own !== undefined && isReservation(own) && !isFinal(own.phase)",
    caughtBy: testFile(`${OBJECTS}/plan-waiting.test.ts`),
  },
  {
    name: "a waiting object that the ledger does not know waits for ever",
    file: `${OBJECTS}/plan-reservation.ts`,
    find: "  if (!isDecided(state.object)) return",
    replace: "  if (!isDecided(state.object) && !isWaiting(state.object)) return",
    caughtBy: testFile(`${OBJECTS}/plan-waiting.test.ts`),
  },
  {
    name: "a waiting object shows its place as often as it matters",
    file: `${OBJECTS}/plan-waiting.ts`,
    find: "  if (leftMs > 0) return",
    replace: "  if (leftMs > PLACE_EVERY_MS) return",
    caughtBy: testFile(`${OBJECTS}/plan-waiting.test.ts`),
  },
  {
    name: "a waiting object that timed out is a reservation for its agent",
    file: `${TRANSPORT}/read-reservation.ts`,
    find: "isWhole && !isOfQueue(object) && !isRefused(object)",
    replace: "isWhole && !isRefused(object)",
    caughtBy: testFile(`${TRANSPORT}/waiting.test.ts`),
  },
  {
    name: "a waiting object is made for a broker that took over and has no queue",
    file: `${TRANSPORT}/broker-health.ts`,
    find: "[KUBE_ANNOTATION.protocol] ?? 0",
    replace: "[KUBE_ANNOTATION.protocol] ?? protocol",
    caughtBy: testFile(`${TRANSPORT}/waiting.test.ts`),
  },
  {
    name: "a waiting object of a cluster without an agent is passed over",
    file: "packages/domain/src/queue/passed-over.ts",
    find: "if (account?.advertisement === undefined) return false;",
    replace: "if (account === undefined) return false;",
    caughtBy: testFile("packages/domain/src/queue/waiting.test.ts"),
  },
];
