import {
  type BrokerNews,
  type ClusterState,
  type DashboardNews,
  type DecisionNews,
  type EventNews,
  type News,
  startingCluster,
  type Step,
} from "../news/news.ts";

/** More than any terminal has lines. */
const KEPT = 200;

/** All that a frame is drawn from. */
export interface Model {
  readonly broker: BrokerNews | undefined;
  readonly dashboard: DashboardNews | undefined;
  /** In the order in which they were planned. */
  readonly clusters: readonly ClusterState[];
  /** Newest first. */
  readonly decisions: readonly DecisionNews[];
  /** Newest first. */
  readonly events: readonly EventNews[];
  readonly notes: readonly string[];
  readonly steps: readonly Step[];
  readonly readyAfterMs: number | undefined;
  readonly trouble: string;
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
    trouble: "",
    isEnding: false,
    page: "live",
    scrolled: 0,
  };
}

/** The model with one more piece of news. */
export function withNews(model: Model, news: News): Model {
  switch (news.kind) {
    case "broker":
      return { ...model, broker: news.broker };
    case "dashboard":
      return { ...model, dashboard: news.dashboard };
    case "cluster":
      return { ...model, clusters: replaced(model.clusters, news.cluster) };
    case "decision":
      return { ...model, decisions: [news.decision, ...model.decisions].slice(0, KEPT) };
    case "event":
      return { ...model, events: [news.event, ...model.events].slice(0, KEPT) };
    case "ready":
      return { ...model, readyAfterMs: news.afterMs, notes: news.notes, steps: news.steps };
    case "trouble":
      return { ...model, trouble: news.text };
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
