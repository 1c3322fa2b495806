import { seededRandom } from "@resource-broker/testkit";
import { type Chart, type Series, series, THEIRS } from "../charts/chart.ts";
import { type BySize, type Context, type Line, said } from "../evaluation-test.ts";
import type { Connection } from "../measure/load/connection.ts";
import { inScope } from "../measure/scope.ts";
import { median } from "../measure/statistics.ts";
import { PREDECESSOR } from "../predecessor.ts";
import { countText, tableOf } from "../report/format.ts";
import {
  advertiseSize,
  type Amounts,
  type Answer,
  NO_ANSWER,
  release,
  requestFor,
  reserve,
  SMALL as ASKED,
} from "./subject/calls.ts";
import { comparedTest, eachOf, type SideBySide } from "./subject/side-by-side.ts";
import { connectAll, openSubject, type Subject, settle } from "./subject/subject.ts";

interface ProviderSize extends Amounts {
  readonly clusterId: string;
}

/** One fleet, asked until nothing was left. */
interface Exhaustion {
  readonly name: string;
  readonly lenders: readonly ProviderSize[];
  /** How many asked at the same time. */
  readonly askers: number;
  /** In the order in which they came in. */
  readonly answers: readonly Answer[];
  /** After one reservation was released: is it lent once more, and only once? Absent where the broker knows no release. */
  readonly afterRelease?: readonly number[];
}

/** Of one broker. */
interface BrokerRuns {
  readonly subject: string;
  readonly runs: readonly Exhaustion[];
}

/** Once refused, everybody asks so often again: a refusal must stay one. */
const REFUSALS_EACH = 3;
/** Room for 8 and for 7, as the predecessor had. */
const TWO: readonly Amounts[] = [
  { cpuMillis: 4000, memoryMi: 8192 },
  { cpuMillis: 3500, memoryMi: 8192 },
];
const MANY_CLUSTERS: BySize<{ readonly lenders: number; readonly askers: number }> = {
  smoke: { lenders: 4, askers: 4 },
  quick: { lenders: 10, askers: 16 },
  full: { lenders: 40, askers: 50 },
};

async function measure(context: Context): Promise<BrokerRuns> {
  const subject = await openSubject(context);
  const { label } = subject;
  context.progress(0.1, "two clusters, one request after the other");
  const first = { name: "two clusters, one at a time", sizes: TWO, askers: 1 };
  const two = await inScope(context, (inner) => exhaust(inner, subject, first));
  // Somebody else's broker cannot be given a second fleet of clusters: it knows those of the folder and no others.
  if (subject.broker === undefined) return { subject: label, runs: [two] };
  const { lenders, askers } = MANY_CLUSTERS[context.size];
  context.progress(0.5, `${lenders} clusters, ${askers} ask at the same time`);
  const sizes = randomSizes(context.seed, lenders);
  const crowd = { name: `${lenders} clusters, ${askers} at a time`, sizes, askers };
  return { subject: label, runs: [two, await exhaust(context, subject, crowd)] };
}

/** Some run out of CPU first, some of memory, some leave a rest that fits nobody. */
function randomSizes(seed: number, count: number): Amounts[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    cpuMillis: random.between(400, 9000),
    memoryMi: random.between(200, 4500),
  }));
}

interface Plan {
  readonly name: string;
  readonly sizes: readonly Amounts[];
  readonly askers: number;
}

