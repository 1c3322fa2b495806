import type { Chart } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import type { Distribution } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { NOTHING, numberText, withUnit } from "../../report/number-text.ts";
import { OURS, THEIRS } from "../../report/summary.ts";
import { type StartUp, startUpMetrics } from "./results.ts";

const PUBLISHED = PREDECESSOR.startUpMs;
/** The middle of what was published as a range. */
const THEIR_ADVERTISEMENT = (PUBLISHED.firstAdvertisementLeast + PUBLISHED.firstAdvertisementMost) / 2;
const THEIR_WARM = [PUBLISHED.warmLeast, PUBLISHED.warmMost] as const;

export function chartsOf(result: StartUp): Chart[] {
  const ours = startUpMetrics(result);
  if (ours === undefined) return [];
  const part = (label: string, own: number, [least, most]: readonly [number, number]) => ({
    label,
    points: [
      { x: OURS, y: own },
      { x: `${THEIRS}: fastest`, y: least },
      { x: `${THEIRS}: slowest`, y: most },
    ],
  });
  const rest = (warm: number, advertisement: number): number => warm - PUBLISHED.start - advertisement;
  const { firstAdvertisementLeast, firstAdvertisementMost, start } = PUBLISHED;
  return [
    {
      name: "7-start-up",
      title: "From nothing to a cluster that the broker knows",
      subtitle: `Warm start; medians of ${result.trials.length} trials here; the predecessor published a range and two of its parts`,
      kind: "stacked-bars",
      x: { label: "", scale: "names" },
      y: { label: "time", unit: "ms", scale: "linear" },
      series: [
        { ...part("process start", ours.process.median, [start, start]), style: "ours" },
        {
          ...part("first advertisement", ours.advertisement.median, [
            firstAdvertisementLeast,
            firstAdvertisementMost,
          ]),
          style: "third",
        },
        {
          ...part("certificate (theirs: all the rest)", ours.certificate.median, [
            rest(PUBLISHED.warmLeast, firstAdvertisementLeast),
            rest(PUBLISHED.warmMost, firstAdvertisementMost),
          ]),
          style: "fourth",
        },
      ],
    },
  ];
}

export function findingsOf(result: StartUp): Findings {
  const ours = startUpMetrics(result);
  if (ours === undefined) return { summary: [], text: "No trial came to its end." };
  const theirStart = PUBLISHED.start + THEIR_ADVERTISEMENT;
  const row = (name: string, { median, p95, least, most }: Distribution, theirs: string): string[] => [
    name,
    withUnit(median, "ms"),
    withUnit(p95, "ms"),
    `${numberText(least)}–${numberText(most)} ms`,
    theirs,
  ];
  const theirAdvertisement = `${PUBLISHED.firstAdvertisementLeast}–${PUBLISHED.firstAdvertisementMost} ms`;
  const theirWarm = `${(THEIR_WARM[0] / 1000).toFixed(1)}–${(THEIR_WARM[1] / 1000).toFixed(1)} s`;
  const table = markdownTable(
    ["", "median", "p95", "least–most", THEIRS],
    [
      row("certificate", ours.certificate, NOTHING),
      row("process start", ours.process, `${PUBLISHED.start} ms`),
      row("first advertisement accepted", ours.advertisement, theirAdvertisement),
      row("start → first advertisement", ours.start, `about ${numberText(theirStart)} ms`),
      row("all of it", ours.total, theirWarm),
      row("CPU time of the agent", ours.cpu, NOTHING),
    ],
  );
  const why =
    "The process start is slower: Node takes about 45 ms before it runs the first line of ours, and reads the program; a Go program is machine code. What follows is network and Kubernetes on both sides.";
  return {
    summary: [
      {
        metric: "Agent start-up with certificate, warm",
        ours: withUnit(ours.total.median, "ms"),
        theirs: theirWarm,
        factor: factorText(ours.total.median, THEIR_WARM[0]),
      },
      {
        metric: "Agent start → first advertisement",
        ours: withUnit(ours.start.median, "ms"),
        theirs: `${PUBLISHED.start + PUBLISHED.firstAdvertisementLeast}–${PUBLISHED.start + PUBLISHED.firstAdvertisementMost} ms`,
        factor: factorText(ours.start.median, theirStart),
      },
    ],
    text: `${table}\n\n${why}`,
  };
}
