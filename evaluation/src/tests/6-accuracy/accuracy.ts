import { seededRandom } from "@resource-broker/testkit";
import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { type AccuracySetup, openSetup } from "./accuracy-setup.ts";
import { NAMED, NAMED_SCENARIOS, plainRequest } from "./named-scenarios.ts";
import type { OracleRules } from "./oracle.ts";
import { randomClusters, randomRequest } from "./random-scenario.ts";
import { type AccuracyResult, chartsOf, findingsOf, TRIALS_EACH } from "./show.ts";
import type { Check } from "./verdict.ts";

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
