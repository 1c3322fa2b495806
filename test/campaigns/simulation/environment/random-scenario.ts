import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";
import type { ProviderBehaviour } from "../actors/provider.ts";
import { drawRates, type FaultRates } from "./faults.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const NAMES = ["rome", "paris", "berlin", "tokyo", "quito"] as const;

const ML = { members: NAMES.map((cluster) => ({ cluster, namespaces: ["ml"] })), weight: 2, quota: {} };
/** A reservation without an end costs a few units a day, others a few thousandths. */
const BUDGETS = [undefined, 5000, 100_000, 20_000_000] as const;

/** What a seed makes of the world before anything happens in it. */
export interface Scenario {
  readonly clusters: readonly { readonly name: string; readonly habits: ProviderBehaviour }[];
  readonly policy: Policy;
  readonly maxWaiting: number;
  readonly rates: FaultRates;
  /** Clusters are invited and evicted, and show identity keys. */
  readonly hasMembers: boolean;
  /** Some requests wait for capacity. */
  readonly hasQueue: boolean;
  /** The longest time between two operations. */
  readonly maxIntervalMs: number;
}

export function randomScenario(random: SeededRandom): Scenario {
  const queue = random.fork(1);
  const money = random.fork(2);
  const market = random.fork(3);
  const preemption = preemptionIn(market);
  const isMarket = preemption.victims !== "none";
  const count = random.between(3, NAMES.length);
  return {
    clusters: NAMES.slice(0, count).map((name) => ({
      name,
      habits: {
        cpu: random.pick([4, 8, 16, 32]) ?? 8,
        gpus: random.below(3),
        protocol: random.chance(0.2) ? 1 : isMarket && market.chance(0.2) ? 2 : 3,
        refuses: random.pick([0, 0, 0.05, 0.2]) ?? 0,
        isBusy: random.chance(0.8),
        price: money.pick([undefined, 0.04, 0.04, 0.3]),
      },
    })),
    policy: {
      ...DEFAULT_POLICY,
      queue: {
        ...DEFAULT_POLICY.queue,
        maxPerTenant: queue.pick([100, 3]) ?? 100,
        holdAfterMs: queue.pick([5, 600]) === 5 ? 5 * SECOND_MS : 10 * MINUTE_MS,
        turnaroundMs: 2 * SECOND_MS,
        backfillMs: 10 * SECOND_MS,
      },
      preemption,
      tenants: queue.chance(0.5) ? {} : { ml: { ...ML, ...budget(money.pick(BUDGETS)) } },
      stalenessMs: random.pick([2 * MINUTE_MS, 2 * MINUTE_MS, 30 * SECOND_MS]) ?? 2 * MINUTE_MS,
      defaultTtlMs: random.pick([undefined, undefined, 40 * SECOND_MS]),
      activationTimeoutMs: random.pick([undefined, undefined, 15 * SECOND_MS]),
      requesterLostMs: random.pick([undefined, undefined, 45 * SECOND_MS]),
      refusalMemoryMs: random.pick([10 * MINUTE_MS, 20 * SECOND_MS]) ?? MINUTE_MS,
    },
    maxWaiting: random.pick([1000, 1000, 4]) ?? 1000,
    rates: drawRates(random),
    maxIntervalMs: random.pick([20, 500, 3000]) ?? 500,
    hasMembers: random.chance(0.5),
    hasQueue: queue.chance(0.5) || isMarket,
  };
}

/** In every other world some must give way to others, soon: worlds are short. */
function preemptionIn(random: SeededRandom): Policy["preemption"] {
  if (random.chance(0.5)) return DEFAULT_POLICY.preemption;
  return {
    victims: random.chance(0.3) ? "spot" : "lower-priority",
    minPriorityGap: 1,
    graceMs: random.pick([1, 4, 10].map((seconds) => seconds * SECOND_MS)) ?? SECOND_MS,
    maxUnderNotice: random.pick([0.05, 0.5, 1]) ?? 1,
    minRunMs: 2 * SECOND_MS,
  };
}

function budget(perDay: number | undefined) {
  return perDay === undefined ? {} : { budget: { perDay } };
}
