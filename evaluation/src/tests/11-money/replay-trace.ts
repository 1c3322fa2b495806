import { fits } from "@resource-broker/base";
import {
  apply,
  type Command,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  type Ledger,
  type Policy,
  type Reply,
  type ReservationRequest,
} from "@resource-broker/domain";
import { cluster, request } from "@resource-broker/domain/testing";
import { type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { costOf, type ListPrices, type TraceRequest } from "./trace.ts";

const STARTS_AT = Date.UTC(2026, 0, 5);
const GIB = 2 ** 30;
/** What every provider has. */
export const GIB_PER_CPU = 4;

/** How a provider is chosen. `random` takes anyone with room; the others are weights of the broker's policy. */
export const POLICIES = ["balanced", "headroom only", "cheapest", "random"] as const;
export type PolicyName = (typeof POLICIES)[number];

const WEIGHTS: Readonly<Record<Exclude<PolicyName, "random">, Policy["weights"]>> = {
  balanced: DEFAULT_POLICY.weights,
  "headroom only": { resources: 1, cost: 0 },
  cheapest: { resources: 0, cost: 1 },
};

export interface Provider {
  readonly cluster: string;
  readonly cpus: number;
}

/** What became of one request; a refused one has no provider. */
export interface RequestOutcome {
  readonly provider?: string;
  readonly price?: number;
}

export interface TraceConditions {
  readonly prices: ListPrices;
  readonly providers: readonly Provider[];
  readonly seed: number;
}

/** Plays a trace through the broker's own `decide`, with a clock that jumps from request to request. */
export function replayTrace(
  trace: readonly TraceRequest[],
  policyName: PolicyName,
  conditions: TraceConditions,
): RequestOutcome[] {
  const { prices, providers, seed } = conditions;
  const policy: Policy = {
    ...DEFAULT_POLICY,
    version: policyName,
    weights: policyName === "random" ? DEFAULT_POLICY.weights : WEIGHTS[policyName],
    // Clusters advertise once: what they lend changes, what they have does not.
    stalenessMs: Number.MAX_SAFE_INTEGER,
    prices: { ...DEFAULT_POLICY.prices, currency: prices.currency },
  };
  const ledger = emptyLedger();
  const perform = (command: Command, now: number): Reply => {
    const { events, reply } = decide(ledger, command, { now, policy });
    for (const event of events) apply(ledger, event);
    return reply;
  };
  for (const { cluster: name, cpus } of providers) {
    const offer = prices.offers.find((each) => each.cluster === name);
    if (offer === undefined) throw new Error(`there is no price of ${name}`);
    const size = { cpu: cpus, memoryGi: cpus * GIB_PER_CPU };
    const advertisement = cluster(name, { ...size, more: { cost: costOf(offer, prices) } });
    perform({ kind: "advertise", advertisement }, STARTS_AT);
  }
  const random = seededRandom(seed).fork(POLICIES.indexOf("random"));

  return trace.map((ask, number) => {
    const now = STARTS_AT + ask.atMs;
    endWhatIsDue((command) => perform(command, now));
    const { durationMs } = ask;
    const wanted = request({ cpu: ask.cpuMillis / 1000, memoryGi: ask.memoryBytes / GIB }, { durationMs });
    const target = policyName === "random" ? anyWithRoom(ledger, wanted, random) : undefined;
    const reply = perform(
      {
        kind: "reserve",
        requester: ask.requester,
        request: target === undefined ? wanted : { ...wanted, target },
        reservationId: `rsv-${number}`,
        decisionId: `dec-${number}`,
      },
      now,
    );
    return outcomeOf(reply);
  });
}

function endWhatIsDue(perform: (command: Command) => Reply): void {
  for (;;) {
    const swept = perform({ kind: "expire-due" });
    if (swept.kind !== "swept" || !swept.hasMore) return;
  }
}

function outcomeOf(reply: Reply): RequestOutcome {
  if (reply.kind === "refused") return {};
  if (reply.kind !== "granted") throw new Error(`neither granted nor refused: ${JSON.stringify(reply)}`);
  const { provider, cost } = reply.reservation;
  return cost?.total === undefined ? { provider } : { provider, price: cost.total };
}

function anyWithRoom(ledger: Ledger, wanted: ReservationRequest, random: SeededRandom): string | undefined {
  const open = ledger.candidateTable.candidates.filter(({ available }) => fits(wanted.resources, available));
  return random.pick(open)?.clusterId;
}
