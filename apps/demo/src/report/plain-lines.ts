import type { BrokerUpdate, ClusterState, DemoUpdate } from "../updates/update.ts";
import { timeOf } from "../view/update-rows.ts";

/** Lines for a file, a pipe, or a terminal that can do no better. */
export function plainLines(names: readonly string[]): (update: DemoUpdate) => readonly string[] {
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
