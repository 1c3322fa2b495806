import { type Mutant, testFile } from "./mutant.ts";

const QUEUE = "packages/domain/src/queue";
const LEDGER = "packages/domain/src/ledger";
const MODEL = testFile(`${LEDGER}/ledger.model.test.ts`);
const PREEMPTION = testFile(`${QUEUE}/preemption.test.ts`);
const HTTP = "packages/broker/src/interface/http/routes";
const CALLS = testFile(`${HTTP}/preemption.test.ts`);
const AGENT = "packages/agent/src";
const AGENT_NOTICES = testFile(`${AGENT}/core/notices.test.ts`);
const NOTICES = testFile(`${QUEUE}/notices.test.ts`);

/** Requests for which others must give way: who may be a victim, when it ends, and for whom its capacity is. */
export const PREEMPTION_MUTANTS: readonly Mutant[] = [
  {
    name: "preempts a priority that is hardly lower",
    file: `${QUEUE}/preemption.ts`,
    find: "request.priority + minPriorityGap <= by.request.priority",
    replace: "request.priority + 0 * minPriorityGap <= by.request.priority",
    caughtBy: PREEMPTION,
  },
  {
    name: "preempts by the place in the queue",
    file: `${QUEUE}/preemption.ts`,
    find: '  if (request.tier === "spot" && by.request.tier !== "spot") return true;',
    replace: "  if (request.priority <= by.request.priority) return true;",
    caughtBy: PREEMPTION,
  },
  {
    name: "preempts a reservation that has just begun",
    file: `${QUEUE}/preemption.ts`,
    find: " || now - reservedAt < policy.preemption.minRunMs)",
    replace: " || reservedAt < policy.preemption.minRunMs)",
    caughtBy: PREEMPTION,
  },
  {
    name: "preempts where the requester knows of no notices",
    file: `${QUEUE}/preemption.ts`,
    find: "    return protocol >= MARKET_PROTOCOL && isOutranked",
    replace: "    return protocol <= MARKET_PROTOCOL && isOutranked",
    caughtBy: PREEMPTION,
  },
  {
    name: "preempts at a provider that waits for pods to leave",
    file: `${QUEUE}/preemption.ts`,
    find: "isZero(overcommitted) && !waitsForGuests(this.#ledger, clusterId);",
    replace: "isZero(overcommitted);",
    caughtBy: PREEMPTION,
  },
  {
    name: "preempts at a provider that has promised too much",
    file: `${QUEUE}/preemption.ts`,
    find: "return canTell && isZero(overcommitted) && ",
    replace: "return canTell && ",
    caughtBy: PREEMPTION,
  },
  {
    name: "gives notice to more reservations than allowed",
    file: `${QUEUE}/preemption.ts`,
    find: "Math.max(1, Math.floor(policy.preemption.maxUnderNotice * live))",
    replace: "Math.max(9, Math.floor(policy.preemption.maxUnderNotice * live))",
    caughtBy: PREEMPTION,
  },
  {
    name: "gives notice for one request again and again",
    file: `${QUEUE}/preemption.ts`,
    find: " || noticesAt.length >= MAX_NOTICES) return false;",
    replace: ") return false;",
    caughtBy: PREEMPTION,
  },
  {
    name: "gives notice to more victims than are needed",
    file: `${QUEUE}/victims.ts`,
    find: "    needed.delete(victim);\n",
    replace: "",
    caughtBy: PREEMPTION,
  },
  {
    name: "does not reprieve when the request no longer waits",
    file: `${LEDGER}/decide.ts`,
    find: "  return withReprieves(ledger, decideCommand(ledger, command, at), at);",
    replace: "  return decideCommand(ledger, command, at);",
    caughtBy: MODEL,
  },
  {
    name: "ends a victim for a request that cannot start",
    file: `${QUEUE}/victims.ts`,
    find: "entry === undefined || !mayStart(ledger, entry, context)",
    replace: "entry === undefined",
    caughtBy: NOTICES,
  },
  {
    name: "ends a victim though another end made that needless",
    file: `${LEDGER}/decide-expire.ts`,
    find: "  if (all.length === 0 && notices.length > 0)",
    replace: "  if (notices.length > 0)",
    caughtBy: NOTICES,
  },
  {
    name: "ends the victims at once",
    file: `${QUEUE}/decide-admit.ts`,
    find: "const until = at + policy.preemption.graceMs;",
    replace: "const until = at + 0 * policy.preemption.graceMs;",
    caughtBy: NOTICES,
  },
  {
    name: "renews a reservation under notice",
    file: `${LEDGER}/decide-party-calls.ts`,
    find: "    if (reservation.preemption !== undefined) return underNotice(",
    replace: "    if (reservation.preemption?.at === 0) return underNotice(",
    caughtBy: PREEMPTION,
  },
  {
    name: "lends to a short request what victims have given back",
    file: `${QUEUE}/kept.ts`,
    find: "  if (victims !== undefined) return false;\n",
    replace: "  if (victims?.length === 0) return false;\n",
    caughtBy: NOTICES,
  },
  {
    name: "keeps all of what is asked for while victims still hold it",
    file: `${LEDGER}/ledger.ts`,
    find: "  if (returnedBy === undefined && victims === undefined) return kept;",
    replace: "  if (returnedBy === undefined) return kept;",
    caughtBy: NOTICES,
  },
  {
    name: "keeps a nomination for ever though all victims ended in vain",
    file: `${QUEUE}/nominations.ts`,
    find: "  if (victims !== undefined) return hasWaitedInVain(ledger, entry, context.now);\n",
    replace: "  if (victims !== undefined) return hasWaitedInVain(ledger, entry, 0 * context.now);\n",
    caughtBy: NOTICES,
  },
  {
    name: "lets a place in the queue be taken over twice",
    file: `${LEDGER}/decide-reserve.ts`,
    find: "  if (preempted.resumedBy !== undefined || now",
    replace: "  if (now",
    caughtBy: NOTICES,
  },
  {
    name: "records another provider than the best for a notice",
    file: `${QUEUE}/preemption.ts`,
    find: "    highestPriority(a) - highestPriority(b) ||\n",
    replace: "",
    caughtBy: PREEMPTION,
  },
  {
    name: "gives notice for a request that exceeds its budget",
    file: `${QUEUE}/preemption.ts`,
    find: "suitability(this.#ledger, entry, this.#context)",
    replace:
      "suitability(this.#ledger, entry, { ...this.#context, policy: { ...this.#context.policy, tenants: {} } })",
    caughtBy: PREEMPTION,
  },
  {
    name: "ends a victim for a request that exceeds its budget",
    file: `${QUEUE}/victims.ts`,
    find: "suitability(ledger, entry, context)(provider)",
    replace:
      "suitability(ledger, entry, { ...context, policy: { ...context.policy, tenants: {} } })(provider)",
    caughtBy: PREEMPTION,
  },
  {
    name: "is settled though a plan that has moved lets somebody in",
    file: `${QUEUE}/kept.ts`,
    find: "if (plan === undefined || plan.provider !== before.provider) return true;",
    replace: "if (plan === undefined) return true;",
    caughtBy: testFile(`${QUEUE}/plans.test.ts`),
  },
  {
    name: "tells the agents nothing of a notice",
    file: "packages/broker/src/interface/shared/capacity-watch.ts",
    find: '      case "preempting":\n',
    replace: "",
    caughtBy: CALLS,
  },
  {
    name: "forgets whose place a request takes over",
    file: `${HTTP}/reservations.ts`,
    find: "present({ protocol, namespace, resumes, wait:",
    replace: "present({ protocol, namespace, wait:",
    caughtBy: CALLS,
  },
  {
    name: "shows the end of a notice that is over",
    file: "packages/contract/src/mapping/reservation.ts",
    find: "if (preemption === undefined || !isLive(phase)) return undefined;",
    replace: "if (preemption === undefined) return undefined;",
    caughtBy: testFile("packages/contract/src/mapping/reservation.test.ts"),
  },
  {
    name: "loads a policy with victims where every cluster may claim any priority",
    file: "packages/contract/src/policy/preemption-mapping.ts",
    find: "?.maxPriority !== undefined) return [];",
    replace: "?.maxPriority === undefined) return [];",
    caughtBy: testFile("packages/contract/src/policy/policy.test.ts"),
  },
  {
    name: "names the victims of a notice to the requester that they give way to",
    file: "packages/contract/src/mapping/decision.ts",
    find: 'notice: view === "admin" ? notice && fromNotice(notice) : undefined,',
    replace: "notice: notice && fromNotice(notice),",
    caughtBy: CALLS,
  },
  {
    name: "explains the victims of a notice to the requester that they give way to",
    file: "packages/contract/src/mapping/decision.ts",
    find: 'explain(view === "admin" ? decision : withoutNotice)',
    replace: "explain(decision)",
    caughtBy: testFile("packages/contract/src/mapping/decision.test.ts"),
  },
  {
    name: "cordons a node without a mark, and leaves it so after the reprieve",
    file: `${AGENT}/liqo/requester/plan-establish.ts`,
    find: "[patch(RESERVATION_NODES, node, CORDONED)]",
    replace: "[patch(RESERVATION_NODES, node, { spec: CORDONED.spec })]",
    caughtBy: testFile(`${AGENT}/liqo/requester/liqo-requester.test.ts`),
  },
  {
    name: "takes the cordon of a person off with the notice",
    file: `${AGENT}/liqo/requester/plan-establish.ts`,
    find: "return isMarked ? [patch(RESERVATION_NODES, node, UNCORDONED)] : [];",
    replace: "return isMarked || spec?.unschedulable ? [patch(RESERVATION_NODES, node, UNCORDONED)] : [];",
    caughtBy: testFile(`${AGENT}/liqo/requester/plan-establish.test.ts`),
  },
  {
    name: "forgets a notice when the agent restarts",
    file: "packages/agent/src/transport/reservation-mapping.ts",
    find: "    preempting: reservation.preempting,\n",
    replace: "",
    caughtBy: testFile(`${AGENT}/manifests/instructions.test.ts`),
  },
  {
    name: "records a notice again after a restart",
    file: `${AGENT}/requester/reservation-instruction-controller.ts`,
    find: ": shownNotice(targets.instruction?.status);",
    replace: ": undefined;",
    caughtBy: AGENT_NOTICES,
  },
  {
    name: "asks again for a request that may not wait",
    file: `${AGENT}/requester/plan-request.ts`,
    find: 'endReason !== "Preempted" || request.spec.queue !== true',
    replace: 'endReason !== "Preempted"',
    caughtBy: AGENT_NOTICES,
  },
  {
    name: "forgets whose place in the queue a request asks for",
    file: `${AGENT}/requester/request-status.ts`,
    find: 'return phase === "Pending" ? present({ resumes: before?.resumes }) : {};',
    replace: "return phase === undefined ? present({ resumes: before?.resumes }) : {};",
    caughtBy: AGENT_NOTICES,
  },
  {
    name: "gives up a request whose old place the broker does not give",
    file: `${AGENT}/requester/send-request.ts`,
    find: 'resumes !== undefined && isFault(error, "invalid", "malformed")',
    replace: 'resumes === "" && isFault(error, "invalid", "malformed")',
    caughtBy: AGENT_NOTICES,
  },
];
