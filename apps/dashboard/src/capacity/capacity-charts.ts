import { amountForm, type KnownName } from "@resource-broker/base";
import type { CapacityHistoryDTO, DemandHistoryDTO } from "@resource-broker/contract";
import { axisTicks, type Band, binaryTicks, type TimeChart } from "../charts/time-chart-view.ts";
import { reasonTitle } from "../decisions/decision-view.ts";
import { amountText, plainNumber } from "../format/amounts.ts";

/** Reserved at the bottom, available above it; the line is the total. */
export function capacityChart(history: CapacityHistoryDTO, resource: KnownName): TimeChart {
  const values = (part: "reserved" | "available" | "allocatable"): (number | null)[] =>
    history.points.map(({ [part]: amounts }) =>
      amounts === undefined ? null : Math.max(0, amounts[resource] ?? 0),
    );
  return {
    fromMs: Date.parse(history.from),
    stepMs: history.stepMs,
    shape: "area",
    bands: [
      { name: "reserved", title: "Reserved", values: values("reserved") },
      { name: "available", title: "Available", values: values("available") },
    ],
    line: { name: "limit", title: "Total", values: values("allocatable") },
    format: (value) => amountText(resource, value),
    ticks: amountForm(resource).isBytes ? binaryTicks : axisTicks,
  };
}

export function hasResource({ points }: CapacityHistoryDTO, resource: KnownName): boolean {
  return points.some(({ allocatable }) => (allocatable?.[resource] ?? 0) > 0);
}

/** The largest number of columns that can be distinguished. */
const COLUMNS = 60;
/** The largest number of patterns that can be distinguished; the rest shares one. */
const REASONS = 4;

/** Granted at the bottom, refusals by their reason on top. */
export function unmetChart(unmet: DemandHistoryDTO): TimeChart {
  const width = Math.max(1, Math.ceil(unmet.granted.length / COLUMNS));
  const biggest = unmet.refused.toSorted((one, other) => sum(other.counts) - sum(one.counts));
  const [shown, rest] = [biggest.slice(0, REASONS), biggest.slice(REASONS)];
  const bands: Band[] = [
    { name: "granted", title: "Granted", values: gathered(unmet.granted, width) },
    ...shown.map(({ reason, counts }, index) => ({
      name: `reason-${index}`,
      title: `Refused: ${reasonTitle(reason)}`,
      values: gathered(counts, width),
    })),
  ];
  if (rest.length > 0) {
    const others = unmet.granted.map((_, at) => sum(rest.map(({ counts }) => counts[at] ?? 0)));
    bands.push({
      name: `reason-${REASONS}`,
      title: "Refused: other reasons",
      values: gathered(others, width),
    });
  }
  return {
    fromMs: Date.parse(unmet.from),
    stepMs: unmet.stepMs * width,
    shape: "columns",
    bands,
    format: plainNumber,
    ticks: integerTicks,
  };
}

/** Requests are counted in whole numbers. */
function integerTicks(highest: number): readonly number[] {
  const step = Math.ceil(axisTicks(highest)[1] ?? 1);
  return Array.from({ length: Math.max(1, Math.ceil(highest / step)) + 1 }, (_, mark) => mark * step);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function gathered(values: readonly number[], width: number): number[] {
  return Array.from({ length: Math.ceil(values.length / width) }, (_, index) =>
    sum(values.slice(index * width, (index + 1) * width)),
  );
}

/** `share` is of all requests; null: nobody asked. */
export function unmetTotals({ granted, refused }: DemandHistoryDTO) {
  const [met, unmet] = [sum(granted), sum(refused.map(({ counts }) => sum(counts)))];
  return { granted: met, refused: unmet, share: met + unmet === 0 ? null : unmet / (met + unmet) };
}
