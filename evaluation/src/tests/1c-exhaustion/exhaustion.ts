import { seededRandom } from "@resource-broker/testkit";
import type { Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings } from "../../evaluation-test.ts";
import { withEndings } from "../../measure/with-endings.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, numberText } from "../../report/number-text.ts";
import { median } from "../../measure/statistics.ts";
import { connectAll, openSubject, type Subject } from "../subject/subject.ts";
import { exhaust } from "./exhaust.ts";
import {
  ASKED,
  type Exhaustion,
  exhaustionFaults,
  expectedGrants,
  freeCpu,
  type Lender,
  splitOf,
} from "./figures.ts";

const THEIRS = PREDECESSOR.exhaustion;
/** Room for 8 and for 7, as the predecessor had. */
const TWO: readonly Omit<Lender, "clusterId">[] = [
  { cpuMillis: 4000, memoryMi: 8192 },
  { cpuMillis: 3500, memoryMi: 8192 },
];
const CROWD = {
  smoke: { lenders: 4, askers: 4 },
  quick: { lenders: 10, askers: 16 },
  full: { lenders: 40, askers: 50 },
};

export interface ExhaustionResult {
  readonly subject: string;
  readonly runs: readonly Exhaustion[];
}

function run(context: Context): Promise<ExhaustionResult> {
  return withEndings(async (later) => {
    const subject = await openSubject(context, later);
    context.progress(0.1, "two clusters, one request after the other");
    const runs = [
      await exhaustWith(subject, context, { name: "two clusters, one at a time", sizes: TWO, askers: 1 }),
    ];
    // Somebody else's broker cannot be given a second fleet of clusters: it knows those of the folder and no others.
    if (subject.broker !== undefined) {
      const { lenders, askers } = CROWD[context.size];
      context.progress(0.5, `${lenders} clusters, ${askers} ask at the same time`);
      const sizes = randomSizes(context.seed, lenders);
      runs.push(
        await exhaustWith(subject, context, {
          name: `${lenders} clusters, ${askers} at a time`,
          sizes,
          askers,
        }),
      );
    }
    return { subject: subject.label, runs };
  });
}

interface Plan {
  readonly name: string;
  readonly sizes: readonly Omit<Lender, "clusterId">[];
  readonly askers: number;
}

/** Clusters of their own for every run: those of the run before are full. */
function exhaustWith(
  subject: Subject,
  { signal }: Context,
  { name, sizes, askers }: Plan,
): Promise<Exhaustion> {
  return withEndings(async (later) => {
    const offset = subject.broker === undefined || askers === 1 ? 0 : 1 + TWO.length;
    const identities = subject.identities(offset + askers + sizes.length).slice(offset);
    const connections = await connectAll(subject, identities, { later });
    const lenders = connections.slice(askers).map((connection, at) => {
      const size = sizes[at] ?? { cpuMillis: 0, memoryMi: 0 };
      return { connection, lender: { clusterId: connection.clusterId, ...size } };
    });
    const canRelease = subject.broker !== undefined;
    return exhaust({ name, lenders, askers: connections.slice(0, askers), canRelease, signal });
  });
}

/** Some run out of CPU first, some of memory, some leave a rest that fits nobody. */
function randomSizes(seed: number, count: number): Omit<Lender, "clusterId">[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => ({
    cpuMillis: random.between(400, 9000),
    memoryMi: random.between(200, 4500),
  }));
}

const SERIES_LOOKS: readonly Series["look"][] = ["ours", "third"];

function charts({ subject, runs }: ExhaustionResult): readonly Chart[] {
  const [two] = runs;
  if (two === undefined) return [];
  const asked = `${ASKED.cpuMillis}m / ${ASKED.memoryMi}Mi each`;
  return [
    {
      name: "1c-exhaustion-split",
      title: "Reservations until nothing is left",
      subtitle: `two clusters with room for 8 and 7, ${asked}, one request after the other`,
      kind: "bars",
      x: { label: "provider", scale: "names" },
      y: { label: "reservations granted", scale: "linear" },
      series: [
        {
          label: subject,
          look: "ours",
          points: splitOf(two).map((y, at) => ({ x: `provider ${at + 1}`, y })),
        },
        {
          label: "Go thesis, 2026, published",
          look: "theirs",
          points: THEIRS.split.map((y, at) => ({ x: `provider ${at + 1}`, y })),
        },
      ],
    },
    {
      name: "1c-exhaustion-free",
      title: "What each provider has left",
      subtitle: `after each request, ${asked}; the last ones are refused`,
      kind: "lines",
      x: { label: "requests so far", scale: "linear" },
      y: { label: "free", unit: "CPU", scale: "linear" },
      series: freeCpu(two).map(({ left }, at) => ({
        label: `${subject}, provider ${at + 1}`,
        look: SERIES_LOOKS[at] ?? "fourth",
        points: left.map((y, x) => ({ x, y })),
      })),
    },
  ];
}

function findings({ subject, runs }: ExhaustionResult): Findings {
  const rows = runs.map((each) => {
    const granted = each.answers.filter(({ status }) => status === 201);
    const refused = each.answers.filter(({ status }) => status === 409);
    const split = splitOf(each);
    return [
      each.name,
      `${countText(granted.length)} of ${countText(expectedGrants(each))}`,
      countText(refused.length),
      split.length > 8 ? `${Math.min(...split)} to ${Math.max(...split)}` : split.join(" / "),
      each.afterRelease?.join(", then ") ?? "no such call",
      `${numberText(median(granted.map(({ tookMs }) => tookMs)) ?? 0)} ms`,
    ];
  });
  const [two] = runs;
  const ours =
    two === undefined
      ? "–"
      : `${splitOf(two).reduce((a, b) => a + b, 0)}/${expectedGrants(two)}, split ${splitOf(two).join("/")}`;
  return {
    summary: [
      {
        figure: "1c reservations until nothing is left",
        ours,
        theirs: `${THEIRS.succeeded}/${THEIRS.asked}, split ${THEIRS.split.join("/")}`,
        factor: "the same",
      },
    ],
    text: [
      `Driven: ${subject}.`,
      "",
      markdownTable(["run", "granted", "refused afterwards", "split", "after one release", "median"], rows),
      "",
      "The predecessor stopped at the fifteenth request; here everybody goes on asking, so that the refusals are tested, too.",
    ].join("\n"),
  };
}

export const exhaustionTest: EvaluationTest<ExhaustionResult> = {
  id: "1c",
  title: "Exhaustion: reserve until nothing is left",
  method: [
    `A real broker process over mTLS. Two clusters advertise room for 8 and 7 reservations of ${ASKED.cpuMillis}m CPU and ${ASKED.memoryMi}Mi; a third one asks`,
    "until it has been refused three times, then releases one reservation and asks twice more. Then the same with a crowd: many clusters of random sizes (from",
    "the seed; some run out of CPU first, some of memory) and many askers at the same time. Counted from the replies, a second time: how many each cluster could",
    "lend, and how many it did. Every refusal must be 409 and name every cluster as full. With `--baseline` only the first part runs, on clusters from the folder.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 3, quick: 4, full: 8 })[size],
  run,
  faults: ({ runs }) => runs.flatMap(exhaustionFaults),
  charts,
  findings,
};
