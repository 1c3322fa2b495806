import { type Chart, type Series, series } from "../../charts/chart.ts";
import type { Line, TestReport } from "../../evaluation-test.ts";
import { countText, numberText, plainRow, tableOf, withUnit } from "../../report/format.ts";
import { LARGE_CPUS } from "./measures.ts";
import type { Way } from "./replay.ts";
import type { WaitingResult, WayMeasures } from "./results.ts";

const STYLES: Readonly<Record<Way, Series["style"]>> = {
  "the queue": "ours",
  "asking again": "theirs",
  "first come": "third",
};
const LISTED = 5;
const SHORTEST_SHOWN_MIN = 0.1;
const DAY_START = Date.UTC(2026, 0, 5);

export function reportOf(result: WaitingResult): TestReport {
  const { ways, queue, overlent } = result;
  const of = (name: Way): WayMeasures | undefined => ways.find(({ way }) => way === name);
  const [ours, retry] = [of("the queue"), of("asking again")];
  return {
    faults: [...overlent, ...listed(queue.late.map(lateText)), ...listed(queue.idleWaits)],
    charts: [waitChart(result), utilisationChart(result)],
    summary: [
      plainRow(
        "13 mean wait for a large job: queue / asking again",
        `${withUnit(ours?.waitedLarge?.mean, "min")} / ${withUnit(retry?.waitedLarge?.mean, "min")}`,
      ),
      plainRow(
        "13 first in the queue, and started later than planned",
        `${queue.late.length} of ${queue.promises}`,
      ),
    ],
    text: [
      worseText(result),
      gaveWayText(result),
      wayTable(ways),
      ...ways.map((measures) => `**${measures.way}**\n\n${tenantTable(measures)}`),
      lookText(result),
      "The trace is made up, and nobody in it changes what they ask for because they wait: the figures compare ways of waiting, they promise no waiting time.",
    ],
  };
}

/** What a fleet's owner or a user would have against the queue, beside the other two ways. */
function worseText({ ways }: WaitingResult): Line {
  const ours = ways.find(({ way }) => way === "the queue");
  if (ours === undefined) return undefined;
  const worse = ways
    .filter(({ way }) => way !== "the queue")
    .flatMap((other) => JUDGED.flatMap((judged) => worseLine(judged, ours, other)));
  const tenants = ours.tenants.flatMap((tenant) => ways.flatMap((other) => slowerLine(tenant, other)));
  const lines = [...worse, ...tenants];
  return lines.length === 0
    ? "**Where the queue is worse:** in none of these figures."
    : `**Where the queue is worse:**\n\n${lines.map((line) => `- ${line}`).join("\n")}`;
}

interface Judged {
  readonly name: string;
  readonly unit: string;
  readonly value: (measures: WayMeasures) => number | undefined;
  readonly isMoreBetter?: true;
}

const JUDGED: readonly Judged[] = [
  { name: "mean wait", unit: "min", value: ({ waited }) => waited.mean },
  { name: "wait that 95 % of jobs do not exceed", unit: "min", value: ({ waited }) => waited.p95 },
  { name: "longest wait", unit: "min", value: ({ waited }) => waited.most },
  { name: "mean wait of a large job", unit: "min", value: ({ waitedLarge }) => waitedLarge?.mean },
  { name: "jobs never served", unit: "", value: ({ neverServed }) => neverServed },
  { name: "utilisation", unit: "%", value: ({ utilisation }) => utilisation, isMoreBetter: true },
  { name: "fairness of slowdown", unit: "", value: ({ fairSlowdown }) => fairSlowdown, isMoreBetter: true },
  { name: "fairness of share", unit: "", value: ({ fairShare }) => fairShare, isMoreBetter: true },
  { name: "durable decisions", unit: "", value: ({ written }) => written },
];

/** Differences below are chance. */
const NOISE = 1.01;

function worseLine(
  { name, unit, value, isMoreBetter }: Judged,
  ours: WayMeasures,
  other: WayMeasures,
): string[] {
  const [own = 0, their = 0] = [value(ours), value(other)];
  const isWorse = isMoreBetter === true ? own * NOISE < their : own > their * NOISE;
  return isWorse
    ? [`${name}: ${withUnit(own, unit).trim()}, with ${other.way} ${withUnit(their, unit).trim()}`]
    : [];
}

function slowerLine({ tenant, waited }: WayMeasures["tenants"][number], other: WayMeasures): string[] {
  const theirs = other.tenants.find((each) => each.tenant === tenant);
  if (theirs === undefined || waited.mean <= theirs.waited.mean * NOISE) return [];
  return [
    `${tenant} waits ${withUnit(waited.mean, "min")} on average, with ${other.way} ${withUnit(theirs.waited.mean, "min")}`,
  ];
}

