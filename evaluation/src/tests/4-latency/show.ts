import type { Chart } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { mean, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import { figuresOf, type LatencyResult, STEPS, type Step, valueOf } from "./figures.ts";

const THEIRS = PREDECESSOR.latencyMs;
const NAMES: Readonly<Record<Step, string>> = {
  reserved: "Reserved",
  reservationInstruction: "ReservationInstruction",
  providerInstruction: "ProviderInstruction",
  total: "all of them",
};

export function chartsOf(result: LatencyResult): readonly Chart[] {
  const { subject, trials } = result;
  return [
    {
      name: "4-latency",
      title: "From the creation of a ResourceRequest until …",
      subtitle: `mean of ${countText(trials.length)} trials; real broker and agents, simulated API servers (kube-sim)`,
      kind: "bars",
      x: { label: "until there is", scale: "names" },
      y: { label: "time since the request was created", unit: "ms", scale: "log" },
      series: [
        {
          label: subject,
          look: "ours",
          points: STEPS.map((step) => {
            const times = trials.map((trial) => valueOf(trial, step));
            const spread = { low: percentile(times, 0.05), high: percentile(times, 0.95) };
            const { low, high } = spread;
            return {
              x: NAMES[step],
              ...(mean(times) === undefined ? {} : { y: mean(times) ?? 0 }),
              ...(low === undefined || high === undefined ? {} : { low, high }),
            };
          }),
        },
        {
          label: "Go thesis, 2026, published",
          look: "theirs",
          points: STEPS.map((step) => ({ x: NAMES[step], y: THEIRS[step] })),
        },
      ],
      notes: ["lines: 5th to 95th percentile of the trials"],
    },
  ];
}

export function findingsOf(result: LatencyResult): Findings {
  const { subject, trials, failures } = result;
  const rows = STEPS.map((step) => {
    const figures = figuresOf(result, step);
    return [
      NAMES[step],
      withUnit(figures?.mean, "ms"),
      withUnit(figures?.median, "ms"),
      withUnit(figures?.p95, "ms"),
      withUnit(figures?.p99, "ms"),
      withUnit(figures?.most, "ms"),
      withUnit(THEIRS[step], "ms"),
      factorText(figures?.mean, THEIRS[step]),
    ];
  });
  return {
    summary: STEPS.map((step) => ({
      figure: `4 request created → ${NAMES[step]}, mean`,
      ours: withUnit(figuresOf(result, step)?.mean, "ms"),
      theirs: withUnit(THEIRS[step], "ms"),
      factor: factorText(figuresOf(result, step)?.mean, THEIRS[step]),
    })),
    text: [
      `Driven: ${subject}, ${countText(trials.length)} trials, ${countText(failures.length)} failed. The create call alone took ${withUnit(mean(trials.map(({ created }) => created)), "ms")} on average: the API server's share, which is in every figure below.`,
      "",
      markdownTable(["until", "mean", "median", "p95", "p99", "most", "published mean", "factor"], rows),
      "",
      "Our API servers are simulated (kube-sim) and answer faster than real ones; the predecessor's were real. What a real API server adds to each of the four writes was not measured here; it is milliseconds, not seconds. The largest part of the predecessor's time is the provider's poll, which a push replaces.",
    ].join("\n"),
  };
}
