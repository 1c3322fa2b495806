import { styleText } from "node:util";
import { amountOf, describeAmount, parseResources, safeLine } from "@resource-broker/base";
import type { CostDTO, ReservationCostDTO, ResourceQuantitiesDTO } from "@resource-broker/contract";

type TextStyle = "plain" | "title" | "quiet" | "good" | "careful" | "bad";

interface Span {
  readonly text: string;
  readonly style: TextStyle;
}

/** One printed line, before it is coloured. */
export type Line = readonly Span[];

const COLOURS = { title: "bold", quiet: "gray", good: "green", careful: "yellow", bad: "red" } as const;
const COLUMN_SPACING = "   ";
/** A person reads no more digits of a price. */
const PRICE_DIGITS = 4;

/** Text of others cannot move the cursor or begin a line. */
export function span(text: string, style: TextStyle = "plain"): Span {
  return { text: safeLine(text), style };
}

export function line(...spans: readonly (Span | string)[]): Line {
  return spans.map((each) => (typeof each === "string" ? span(each) : each));
}

export function lineText(row: Line, hasColours: boolean): string {
  if (!hasColours)
    return row
      .map(({ text }) => text)
      .join("")
      .trimEnd();
  return row
    .map(({ text, style }) =>
      style === "plain" ? text : styleText(COLOURS[style], text, { validateStream: false }),
    )
    .join("");
}

/** https://no-color.org */
export function wantsColours(
  output: { readonly isTTY: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return output.isTTY && (env["NO_COLOR"] ?? "") === "";
}

/** Rows under their titles, each column as wide as it must be. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): Line[] {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const textOf = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join(COLUMN_SPACING)
      .trimEnd();
  return [line(span(textOf(titles), "quiet")), ...rows.map((row) => line(textOf(row)))];
}

export const CAPACITY_TITLES = ["CPU FREE", "MEMORY FREE", "GPU FREE", "PRICE"] as const;

/** What a cluster could lend: `24 of 32`, and what it asks for it. */
export function capacityCells(
  available: ResourceQuantitiesDTO,
  allocatable: ResourceQuantitiesDTO,
  cost: CostDTO | undefined,
): string[] {
  const free = (name: "cpu" | "memory" | "gpu"): string =>
    allocatable[name] === undefined
      ? "-"
      : `${amountText(name, available)} of ${amountText(name, allocatable)}`;
  const price = cost === undefined ? "none" : `${cost.cpuCost} ${cost.currency} per CPU and hour`;
  return [free("cpu"), free("memory"), free("gpu"), price];
}

function amountText(name: "cpu" | "memory" | "gpu", quantities: ResourceQuantitiesDTO): string {
  const parsed = parseResources({ cpu: "0", memory: "0", [name]: quantities[name] ?? "0" }, "down");
  const amount = parsed.ok ? amountOf(parsed.resources, name) : 0;
  return amount === 0 ? "0" : (describeAmount(name, amount).split(" ", 1)[0] ?? "");
}

/** `0.1624 EUR/h` */
export function priceText(cost: Pick<ReservationCostDTO, "perHour" | "currency"> | undefined): string {
  if (cost === undefined) return "not priced";
  return `${Number(Number(cost.perHour).toPrecision(PRICE_DIGITS))} ${cost.currency}/h`;
}
