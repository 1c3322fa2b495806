import type { Chart } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, NOTHING } from "../../report/number-text.ts";
import { NAMED_SCENARIOS } from "./named-scenarios.ts";
import type { Check } from "./verdict.ts";

/** How often each of the named scenarios is tried. */
export const TRIALS_EACH = 5;

export interface AccuracyResult {
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

export function chartsOf(result: AccuracyResult): readonly Chart[] {
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

export function findingsOf(result: AccuracyResult): Findings {
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
      {
        metric: "6 right decisions, random scenarios",
        ours: `${countText(random?.right ?? 0)}/${countText(random?.all ?? 0)}`,
        theirs: NOTHING,
        factor: NOTHING,
      },
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
