import { registerProcessGauges } from "@resource-broker/runtime";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { BoundedNames } from "./bounded-names.ts";
import { commitCounters } from "./commit-counters.ts";
import { registerLedgerGauges } from "./ledger-gauges.ts";
import type { BrokerMetrics, Watched } from "./metrics.ts";
import { UnmetDemand } from "./unmet-demand.ts";

export interface MetricsOptions {
  /** So many clusters have figures of their own; the rest is summed up as `other`. */
  readonly maxClusters: number;
}

export const DEFAULT_METRICS_OPTIONS: MetricsOptions = { maxClusters: 500 };

const DECISION_BUCKETS = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 2.5e-2, 0.1];
const COMMIT_BUCKETS = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.5, 2.5];

/** The broker's figures, in a registry of their own. */
export function createMetrics({
  maxClusters,
}: MetricsOptions): BrokerMetrics & { readonly stop: () => void } {
  const registry = new Registry();
  const registers = [registry];
  const clusters = new BoundedNames(maxClusters);
  const unmet = new UnmetDemand();
  const answers = new Map<string, number>();
  let watched: Watched | undefined;

  const decisions = new Histogram({
    name: "broker_decision_seconds",
    help: "Time to decide one command, mean of each batch.",
    buckets: DECISION_BUCKETS,
    registers,
  });
  const commits = new Histogram({
    name: "broker_commit_seconds",
    help: "Time until a batch was durable.",
    buckets: COMMIT_BUCKETS,
    registers,
  });
  const committedCommands = new Counter({
    name: "broker_commands_committed_total",
    help: "Commands that changed the ledger; divided by the count of commits it is the size of a batch.",
    registers,
  });
  const failures = new Counter({
    name: "broker_commit_failures_total",
    help: "Commits that failed, by what is known of their outcome.",
    labelNames: ["kind"],
    registers,
  });
  const conflicts = new Counter({
    name: "broker_lock_conflicts_total",
    help: "Decisions taken again because another writer was faster.",
    registers,
  });
  const countCommit = commitCounters({ registry, clusters, unmet });
  registerLedgerGauges({ registry, clusters, unmet, watched: () => watched });
  registerHttpFigures(registry, answers, () => watched);
  const stopProcess = registerProcessGauges(registry);

  return {
    decided: (count, milliseconds) => {
      if (count > 0) decisions.observe(milliseconds / 1000 / count);
    },
    committed: (count, milliseconds) => {
      commits.observe(milliseconds / 1000);
      committedCommands.inc(count);
    },
    commitFailed: (kind) => failures.inc({ kind }),
    lockConflict: () => conflicts.inc(),
    answered: (route, status) => {
      const name = `${status} ${route}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
    },
    demandUnmet: (reason) => unmet.add(reason, watched?.engine.now() ?? 0),
    watch: (next) => {
      watched = next;
      return next.engine.onCommit((commit) => countCommit(commit, next.engine.ledger));
    },
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
    stop: stopProcess,
  };
}

/** Counted in a plain map on the way of each request, and told to Prometheus when it asks. */
function registerHttpFigures(
  registry: Registry,
  answers: ReadonlyMap<string, number>,
  watched: () => Watched | undefined,
): void {
  const registers = [registry];
  new Counter({
    name: "broker_http_requests_total",
    help: "Answered requests by route and status.",
    labelNames: ["route", "status"],
    registers,
    collect() {
      this.reset();
      for (const [name, count] of answers) {
        this.inc({ route: name.slice(4), status: name.slice(0, 3) }, count);
      }
    },
  });
  const gauge = (name: string, help: string, read: (from: Watched) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const from = watched();
        this.set(from === undefined ? 0 : read(from));
      },
    });
  };
  gauge("broker_http_connections", "Open connections of agents and admins.", ({ openConnections }) =>
    openConnections(),
  );
  gauge("broker_event_streams", "Open event streams.", ({ openStreams }) => openStreams());
}
