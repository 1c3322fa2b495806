import type { Chart, Series } from "../../charts/chart.ts";
import type { EvaluationTest, Findings } from "../../evaluation-test.ts";
import { measureStaircase } from "./measure-staircase.ts";
import {
  AGENTS_AXIS,
  CLUSTERS_AXIS,
  growthSeries,
  type MetricsByFleet,
  oursSeries,
  type Published,
  stepsTable,
  summaryRows,
  theirsSeries,
} from "./show-staircase.ts";
import { expectedSeconds, type Fleet, type Staircase } from "./staircase.ts";
import { type StepMetric, staircaseFaults } from "./step-metrics.ts";

/** One of the things that are read from the staircase, and how it is told. */
export interface Aspect extends Pick<EvaluationTest<Staircase>, "id" | "title" | "method"> {
  readonly metrics: (staircase: Staircase, fleet: Fleet) => readonly StepMetric[];
  readonly published: Published;
  readonly y: { readonly label: string; readonly unit: string };
  /** The first chart's name; the one with the growth is called after it. */
  readonly chart: string;
  readonly subtitle: (staircase: Staircase) => string;
  /** What else is drawn beside the figures of real agents. */
  readonly beside?: (staircase: Staircase) => readonly Series[];
  readonly slope: (by: MetricsByFleet) => readonly string[];
  /** Sentences below the table. */
  readonly words: (by: MetricsByFleet, staircase: Staircase) => readonly string[];
}

/** They are all read from one measurement. */
export function staircaseTest(aspect: Aspect): EvaluationTest<Staircase> {
  const { id, title, method, metrics } = aspect;
  const byFleet = (staircase: Staircase): MetricsByFleet => ({
    agents: metrics(staircase, "agents"),
    clients: metrics(staircase, "clients"),
    pollers: metrics(staircase, "pollers"),
  });
  return {
    id,
    measurement: "1a-1b",
    title,
    method,
    expectedSeconds,
    run: measureStaircase,
    faults: staircaseFaults,
    charts: (staircase) => chartsOf(aspect, staircase, byFleet(staircase)),
    findings: (staircase) => findingsOf(aspect, staircase, byFleet(staircase)),
  };
}

function chartsOf(aspect: Aspect, staircase: Staircase, by: MetricsByFleet): Chart[] {
  const { title, published, y, chart, subtitle, beside, slope } = aspect;
  return [
    {
      name: chart,
      title: `${title} by number of agents`,
      subtitle: subtitle(staircase),
      kind: "lines",
      x: AGENTS_AXIS,
      y: { ...y, scale: "linear" },
      series: [oursSeries(by.agents), theirsSeries(published), ...(beside?.(staircase) ?? [])],
    },
    {
      name: `${chart}-growth`,
      title: `${title} from one agent to many`,
      subtitle:
        "Both axes logarithmic; protocol clients: connections of one load process that say what agents say",
      kind: "lines",
      x: CLUSTERS_AXIS,
      y: { ...y, scale: "log" },
      series: growthSeries(by, published),
      notes: slope(by),
    },
  ];
}

function findingsOf(
  { title, published, y: { unit }, words }: Aspect,
  staircase: Staircase,
  by: MetricsByFleet,
): Findings {
  return {
    summary: summaryRows(by, published, { metric: title, unit }),
    text: [stepsTable(by, published, unit), ...words(by, staircase)].join("\n\n"),
  };
}
