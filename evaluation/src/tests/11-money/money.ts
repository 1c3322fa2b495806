import { seededRandom } from "@resource-broker/testkit";
import { type Chart, OURS, type Series, series } from "../../charts/chart.ts";
import { type Context, evaluationTest } from "../../evaluation-test.ts";
import { inTurn } from "../../measure/scope.ts";
import { countText, NOTHING, plainRow, tableOf } from "../../report/format.ts";
import { POLICIES, type PolicyName, type Provider, replayTrace } from "./replay-trace.ts";
import { metricsOf, type PolicyMetrics, wrongOutcomes } from "./results.ts";
import { makeTrace, readListPrices } from "./trace.ts";

const REQUESTS = 10_000;
const REQUESTERS = 12;
const LASTS_MS = 14 * 24 * 3_600_000;
/** Cheap clusters are no larger than dear ones, or the cheapest policy would win by having the most room. */
const CPUS = [72, 88, 112, 72, 88, 112, 88, 72];

interface MoneyResult {
  readonly requests: number;
  readonly seed: number;
  readonly currency: string;
  readonly pricesTypedOn: string;
  readonly providers: readonly (Provider & { readonly perHour: number })[];
  readonly policies: readonly PolicyMetrics[];
  readonly wrong: readonly string[];
}

async function run(context: Context): Promise<MoneyResult> {
  const { seed } = context;
  const prices = await readListPrices();
  const providers = prices.offers.map(({ cluster, perHour }, index) => ({
    cluster,
    perHour,
    cpus: CPUS[index % CPUS.length] ?? 88,
  }));
  const random = seededRandom(seed);
  const trace = makeTrace({ random, count: REQUESTS, lastsMs: LASTS_MS, requesters: REQUESTERS });
  const setting = { trace, providers, lastsMs: LASTS_MS };
  const played = await inTurn(context, POLICIES, {
    doing: (policy) => `the trace, chosen by: ${policy}`,
    task: async (policy) => ({ policy, outcomes: replayTrace(trace, policy, { prices, providers, seed }) }),
  });
  return {
    requests: REQUESTS,
    seed,
    currency: prices.currency,
    pricesTypedOn: prices.typedOn,
    providers,
    policies: played.map((each) => metricsOf(each, setting)),
    wrong: played.flatMap((each) => wrongOutcomes(each, setting)),
  };
}

const SERIES_STYLES: Readonly<Record<PolicyName, Series["style"]>> = {
  balanced: "ours",
  "headroom only": "theirs",
  cheapest: "third",
  random: "fourth",
};

function chartsOf({ requests, pricesTypedOn, currency, providers, policies }: MoneyResult): readonly Chart[] {
  const subtitle = `one trace of ${countText(requests)} requests over 14 days, ${providers.length} providers at public list prices (typed ${pricesTypedOn})`;
  const byPolicy = (value: (metrics: PolicyMetrics) => number): Pick<Chart, "kind" | "x" | "series"> => ({
    kind: "bars",
    x: { label: "policy", scale: "names" },
    series: [
      series(
        OURS,
        "ours",
        policies.map((metrics) => ({ x: metrics.policy, y: value(metrics) })),
      ),
    ],
  });
  return [
    {
      name: "11-money-cost",
      title: "What lent capacity costs, by policy",
      subtitle,
      y: { label: "cost of 1,000 CPU-hours (with their memory)", unit: currency, scale: "linear" },
      ...byPolicy(({ costPerThousandCpuHours }) => costPerThousandCpuHours),
    },
    {
      name: "11-money-refusals",
      title: "Requests refused for want of room, by policy",
      subtitle,
      y: { label: `refused of ${countText(requests)}`, scale: "linear" },
      ...byPolicy(({ refused }) => refused),
    },
    {
      name: "11-money-spread",
      title: "Who lends how much, by policy",
      subtitle,
      kind: "bars",
      x: { label: "provider, cheapest first", scale: "names" },
      y: { label: "mean share of its CPU lent", unit: "%", scale: "linear" },
      series: policies.map(({ policy, utilisation }) => {
        const points = providers.map(({ cluster }) => ({
          x: cluster,
          y: Math.round(utilisation[cluster] ?? 0),
        }));
        return series(policy, SERIES_STYLES[policy], points);
      }),
      notes: [
        `standard deviation: ${policies.map(({ policy, spread }) => `${policy} ${spread.toFixed(1)}`).join(", ")} percentage points`,
      ],
    },
  ];
}

/** How far the price of a CPU-hour with one policy is from that with another, in percent of the other. */
function difference(one: PolicyMetrics | undefined, other: PolicyMetrics | undefined): string {
  if (one === undefined || other === undefined) return NOTHING;
  return Math.abs(100 * (one.costPerThousandCpuHours / other.costPerThousandCpuHours - 1)).toFixed(1);
}

export const moneyTest = evaluationTest<MoneyResult>({
  id: "11",
  title: "Money: what the choice of provider costs",
  method: [
    `One trace of ${countText(REQUESTS)} requests from a seed: 14 days with a busy day and a quiet night, 500m to 16 CPU, 1 to 8 GiB for each CPU,`,
    "10 minutes to 2 days (half of them under 3 hours). It is played four times through the broker's own pure `decide` and `apply`, with a clock that",
    "jumps from request to request: **balanced** (the default weights, 0.7 headroom and 0.3 cost), **headroom only**, **cheapest** (cost only) and **random**",
    "(anyone with room). No process and no network: nothing here depends on the machine. Prices are list prices from `evaluation/data/list-prices.json`",
    "(source and date of each in the file). Cost is price × amount × duration of everything granted. Every grant and refusal is counted a second time from",
    "the trace alone: no provider may lend more than it has, and nobody may be refused while somebody has room.",
  ].join("\n"),
  expectedSeconds: { smoke: 4, quick: 4, full: 4 },
  run,
  report: (result) => {
    const { policies, currency, providers, wrong } = result;
    const of = (name: PolicyName): PolicyMetrics | undefined =>
      policies.find(({ policy }) => policy === name);
    const [balanced, cheapest, random] = [of("balanced"), of("cheapest"), of("random")];
    return {
      faults: wrong,
      charts: chartsOf(result),
      summary: [
        plainRow(
          "11 cost of a CPU-hour, default policy",
          `${difference(balanced, random)} % below random, ${difference(balanced, cheapest)} % above cheapest`,
        ),
      ],
      text: [
        tableOf(policies, {
          policy: ({ policy }) => policy,
          granted: ({ granted }) => granted,
          refused: ({ refused }) => refused,
          [`cost, ${currency}`]: ({ cost }) => cost,
          [`${currency} for 1,000 CPU-hours`]: (each) => each.costPerThousandCpuHours.toFixed(2),
          "spread of lending, points": ({ spread }) => spread.toFixed(1),
        }),
        tableOf(providers, {
          provider: ({ cluster }) => cluster,
          CPU: ({ cpus }) => cpus,
          [`${currency} an hour for 4 vCPU / 16 GiB`]: ({ perHour }) => String(perHour),
        }),
        [
          `**Where the default is worse:** balanced pays ${difference(balanced, cheapest)} % more for a CPU-hour than cheapest, and only ${difference(balanced, random)} % less than choosing at random: headroom weighs 0.7 in it, and most of these prices are close together. What it buys for that is even lending and room for the next large request; whoever wants the money sets \`weights: { resources: 0.2, cost: 0.8 }\` or the like.`,
          "List prices are what nobody large pays, and the trace is made up: the figures rank policies, they promise no saving.",
        ].join("\n"),
      ],
    };
  },
});