/** Asks until nothing is left, and a little longer. Clusters of their own for every run: those of the run before are full. */
async function exhaust(
  context: Context,
  subject: Subject,
  { name, sizes, askers }: Plan,
): Promise<Exhaustion> {
  const offset = subject.broker === undefined || askers === 1 ? 0 : 1 + TWO.length;
  const identities = subject.identities(offset + askers + sizes.length).slice(offset);
  const connections = await connectAll(context, { subject, identities });
  const requesters = connections.slice(0, askers);
  const lenders: ProviderSize[] = [];
  for (const [at, size] of sizes.entries()) {
    const connection = connections[askers + at];
    if (connection === undefined) continue;
    await advertiseSize(connection, size);
    lenders.push({ clusterId: connection.clusterId, ...size });
  }
  await settle(subject, connections, context.signal);
  const answers: Answer[] = [];
  const askOn = async (connection: Connection): Promise<Granted | undefined> => {
    let last: Granted | undefined;
    for (let refusals = 0; refusals < REFUSALS_EACH; ) {
      context.signal.throwIfAborted();
      const answer = await reserve(connection, requestFor(ASKED));
      answers.push(answer);
      if (answer.status !== 201) refusals++;
      else if (answer.id !== undefined) last = { connection, id: answer.id };
    }
    return last;
  };
  const [one] = (await Promise.all(requesters.map(askOn))).filter((granted) => granted !== undefined);
  // Somebody else's broker has no call for a release.
  const canRelease = subject.broker !== undefined && one !== undefined;
  const afterRelease = canRelease ? { afterRelease: await reserveReleased(one) } : {};
  return { name, lenders, askers, answers, ...afterRelease };
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

/** How many requests a provider has room for. */
function roomFor({ cpuMillis, memoryMi }: Amounts): number {
  return Math.min(Math.floor(cpuMillis / ASKED.cpuMillis), Math.floor(memoryMi / ASKED.memoryMi));
}

function expectedGrants({ lenders }: Exhaustion): number {
  return lenders.reduce((sum, provider) => sum + roomFor(provider), 0);
}

/** Grants by provider, in the order of the providers. */
function splitOf({ lenders, answers }: Exhaustion): number[] {
  return lenders.map(({ clusterId }) => answers.filter(({ provider }) => provider === clusterId).length);
}

const withStatus = ({ answers }: Exhaustion, wanted: number): Answer[] =>
  answers.filter(({ status }) => status === wanted);

function exhaustionFaults(run: Exhaustion): string[] {
  const { lenders, answers, askers, afterRelease } = run;
  const granted = withStatus(run, 201);
  const [expected, split] = [expectedGrants(run), splitOf(run)];
  // With one asker at a time, nobody may be granted what somebody was refused before.
  const lastGrant = answers.findLastIndex(({ status }) => status === 201);
  const early = answers.slice(0, askers > 1 ? 0 : lastGrant).filter(({ status }) => status === 409).length;
  const unexplained = answers.filter((answer) => isUnexplained(answer, lenders)).length;
  const lines: readonly Line[] = [
    granted.length !== expected && `${granted.length} granted, there was room for ${expected}`,
    ...lenders.map(
      (each, at) => (split[at] ?? 0) > roomFor(each) && `${each.clusterId} lends more than it has`,
    ),
    new Set(granted.map(({ id }) => id)).size !== granted.length && "two grants have the same id",
    ...answers.map(strangeText),
    early > 0 && `${early} refused while there was room`,
    unexplained > 0 && `${unexplained} refusals do not say that every provider is full`,
    afterRelease !== undefined &&
      String(afterRelease) !== "201,409" &&
      `after one release the next two requests got ${afterRelease.join(" and ")}, not 201 and 409`,
  ];
  return said(lines).map((fault) => `${run.name}: ${fault}`);
}

function strangeText({ status }: Answer): Line {
  if (status === NO_ANSWER) return "a request got no answer";
  return status !== 201 && status !== 409 && `a request was answered with ${status}`;
}

/** A refusal of ours names every provider, and that it had no room. */
function isUnexplained({ status, reasons }: Answer, lenders: Exhaustion["lenders"]): boolean {
  const isFull = (id: string): boolean =>
    reasons?.some(({ clusterID, reason }) => clusterID === id && reason === "capacity") === true;
  return status === 409 && reasons !== undefined && !lenders.every(({ clusterId }) => isFull(clusterId));
}

/** What every provider has left after each answer, in CPU. */
function freeCpu({ lenders, answers }: Exhaustion): number[][] {
  return lenders.map(({ clusterId, cpuMillis }) => {
    let left = cpuMillis;
    const after = answers.map(({ status, provider }) => {
      if (status === 201 && provider === clusterId) left -= ASKED.cpuMillis;
      return left / 1000;
    });
    return [cpuMillis / 1000, ...after];
  });
}

const PUBLISHED = PREDECESSOR.exhaustion;
const styleOf = (at: number): Series["style"] => (["ours", "third"] as const)[at] ?? "fourth";

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
        ...eachOf(result).map(({ subject, runs: [first] }, at) =>
          series(subject, styleOf(at), byProvider(first === undefined ? [] : splitOf(first))),
        ),
        series(THEIRS, "theirs", byProvider(PUBLISHED.split)),
      ],
    },
    {
      name: "1c-exhaustion-free",
      title: "What each provider has left",
      subtitle: `after each request, ${asked}; the last ones are refused`,
      kind: "lines",
      x: { label: "requests so far", scale: "linear" },
      y: { label: "free", unit: "CPU", scale: "linear" },
      series: (two === undefined ? [] : freeCpu(two)).map((left, at) => {
        const points = left.map((y, x) => ({ x, y }));
        return series(`this system, provider ${at + 1}`, styleOf(at), points);
      }),
    },
  ];
}

