import type { Chart, Series } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { mean, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import { baselineText, eachOf, type SideBySide } from "../subject/side-by-side.ts";
import { type BrokerLatency, latencyFaults, STEPS, type Step, statisticsOf, valueOf } from "./results.ts";

const THEIRS = PREDECESSOR.latencyMs;
const NAMES: Readonly<Record<Step, string>> = {
  reserved: "Reserved",
  reservationInstruction: "ReservationInstruction",
  providerInstruction: "ProviderInstruction",
  total: "all of them",
};

const SERIES_STYLES: readonly Series["style"][] = ["ours", "third"];

export function chartsOf(result: SideBySide<BrokerLatency>): readonly Chart[] {
  return [
    {
      name: "4-latency",
      title: "From the creation of a ResourceRequest until …",
      subtitle: `mean of ${countText(result.ours.trials.length)} trials; real broker and agents, simulated API servers (kube-sim)`,
      kind: "bars",
      x: { label: "until there is", scale: "names" },
      y: { label: "time since the request was created", unit: "ms", scale: "log" },
      series: [
        ...eachOf(result).map(
          (each, at): Series => ({
            label: each.subject,
            style: SERIES_STYLES[at] ?? "fourth",
            points: STEPS.map((step) => pointOf(each, step)),
          }),
        ),
        {
          label: "Go thesis, 2026, published",
          style: "theirs",
          points: STEPS.map((step) => ({ x: NAMES[step], y: THEIRS[step] })),
        },
      ],
      notes: ["lines: 5th to 95th percentile of the trials"],
    },
  ];
}

function pointOf({ trials }: BrokerLatency, step: Step): Series["points"][number] {
  const times = trials.map((trial) => valueOf(trial, step));
  const [y, low, high] = [mean(times), percentile(times, 0.05), percentile(times, 0.95)];
  if (y === undefined || low === undefined || high === undefined) return { x: NAMES[step] };
  return { x: NAMES[step], y, low, high };
}

export function findingsOf(result: SideBySide<BrokerLatency>): Findings {
  const { ours, baseline } = result;
  const total = (each: BrokerLatency): number | undefined => statisticsOf(each, "total")?.mean;
  return {
    summary: STEPS.map((step) => ({
      metric: `4 request created → ${NAMES[step]}, mean`,
      ours: withUnit(statisticsOf(ours, step)?.mean, "ms"),
      theirs: withUnit(THEIRS[step], "ms"),
      factor: factorText(statisticsOf(ours, step)?.mean, THEIRS[step]),
    })),
    text: [
      ...eachOf(result).flatMap((each) => [textOf(each), ""]),
      ...baselineText(result, latencyFaults),
      ...(baseline === undefined
        ? []
        : [
            `On this machine, with the same agents, this system against the baseline: ${factorText(total(ours), total(baseline))}.`,
            "",
          ]),
      "Our API servers are simulated (kube-sim) and answer faster than real ones; the predecessor's were real. What a real API server adds to each of the four writes was not measured here; it is milliseconds, not seconds. The largest part of the predecessor's time is the provider's poll, which a push replaces.",
    ].join("\n"),
  };
}

function textOf(each: BrokerLatency): string {
  const { subject, trials, failures } = each;
  const rows = STEPS.map((step) => {
    const statistics = statisticsOf(each, step);
    return [
      NAMES[step],
      withUnit(statistics?.mean, "ms"),
      withUnit(statistics?.median, "ms"),
      withUnit(statistics?.p95, "ms"),
      withUnit(statistics?.p99, "ms"),
      withUnit(statistics?.most, "ms"),
      withUnit(THEIRS[step], "ms"),
      factorText(statistics?.mean, THEIRS[step]),
    ];
  });
  const created = withUnit(mean(trials.map((trial) => trial.created)), "ms");
  return [
    `**${subject}**: ${countText(trials.length)} trials, ${countText(failures.length)} failed. The create call alone took ${created} on average: the API server's share, which is in every figure below.`,
    "",
    markdownTable(["until", "mean", "median", "p95", "p99", "most", "published mean", "factor"], rows),
  ].join("\n");
}
