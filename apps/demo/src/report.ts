import { safeJson, safeLine, truncate } from "@resource-broker/base";
import type { BrokerUpdate, ClusterState, DemoUpdate } from "./updates/update.ts";

/** Whoever shows a person, a file or a program what happens. */
export interface Reporter {
  /** Before anything else, with the clusters that will come. */
  readonly start: (names: readonly string[]) => void;
  readonly update: (update: DemoUpdate) => void;
  /** Removes the status line; more than once does no harm. */
  readonly stop: () => void;
}

export interface ReporterOptions {
  readonly json: boolean;
  readonly output: Pick<NodeJS.WriteStream, "write" | "isTTY" | "columns">;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** To the first column, and away with what is there. */
const CLEAR_LINE = "\r\u001b[2K";

/** One JSON object per line, or lines for people; on a terminal with a status line below them. */
export function createReporter({ json, output, env }: ReporterOptions): Reporter {
  const write = (line: string): void => void output.write(`${line}\n`);
  const ignore = (): void => undefined;
  if (json)
    return { start: ignore, update: (update) => write(safeJson(JSON.stringify(update))), stop: ignore };
  const hasStatus = output.isTTY && !["", "dumb"].includes(env["TERM"] ?? "");
  return hasStatus ? statusReporter(output) : lineReporter(write);
}

function lineReporter(write: (line: string) => void): Reporter {
  let linesOf: ReturnType<typeof linesFor> = () => [];
  return {
    start: (names) => {
      linesOf = linesFor(names);
      write(`Resource Broker: a broker and ${names.length} clusters, all on this machine.`);
    },
    update: (update) => linesOf(update).forEach((line) => write(safeLine(line))),
    stop: () => undefined,
  };
}

/** The same lines; below the last one stands what is true now. */
function statusReporter(output: ReporterOptions["output"]): Reporter {
  let shown = "";
  const lines = lineReporter((line) => {
    output.write(`${CLEAR_LINE}${line}\n`);
    shown = "";
  });
  let status: ReturnType<typeof statusText> | undefined;
  const show = (text: string): void => {
    if (text === shown) return;
    shown = text;
    output.write(`${CLEAR_LINE}${text}`);
  };
  return {
    start: (names) => {
      lines.start(names);
      status = statusText(names);
    },
    update: (update) => {
      lines.update(update);
      // One column stays free: a line as wide as the terminal would begin another one.
      const text = status?.(update, output.columns - 1) ?? "";
      show(update.kind === "ended" ? "" : text);
    },
    stop: () => show(""),
  };
}

function linesFor(names: readonly string[]): (update: DemoUpdate) => readonly string[] {
  const states = new Map<string, ClusterState["state"]>();
  let hasLink = false;
  return (update) => {
    switch (update.kind) {
      case "broker":
        return [
          `The broker is at ${update.broker.url}, its ledger in ${update.broker.store}.`,
          folderNote(update.broker),
        ];
      case "dashboard": {
        // Whoever reads lines later has no use for the links in between.
        const { url, command } = update.dashboard;
        const lines = hasLink ? [] : dashboardLines(url, command);
        hasLink = true;
        return lines;
      }
      case "cluster": {
        const { name, state } = update.cluster;
        const before = states.get(name);
        states.set(name, state);
        return before === state ? [] : stateLine(name, state);
      }
      case "decision":
        return [`${timeOf(update.decision.at)}  ${update.decision.headline} Why: ${update.decision.why}`];
      case "event":
        return [`${timeOf(update.event.at)}  ${update.event.source}: ${update.event.text}`];
      case "ready":
        return guide(update, names);
      case "trouble":
        return [update.text === "" ? "The broker answers again." : update.text];
      case "ending":
        return ["Ending everything …"];
      case "ended":
        return ["Everything has ended."];
    }
  };
}

function dashboardLines(url: string, command: string): string[] {
  return [`The dashboard: ${url}`, `  (the link works once, for two minutes; for another one: ${command})`];
}

function folderNote({ folder, isKept }: BrokerUpdate): string {
  return `Files, logs included, are in ${folder} and ${isKept ? "stay there" : "are removed at the end"}.`;
}

function stateLine(name: string, state: ClusterState["state"]): string[] {
  switch (state) {
    case "starting":
      return [];
    case "ready":
      return [`  the agent of ${name} is ready`];
    case "cordoned":
      return [`  ${name} is cordoned`];
    case "down":
      return [`  the agent of ${name} has ended: see its log`];
  }
}

type Ready = Extract<DemoUpdate, { kind: "ready" }>;

function guide({ afterMs, notes, steps }: Ready, names: readonly string[]): string[] {
  return [
    `Ready after ${(afterMs / 1000).toFixed(1)} s: ${names.length} clusters.`,
    "",
    ...notes.flatMap((note) => [note, ""]),
    "Follow one reservation from request to release. In another terminal, run one after the other:",
    ...steps.flatMap(({ says, command }, index) => ["", `  ${index + 1}. ${says}:`, `     ${command}`]),
    "",
    "Ctrl-C ends everything.",
    "",
  ];
}

/** `10:00:00` of an RFC 3339 time. */
function timeOf(at: string): string {
  return at.slice(11, 19);
}

/** After each update: the clusters in sum, and a link to the dashboard that still works. */
function statusText(names: readonly string[]): (update: DemoUpdate, columns: number) => string {
  const clusters = new Map<string, ClusterState>();
  let url = "";
  let problem = "";
  return (update, columns) => {
    if (update.kind === "cluster") clusters.set(update.cluster.name, update.cluster);
    if (update.kind === "dashboard") url = update.dashboard.url;
    if (update.kind === "trouble") problem = update.text;
    if (update.kind === "ending") problem = "Ending everything …";
    if (problem !== "") return truncate(safeLine(problem), columns);
    const sums = sumText(names.length, [...clusters.values()]);
    // A link is shown whole or not at all: half a link does not work. It comes first, as it leads to all the rest.
    const fitting = [`${sums}  ${url}`.trimEnd(), url].find((text) => text !== "" && text.length <= columns);
    return fitting ?? truncate(sums, columns);
  };
}

/** `4 clusters: 62 of 112 CPU free, 10 lent` */
function sumText(planned: number, clusters: readonly ClusterState[]): string {
  const up = clusters.filter(({ state }) => state === "ready" || state === "cordoned");
  const cpus = (share: "all" | "lent" | "free"): number =>
    Math.round(up.reduce((sum, { cpuMillis }) => sum + cpuMillis[share], 0) / 1000);
  const count = up.length === planned ? `${planned} clusters` : `${up.length} of ${planned} clusters`;
  return `${count}: ${cpus("free")} of ${cpus("all")} CPU free, ${cpus("lent")} lent`;
}