export const exhaustionTest = comparedTest<BrokerRuns>({
  id: "1c",
  title: "Exhaustion: reserve until nothing is left",
  method: [
    `A real broker process over mTLS. Two clusters advertise room for 8 and 7 reservations of ${ASKED.cpuMillis}m CPU and ${ASKED.memoryMi}Mi; a third one asks`,
    "until it has been refused three times, then releases one reservation and asks twice more. Then the same with a crowd: many clusters of random sizes (from",
    "the seed; some run out of CPU first, some of memory) and many askers at the same time. Counted from the replies, a second time: how many each cluster could",
    "lend, and how many it did. Every refusal must be 409 and name every cluster as full. With `--baseline` the first part runs on the other broker, too, with clusters from the folder, ten seconds",
    "after they advertised; what it does wrong is told beside its figures, and is no fault of this system.",
  ].join("\n"),
  expectedSeconds: { smoke: 3, quick: 4, full: 8 },
  measure,
  faults: ({ runs }) => runs.flatMap(exhaustionFaults),
  report: (result) => {
    const [two] = result.ours.runs;
    const split = two === undefined ? [] : splitOf(two);
    const granted = split.reduce((a, b) => a + b, 0);
    const expected = two === undefined ? 0 : expectedGrants(two);
    const rows = eachOf(result).flatMap(({ subject, runs }) => runs.map((run) => ({ subject, run })));
    return {
      charts: chartsOf(result),
      summary: [
        {
          metric: "1c reservations until nothing is left",
          ours: `${granted}/${expected}, split ${split.join("/")}`,
          theirs: `${PUBLISHED.succeeded}/${PUBLISHED.asked}, split ${PUBLISHED.split.join("/")}`,
          factor: granted === expected ? "the same" : "worse: see below",
        },
      ],
      tables: [
        tableOf(rows, {
          run: ({ subject, run }) => `${subject}: ${run.name}`,
          granted: ({ run }) =>
            `${countText(withStatus(run, 201).length)} of ${countText(expectedGrants(run))}`,
          "refused (409)": ({ run }) => withStatus(run, 409).length,
          "failed otherwise": ({ run }) =>
            run.answers.filter(({ status }) => status !== 201 && status !== 409).length,
          split: ({ run }) => splitText(splitOf(run)),
          "after one release": ({ run }) => run.afterRelease?.join(", then ") ?? "no such call",
          median: ({ run }) => [median(withStatus(run, 201).map(({ tookMs }) => tookMs)) ?? 0, "ms"],
        }),
      ],
      text: [
        "The predecessor stopped at the fifteenth request; here everybody goes on asking, so that the refusals are tested, too.",
      ],
    };
  },
});

function splitText(split: readonly number[]): string {
  return split.length > 8 ? `${Math.min(...split)} to ${Math.max(...split)}` : split.join(" / ");
}
