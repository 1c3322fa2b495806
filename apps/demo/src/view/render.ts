import { clusterHeader, clusterRow, legend } from "./cluster-rows.ts";
import { commandRows } from "./command-rows.ts";
import { type Line, line, renderLine, span } from "./line.ts";
import type { Model } from "./model.ts";
import { decisionRows, eventRow } from "./update-rows.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the terminal can show. */
export interface TerminalFeatures {
  readonly hasColours: boolean;
  /** False: ASCII only. */
  readonly hasBlocks: boolean;
}

const SMALLEST: Size = { columns: 60, rows: 12 };
/** Rows of a decision. */
const DECISION_ROWS = 2;
const LEAST_EVENTS = 3;
const MOST_DECISIONS = 5;

/** One frame: never more rows than the screen has, none wider than it. */
export function render(model: Model, size: Size, features: TerminalFeatures): readonly string[] {
  const { columns, rows } = size;
  const renderRow = (row: Line): string => renderLine(row, { width: columns, ...features });
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) {
    const hint = `This needs ${SMALLEST.columns}×${SMALLEST.rows} characters; here are ${columns}×${rows}.`;
    return [hint, "Ctrl-C ends everything."].slice(0, rows).map((text) => renderRow(line(text)));
  }
  const between = rows - 3;
  const body =
    model.page === "commands"
      ? cutTo(between, commandRows(model, columns))
      : liveRows(model, between, columns);
  const filling = Array.from({ length: between - body.length }, () => line());
  return [title(model), dashboardRow(model, columns), ...body, ...filling, footer(model)].map(renderRow);
}

function cutTo(rows: number, all: readonly Line[]): readonly Line[] {
  if (all.length <= rows) return all;
  return [...all.slice(0, rows - 1), line(span("A higher terminal shows the rest.", "careful"))];
}

/** Clusters come first; decisions and events get the remaining rows, but never fewer than a minimum. */
function liveRows(model: Model, rows: number, width: number): Line[] {
  const needed = 2 + DECISION_ROWS + 2 + LEAST_EVENTS;
  const clusters = clusterRows(model, Math.max(1, rows - needed - 2), width);
  // Two headings and the empty rows above them.
  const left = rows - clusters.length - 4;
  const wanted = Math.min(MOST_DECISIONS, Math.max(1, model.decisions.length));
  const shown = Math.max(1, Math.min(wanted, Math.floor((left - LEAST_EVENTS) / DECISION_ROWS)));
  const decisions = decisionRows(model.decisions.slice(0, shown), model.steps.length > 0);
  const events = model.events.slice(0, Math.max(0, left - decisions.length)).map(eventRow);
  return [
    ...clusters,
    line(),
    line(span("LAST DECISIONS", "quiet")),
    ...decisions,
    line(),
    line(span("EVENTS, newest first (UTC)", "quiet")),
    ...events,
  ].slice(0, rows);
}

function clusterRows({ clusters, scrolled }: Model, room: number, width: number): Line[] {
  const from = Math.max(0, Math.min(scrolled, clusters.length - room));
  const shown = clusters.slice(from, from + room).map((cluster) => clusterRow(cluster, width));
  const hidden = clusters.length - shown.length;
  const more =
    hidden === 0
      ? []
      : [span(`    ${from + 1}–${from + shown.length} of ${clusters.length}: ↑ ↓ for the others`, "quiet")];
  return [clusterHeader(width), ...shown, line(...legend(), ...more)];
}

function title({ broker, clusters, readyAfterMs }: Model): Line {
  const up = clusters.filter(({ state }) => state === "ready" || state === "cordoned").length;
  const count = up === clusters.length ? `${up} clusters` : `${up} of ${clusters.length} clusters`;
  const where = broker === undefined ? "the broker starts" : `${broker.url}  ${broker.store}`;
  const after = readyAfterMs === undefined ? "" : `  ready in ${(readyAfterMs / 1000).toFixed(1)} s`;
  return line(span("Resource Broker", "title"), `  ${count}  ${where}`, span(after, "quiet"));
}

/** Shown completely or not at all, because a cut link does not work. */
function dashboardRow({ dashboard }: Model, width: number): Line {
  if (dashboard === undefined) return line();
  const row = [span("Dashboard", "quiet"), span(`  ${dashboard.url}`)];
  const isTooWide = row.reduce((sum, { text }) => sum + text.length, 0) > width;
  return isTooWide
    ? line(span("A wider terminal shows the link to the dashboard.", "careful"))
    : line(...row);
}

function footer({ problem, isEnding, page, steps }: Model): Line {
  if (isEnding) return line(span("Ending everything …", "careful"));
  if (problem !== "") return line(span(problem, "bad"));
  if (page === "commands") return line(span("c  back to the clusters    q  end everything", "quiet"));
  const hint = steps.length === 0 ? "" : "c  five commands to try    ";
  return line(span(`${hint}q or Ctrl-C  end everything`, "quiet"));
}
