import { seededRandom } from "@resource-broker/testkit";
import type { Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { median } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { countText, markdownTable, numberText } from "../../report/format.ts";
import { advertise, advertisementFor, type Answer, release, requestFor, reserve } from "../subject/calls.ts";
import { baselineText, eachOf, type SideBySide, sideBySide } from "../subject/side-by-side.ts";
import { connectAll, openSubject, type Subject, settle } from "../subject/subject.ts";
import {
  ASKED,
  type BrokerRuns,
  type Exhaustion,
  exhaustionFaults,
  expectedGrants,
  freeCpu,
  type ProviderSize,
  splitOf,
} from "./results.ts";

/** Once refused, everybody asks so often again: a refusal must stay one. */
const REFUSALS_EACH = 3;

interface ExhaustionSetup {
  readonly name: string;
  readonly providers: readonly { readonly connection: Connection; readonly provider: ProviderSize }[];
  /** Each asks again and again, all at the same time. */
  readonly requesters: readonly Connection[];
  /** False: the broker has no call for it. */
  readonly canRelease: boolean;
  /** Between the last advertisement and the first request. */
  readonly settle: (connections: readonly Connection[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Asks until nothing is left, and a little longer. */
async function exhaust(setup: ExhaustionSetup): Promise<Exhaustion> {
  const { name, providers, requesters, canRelease, signal } = setup;
  for (const { connection, provider } of providers)
    await advertise(connection, advertisementFor(provider.clusterId, provider));
  await setup.settle([...requesters, ...providers.map(({ connection }) => connection)]);
  const answers: Answer[] = [];
  const request = requestFor(ASKED);
  const askOn = async (connection: Connection): Promise<Granted | undefined> => {
    let last: Granted | undefined;
    for (let refusals = 0; refusals < REFUSALS_EACH; ) {
      signal.throwIfAborted();
      const answer = await reserve(connection, request);
      answers.push(answer);
      if (answer.status !== 201) refusals++;
      else if (answer.id !== undefined) last = { connection, id: answer.id };
    }
    return last;
  };
  const [one] = (await Promise.all(requesters.map(askOn))).filter((granted) => granted !== undefined);
  const afterRelease = canRelease && one !== undefined ? { afterRelease: await reserveReleased(one) } : {};
  return {
    name,
    lenders: providers.map(({ provider }) => provider),
    askers: requesters.length,
    answers,
    ...afterRelease,
  };
}

interface Granted {
  readonly connection: Connection;
  readonly id: string;
}

/** What one gives back, another one gets: once. */
async function reserveReleased({ connection, id }: Granted): Promise<number[]> {
  await release(connection, id);
  const request = requestFor(ASKED);
  return [(await reserve(connection, request)).status, (await reserve(connection, request)).status];
}

const THEIRS = PREDECESSOR.exhaustion;
const SERIES_STYLES_BY_RUN: readonly Series["style"][] = ["ours", "third"];

function chartsOf(result: SideBySide<BrokerRuns>): readonly Chart[] {
  const asked = `${ASKED.cpuMillis}m / ${ASKED.memoryMi}Mi each`;
  const byProvider = (split: readonly number[]): Series["points"] =>
    split.map((y, at) => ({ x: `provider ${at + 1}`, y }));
  const [two] = result.ours.runs;
  return [
    {
      name: "1c-exhaustion-split",
      title: "Reservations until nothing is left",
      subtitle: `two clusters with room for 8 and 7, ${asked}, one request after the other`,
      kind: "bars",
      x: { label: "provider", scale: "names" },
      y: { label: "reservations granted", scale: "linear" },
      series: [
        ...eachOf(result).map(
          ({ subject, runs: [first] }, at): Series => ({
            label: subject,
            style: SERIES_STYLES_BY_RUN[at] ?? "fourth",
            points: byProvider(first === undefined ? [] : splitOf(first)),
          }),
        ),
        { label: "Go thesis, 2026, published", style: "theirs", points: byProvider(THEIRS.split) },
      ],
    },
    {
      name: "1c-exhaustion-free",
      title: "What each provider has left",
      subtitle: `after each request, ${asked}; the last ones are refused`,
      kind: "lines",
      x: { label: "requests so far", scale: "linear" },
      y: { label: "free", unit: "CPU", scale: "linear" },
      series: (two === undefined ? [] : freeCpu(two)).map(({ left }, at) => ({
        label: `this system, provider ${at + 1}`,
        style: SERIES_STYLES_BY_RUN[at] ?? "fourth",
        points: left.map((y, x) => ({ x, y })),
      })),
    },
  ];
}

function rowsOf({ subject, runs }: BrokerRuns): string[][] {
  return runs.map((each) => {
    const granted = each.answers.filter(({ status }) => status === 201);
    const refused = each.answers.filter(({ status }) => status === 409);
    const split = splitOf(each);
    return [
      `${subject}: ${each.name}`,
      `${countText(granted.length)} of ${countText(expectedGrants(each))}`,
      countText(refused.length),
      countText(each.answers.length - granted.length - refused.length),
      split.length > 8 ? `${Math.min(...split)} to ${Math.max(...split)}` : split.join(" / "),
      each.afterRelease?.join(", then ") ?? "no such call",
      `${numberText(median(granted.map(({ tookMs }) => tookMs)) ?? 0)} ms`,
    ];
  });
}

function findingsOf(result: SideBySide<BrokerRuns>): Findings {
  const [two] = result.ours.runs;
  const split = two === undefined ? [] : splitOf(two);
  const granted = split.reduce((a, b) => a + b, 0);
  const expected = two === undefined ? 0 : expectedGrants(two);
  return {
    summary: [
      {
        metric: "1c reservations until nothing is left",
        ours: `${granted}/${expected}, split ${split.join("/")}`,
        theirs: `${THEIRS.succeeded}/${THEIRS.asked}, split ${THEIRS.split.join("/")}`,
        factor: granted === expected ? "the same" : "worse: see below",
      },
    ],
    text: [
      markdownTable(
        ["run", "granted", "refused (409)", "failed otherwise", "split", "after one release", "median"],
        eachOf(result).flatMap(rowsOf),
      ),
      "",
      ...baselineText(result, ({ runs }) => runs.flatMap(exhaustionFaults)),
      "The predecessor stopped at the fifteenth request; here everybody goes on asking, so that the refusals are tested, too.",
    ].join("\n"),
  };
}

/** Room for 8 and for 7, as the predecessor had. */
const TWO: readonly Omit<ProviderSize, "clusterId">[] = [
  { cpuMillis: 4000, memoryMi: 8192 },
  { cpuMillis: 3500, memoryMi: 8192 },
];
const MANY_CLUSTERS = {
  smoke: { lenders: 4, askers: 4 },
  quick: { lenders: 10, askers: 16 },
  full: { lenders: 40, askers: 50 },
};

function runOne(context: Context): Promise<BrokerRuns> {
  return withCleanup(async (onCleanup) => {
    const subject = await openSubject(context, onCleanup);
    context.progress(0.1, "two clusters, one request after the other");
    const runs = [
      await exhaustWith(subject, context, { name: "two clusters, one at a time", sizes: TWO, requesters: 1 }),
    ];
    // Somebody else's broker cannot be given a second fleet of clusters: it knows those of the folder and no others.
    if (subject.broker !== undefined) {
      const { lenders, askers } = MANY_CLUSTERS[context.size];
      context.progress(0.5, `${lenders} clusters, ${askers} ask at the same time`);
      const sizes = randomSizes(context.seed, lenders);
      runs.push(
        await exhaustWith(subject, context, {
          name: `${lenders} clusters, ${askers} at a time`,
          sizes,
          requesters: askers,
        }),
      );
    }
    return { subject: subject.label, runs };
  });
}

interface Plan {
  readonly name: string;
  readonly sizes: readonly Omit<ProviderSize, "clusterId">[];
  readonly requesters: number;
}

/** Clusters of their own for every run: those of the run before are full. */
function exhaustWith(
  subject: Subject,
  { signal }: Context,
  { name, sizes, requesters }: Plan,
): Promise<Exhaustion> {
  return withCleanup(async (onCleanup) => {
    const offset = subject.broker === undefined || requesters === 1 ? 0 : 1 + TWO.length;
    const identities = subject.identities(offset + requesters + sizes.length).slice(offset);
    const connections = await connectAll(subject, identities, { later: onCleanup });
    const providers = connections.slice(requesters).map((connection, at) => {
      const size = sizes[at] ?? { cpuMillis: 0, memoryMi: 0 };
      return { connection, provider: { clusterId: connection.clusterId, ...size } };
    });
    const canRelease = subject.broker !== undefined;
    return exhaust({
      name,
      providers,
      requesters: connections.slice(0, requesters),
      canRelease,
      settle: (some) => settle(subject, some, signal),
      signal,
    });
  });
}

/** Some run out of CPU first, some of memory, some leave a rest that fits nobody. */
function randomSizes(seed: number, count: number): Omit<ProviderSize, "clusterId">[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    cpuMillis: random.between(400, 9000),
    memoryMi: random.between(200, 4500),
  }));
}

export const exhaustionTest: EvaluationTest<SideBySide<BrokerRuns>> = {
  id: "1c",
  title: "Exhaustion: reserve until nothing is left",
  method: [
    `A real broker process over mTLS. Two clusters advertise room for 8 and 7 reservations of ${ASKED.cpuMillis}m CPU and ${ASKED.memoryMi}Mi; a third one asks`,
    "until it has been refused three times, then releases one reservation and asks twice more. Then the same with a crowd: many clusters of random sizes (from",
    "the seed; some run out of CPU first, some of memory) and many askers at the same time. Counted from the replies, a second time: how many each cluster could",
    "lend, and how many it did. Every refusal must be 409 and name every cluster as full. With `--baseline` the first part runs on the other broker, too, with clusters from the folder, ten seconds",
    "after they advertised; what it does wrong is told beside its figures, and is no fault of this system.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 3, quick: 4, full: 8 })[size],
  run: (context) => sideBySide(context, runOne),
  faults: ({ ours }) => ours.runs.flatMap(exhaustionFaults).map((fault) => `${ours.subject}: ${fault}`),
  charts: chartsOf,
  findings: findingsOf,
};
