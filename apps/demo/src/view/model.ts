import {
  type BrokerUpdate,
  type ClusterState,
  type DashboardUpdate,
  type DecisionUpdate,
  type DemoUpdate,
  type EventUpdate,
  type Step,
  startingCluster,
} from "../updates/update.ts";

/** More than any terminal has lines. */
const MAX_KEPT = 200;

/** All that a frame is drawn from. */
export interface Model {
  readonly broker: BrokerUpdate | undefined;
  readonly dashboard: DashboardUpdate | undefined;
  /** In the order in which they were planned. */
  readonly clusters: readonly ClusterState[];
  /** Newest first. */
  readonly decisions: readonly DecisionUpdate[];
  /** Newest first. */
  readonly events: readonly EventUpdate[];
  readonly notes: readonly string[];
  readonly steps: readonly Step[];
  readonly readyAfterMs: number | undefined;
  readonly problem: string;
  readonly isEnding: boolean;
  readonly page: "live" | "commands";
  /** How many clusters are scrolled away above. */
  readonly scrolled: number;
}

export function emptyModel(names: readonly string[]): Model {
  return {
    broker: undefined,
    dashboard: undefined,
    clusters: names.map(startingCluster),
    decisions: [],
    events: [],
    notes: [],
    steps: [],
    readyAfterMs: undefined,
    problem: "",
    isEnding: false,
    page: "live",
    scrolled: 0,
  };
}

/** The model with one more piece of news. */
export function applyUpdate(model: Model, update: DemoUpdate): Model {
  switch (update.kind) {
    case "broker":
      return { ...model, broker: update.broker };
    case "dashboard":
      return { ...model, dashboard: update.dashboard };
    case "cluster":
      return { ...model, clusters: replaced(model.clusters, update.cluster) };
    case "decision":
      return { ...model, decisions: [update.decision, ...model.decisions].slice(0, MAX_KEPT) };
    case "event":
      return { ...model, events: [update.event, ...model.events].slice(0, MAX_KEPT) };
    case "ready":
      return { ...model, readyAfterMs: update.afterMs, notes: update.notes, steps: update.steps };
    case "trouble":
      return { ...model, problem: update.text };
    case "ending":
    case "ended":
      return { ...model, isEnding: true };
  }
}

export type Key = "commands" | "back" | "up" | "down";

/** The model after a key; the same one when the key means nothing there. */
export function withKey(model: Model, key: Key): Model {
  switch (key) {
    case "commands":
      return { ...model, page: model.page === "live" ? "commands" : "live" };
    case "back":
      return model.page === "live" ? model : { ...model, page: "live" };
    case "up":
      return model.scrolled === 0 ? model : { ...model, scrolled: model.scrolled - 1 };
    case "down":
      return { ...model, scrolled: Math.min(model.scrolled + 1, Math.max(0, model.clusters.length - 1)) };
  }
}

function replaced(clusters: readonly ClusterState[], cluster: ClusterState): readonly ClusterState[] {
  const isKnown = clusters.some(({ name }) => name === cluster.name);
  if (!isKnown) return [...clusters, cluster];
  return clusters.map((each) => (each.name === cluster.name ? cluster : each));
}