function gaveWayText({ queue, ways }: WaitingResult): string {
  const { promises, late, gaveWay } = queue;
  const delays = gaveWay.flatMap(({ started, promised }) =>
    started === undefined ? [] : [(started - promised) / 60_000],
  );
  const most = delays.length === 0 ? "" : `, by up to ${numberText(Math.max(...delays))} min`;
  const ours = ways.find(({ way }) => way === "the queue");
  const never = ours?.neverServed ?? 0;
  return [
    `**The promise.** ${countText(promises)} requests became first of those that wait for capacity alone and had a start computed; ${countText(late.length)} of them started later than that while they were first.`,
    `${countText(gaveWay.length)} more started later than when they were first for the first time${most}: requests of higher priority, or of tenants that hold less, went before them. That is the rule, and no fault; but for whoever was told a time it is a miss.`,
    never === 0
      ? ""
      : `${countText(never)} gave up after 24 hours, the smallest of them asked for ${numberText(ours?.leastNeverServed ?? 0)} CPU: nominations of large requests follow one another, and each waits for what its provider gives back.`,
  ]
    .join(" ")
    .trim();
}

function wayTable(ways: readonly WayMeasures[]): string {
  return tableOf(ways, {
    "": ({ way }) => way,
    utilisation: ({ utilisation }) => [utilisation, "%"],
    "mean wait": ({ waited }) => [waited.mean, "min"],
    "95 %": ({ waited }) => [waited.p95, "min"],
    longest: ({ waited }) => [waited.most, "min"],
    [`mean, ${LARGE_CPUS} CPU or more`]: ({ waitedLarge }) => [waitedLarge?.mean, "min"],
    "never served": ({ neverServed }) => neverServed,
    "fair slowdown": ({ fairSlowdown }) => fairSlowdown.toFixed(3),
    "fair share": ({ fairShare }) => fairShare.toFixed(3),
    calls: ({ calls }) => calls,
    "durable decisions": ({ written }) => written,
  });
}

function tenantTable({ tenants }: WayMeasures): string {
  return tableOf(tenants, {
    tenant: ({ tenant }) => tenant,
    weight: ({ weight }) => weight,
    jobs: ({ jobs }) => jobs,
    "mean wait": ({ waited }) => [waited.mean, "min"],
    median: ({ waited }) => [waited.median, "min"],
    "95 %": ({ waited }) => [waited.p95, "min"],
    longest: ({ waited }) => [waited.most, "min"],
    "never served": ({ neverServed }) => neverServed,
    slowdown: ({ slowdown }) => [slowdown, "×"],
    "CPU held per weight while waiting": ({ heldPerWeight }) => [heldPerWeight, "CPU"],
  });
}

function lookText({ queue: { lookMs, mostWaiting } }: WaitingResult): Line {
  if (lookMs === undefined) return undefined;
  return `A look at the queue (one \`admit\`, up to ${countText(mostWaiting)} waiting) took ${withUnit(lookMs.median, "ms")} in the median, 99 % at most ${withUnit(lookMs.p99, "ms")}, the slowest ${withUnit(lookMs.most, "ms")}; the target is 5 ms. It is the only figure here that depends on the machine.`;
}

function lateText({ id, promisedAt, promised, started }: WaitingResult["queue"]["late"][number]): string {
  const when = started === undefined ? "never" : `at ${hours(started)} h`;
  return `${id} was first at ${hours(promisedAt)} h, was to start by ${hours(promised)} h and started ${when}`;
}

function hours(time: number): string {
  return ((time - DAY_START) / 3_600_000).toFixed(2);
}

function listed(faults: readonly string[]): string[] {
  const more = faults.length - LISTED;
  return more > 0 ? [...faults.slice(0, LISTED), `and ${more} more like these`] : [...faults];
}

function subtitleOf({ jobs, lastsHours, clusters, cpus, load }: WaitingResult): string {
  return `one trace of ${countText(jobs)} jobs in ${numberText(lastsHours)} hours, ${clusters} clusters with ${countText(cpus)} CPU, mean load ${Math.round(100 * load)} %`;
}

function waitChart(result: WaitingResult): Chart {
  return {
    name: "13-waiting-time",
    title: "How long jobs wait, by tenant",
    subtitle: `${subtitleOf(result)}; bars: mean, lines: up to the wait that 95 % do not exceed`,
    kind: "bars",
    x: { label: "tenant (weight)", scale: "names" },
    y: { label: "waiting time", unit: "min", scale: "log" },
    series: result.ways.map(({ way, tenants }) =>
      series(
        way,
        STYLES[way],
        tenants.map(({ tenant, weight, waited: { mean, p95 } }) => ({
          x: `${tenant} (${weight})`,
          // A logarithmic axis has no place for those who do not wait.
          ...(mean < SHORTEST_SHOWN_MIN ? {} : { y: Math.round(mean * 10) / 10 }),
          ...(mean < SHORTEST_SHOWN_MIN || p95 <= mean ? {} : { low: mean, high: p95 }),
        })),
      ),
    ),
  };
}

function utilisationChart(result: WaitingResult): Chart {
  return {
    name: "13-waiting-utilisation",
    title: "How much of the fleet is lent",
    subtitle: subtitleOf(result),
    kind: "lines",
    x: { label: "since the beginning", unit: "h", scale: "linear" },
    y: { label: "CPU lent", unit: "%", scale: "linear" },
    series: result.ways.map(({ way, utilisationOverTime }) =>
      series(
        way,
        STYLES[way],
        utilisationOverTime.map(({ hours: x, percent: y }) => ({ x, y: Math.round(y * 10) / 10 })),
      ),
    ),
    notes: [
      `mean while jobs arrive: ${result.ways.map(({ way, utilisation }) => `${way} ${utilisation.toFixed(1)} %`).join(", ")}`,
    ],
  };
}
