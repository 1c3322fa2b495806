import { seededRandom } from "@resource-broker/testkit";
import type { Chart } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { countText, markdownTable, plainRow } from "../../report/format.ts";
import { type AccuracySetup, openSetup } from "./accuracy-setup.ts";
import type { Check, OracleRules } from "./oracle.ts";
import { NAMED, NAMED_SCENARIOS, plainRequest, randomClusters, randomRequest } from "./random-scenario.ts";

/** How often each of the named scenarios is tried. */
const TRIALS_EACH = 5;

interface AccuracyResult {
  /** Each ask of each trial of each of the five scenarios. */
  readonly named: readonly (Check & {
    readonly scenario: string;
    readonly trial: number;
    readonly isAsStated: boolean;
  })[];
  readonly random: readonly Check[];
}

interface Tally {
  readonly name: string;
  readonly right: number;
  readonly ties: number;
  readonly all: number;
}

/** A trial of a scenario is right when all of its asks are. */
function tallies({ named, random }: AccuracyResult): Tally[] {
  const ofNamed = NAMED_SCENARIOS.map(({ name }): Tally => {
    const asks = named.filter(({ scenario }) => scenario === name);
    const trials = [...new Set(asks.map(({ trial }) => trial))];
    const right = trials.filter((each) =>
      asks.every(({ trial, verdict, isAsStated }) => trial !== each || (verdict !== "wrong" && isAsStated)),
    );
    return { name, right: right.length, ties: 0, all: trials.length };
  });
  const ties = random.filter(({ verdict }) => verdict === "tie").length;
  const right = random.filter(({ verdict }) => verdict !== "wrong").length;
  return [...ofNamed, { name: "random", right, ties, all: random.length }];
}

function chartsOf(result: AccuracyResult): readonly Chart[] {
  const shares = tallies(result);
  const percent = ({ right, all }: Tally): number => (all === 0 ? 0 : (100 * right) / all);
  return [
    {
      name: "6-accuracy",
      title: "Right decisions",
      subtitle: `five scenarios, ${TRIALS_EACH} times each, and ${countText(result.random.length)} random ones against a brute-force oracle`,
      kind: "bars",
      x: { label: "scenario", scale: "names" },
      y: { label: "decided as the rules say", unit: "%", scale: "linear" },
      series: [
        {
          label: "this system",
          style: "ours",
          points: shares.map((tally, at) => ({ x: shortName(at, tally), y: percent(tally) })),
        },
        {
          label: "Go thesis, 2026, published",
          style: "theirs",
          points: shares.map((tally, at) =>
            tally.name === "random" ? { x: shortName(at, tally) } : { x: shortName(at, tally), y: 100 },
          ),
        },
      ],
      notes: NAMED_SCENARIOS.map(({ name }, at) => `scenario ${at + 1}: ${name}`),
    },
  ];
}

const shortName = (at: number, { name }: Tally): string =>
  name === "random" ? "random" : `scenario ${at + 1}`;

function findingsOf(result: AccuracyResult): Findings {
  const shares = tallies(result);
  const [named, random] = [shares.slice(0, -1), shares.at(-1)];
  const sum = (of: (tally: Tally) => number): number => named.reduce((total, tally) => total + of(tally), 0);
  const refused = result.random.filter(({ got }) => got === "refused").length;
  const right = `${sum((tally) => tally.right)}/${sum((tally) => tally.all)}`;
  return {
    summary: [
      {
        metric: "6 right decisions, the five scenarios",
        ours: right,
        theirs: `${PREDECESSOR.accuracy.right}/${PREDECESSOR.accuracy.asked}`,
        factor: "the same",
      },
      plainRow(
        "6 right decisions, random scenarios",
        `${countText(random?.right ?? 0)}/${countText(random?.all ?? 0)}`,
      ),
    ],
    text: [
      markdownTable(
        ["scenario", "right", "of"],
        shares.map(({ name, right: good, all }) => [name, countText(good), countText(all)]),
      ),
      "",
      `Of the random scenarios ${countText(refused)} were rightly refused, each with a reason that holds for every cluster; ${countText(random?.ties ?? 0)} were ties that differ in the last digit of a score alone, where either choice counts as right.`,
      "Not covered here, but by tests of the broker: stale advertisements and lenders that refused somebody a moment ago (both need minutes to pass).",
    ].join("\n"),
  };
}

const RANDOM: Readonly<Record<Size, number>> = { smoke: 60, quick: 400, full: 1000 };
/** Beside the three named ones. */
const MORE_PROVIDERS = ["athens", "berlin", "delhi", "essen", "fiume", "genoa", "haifa", "izmir", "jena"];
const REQUESTERS = ["rome", "oslo", "tokyo"];
const PROVIDERS = [...NAMED, ...MORE_PROVIDERS];
/** So many loans are left standing between random scenarios: a decision sees those before it. */
const KEPT_RESERVATIONS = 20;
const RULES: OracleRules = {
  weights: { resources: 0.7, cost: 0.3 },
  currency: "EUR",
  rates: { USD: 0.92 },
  denied: { berlin: ["rome"], haifa: ["oslo", "rome"] },
};

function run(context: Context): Promise<AccuracyResult> {
  return withCleanup(async (onCleanup) => {
    const scene = await openSetup(context, onCleanup, {
      providers: PROVIDERS,
      requesters: REQUESTERS,
      rules: RULES,
    });
    context.progress(0.05, "five scenarios, five times each");
    const named = await runNamed(scene, context);
    return { named, random: await runRandom(scene, context) };
  });
}

async function runNamed(setup: AccuracySetup, { seed, signal }: Context): Promise<AccuracyResult["named"]> {
  const random = seededRandom(seed);
  const checks: AccuracyResult["named"][number][] = [];
  for (const { name, clusters, asks } of NAMED_SCENARIOS) {
    for (let trial = 1; trial <= TRIALS_EACH; trial++) {
      signal.throwIfAborted();
      await setup.set(clusters(random));
      for (const { wanted, expected } of asks) {
        const check = await setup.ask(plainRequest("tokyo", wanted));
        // Two judges: what the scenario says, and what the rules say of it.
        checks.push({ ...check, scenario: name, trial, isAsStated: check.got === expected });
      }
      await setup.releaseUntil(0);
    }
  }
  return checks;
}

async function runRandom(setup: AccuracySetup, { size, seed, signal, progress }: Context): Promise<Check[]> {
  const random = seededRandom(seed).fork(6);
  const checks: Check[] = [];
  let clusters = randomClusters(random, PROVIDERS);
  for (let number = 0; number < RANDOM[size]; number++) {
    signal.throwIfAborted();
    if (number % 20 === 0) progress(0.1 + (0.9 * number) / RANDOM[size], `random scenario ${number}`);
    await setup.set(clusters);
    checks.push(await setup.ask(randomRequest(random, { providers: PROVIDERS, requesters: REQUESTERS })));
    await setup.releaseUntil(KEPT_RESERVATIONS);
    // About half of them change: a broker slows a cluster down that advertises hundreds of times a second.
    const others = randomClusters(random, PROVIDERS);
    clusters = clusters.map((each, at) => (random.chance(0.5) ? each : (others[at] ?? each)));
  }
  return checks;
}

function faults({ named, random }: AccuracyResult): string[] {
  return [
    ...named
      .filter(({ verdict, isAsStated }) => verdict === "wrong" || !isAsStated)
      .map(
        ({ scenario, trial, expected, got }) => `${scenario}, trial ${trial}: ${got} instead of ${expected}`,
      ),
    ...random.flatMap(({ verdict, problem }, number) =>
      verdict === "wrong" ? [`random scenario ${number}: ${problem ?? ""}`] : [],
    ),
  ];
}

export const accuracyTest: EvaluationTest<AccuracyResult> = {
  id: "6",
  title: "Decision accuracy",
  method: [
    "A real broker process over mTLS. The predecessor's five scenarios, five times each with slightly different loads, must end as stated. Then random scenarios",
    "(from the seed): twelve clusters with random sizes, loads, GPUs, prices in three currencies (one without a rate), regions, labels, node shapes, cordons and",
    "lending rules; a random request with random constraints; about twenty older loans stand, so that what was lent before counts. Each answer is held against an",
    "**oracle**: the rules of deciding written down a second time from the design, by brute force, without a line of the broker's code",
    "(`evaluation/src/tests/6-accuracy/oracle.ts`). The winner must be the oracle's; a refusal must be right, and name every cluster with a reason that holds.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 3, quick: 8, full: 20 })[size],
  run,
  faults,
  charts: chartsOf,
  findings: findingsOf,
};
