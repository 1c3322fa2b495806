import { UNMET_REASONS, type UnmetReason, unmetReason } from "@resource-broker/domain";
import { type CertificateSet, type Reloads, registerProcessGauges } from "@resource-broker/runtime";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { AuditObserver } from "../store/audit-watch.ts";
import { registerCertificateGauges, registerReloadGauge } from "./certificate-gauge.ts";
import { commitCounters } from "./commit-counters.ts";
import { BoundedNames, registerLedgerGauges } from "./ledger-gauges.ts";
import type { BrokerMetrics, MetricsSource } from "./metrics.ts";
import { UnmetDemand } from "./unmet-demand.ts";

export interface MetricsOptions {
  /** This many clusters have their own series; the others are summed up as `other`. */
  readonly maxClusters: number;
  /** What is read again while the broker runs. */
  readonly reloads?: Reloads["statuses"];
}

export const DEFAULT_METRICS_OPTIONS: MetricsOptions = { maxClusters: 500 };

const DECISION_BUCKETS = [1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 2.5e-2, 0.1];
const RESERVE_BUCKETS = [5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const COMMIT_BUCKETS = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 0.1, 0.5, 2.5];

/** The broker's metrics, in their own registry. */
export function createMetrics({
  maxClusters,
  reloads = () => [],
}: MetricsOptions): BrokerMetrics & { readonly stop: () => void } {
  const registry = new Registry();
  const registers = [registry];
  const clusters = new BoundedNames(maxClusters);
  const unmet = new UnmetDemand(refusalCounter(registry));
  const answers = new Map<string, number>();
  let source: MetricsSource | undefined;
  let certificates: CertificateSet | undefined;

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
  const reserveTime = new Histogram({
    name: "broker_time_to_reserve_seconds",
    help: "Time from a request for a reservation to its durable grant.",
    buckets: RESERVE_BUCKETS,
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
  registerLedgerGauges({ registry, clusters, unmet, source: () => source });
  registerReplicaGauges(registry, () => source);
  registerCertificateGauges(registry, () => certificates);
  registerReloadGauge(registry, reloads);
  const audit = auditMetrics(registry);
  registerHttpMetrics(registry, answers, () => source);
  const stopProcess = registerProcessGauges(registry);

  return {
    decided: (count, milliseconds) => {
      if (count > 0) decisions.observe(milliseconds / 1000 / count);
    },
    committed: (count, milliseconds) => {
      commits.observe(milliseconds / 1000);
      committedCommands.inc(count);
    },
    granted: (milliseconds) => reserveTime.observe(milliseconds / 1000),
    commitFailed: (kind) => failures.inc({ kind }),
    refusalNotRecorded: (decision) => unmet.add(unmetReason(decision), source?.engine.now() ?? 0),
    lockConflict: () => conflicts.inc(),
    answered: (route, status) => {
      const name = `${status} ${route}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
    },
    demandUnmet: (reason) => unmet.add(reason, source?.engine.now() ?? 0),
    certificatesInForce: (set) => {
      certificates = set;
    },
    ...audit,
    watch: (next) => {
      source = next;
      return next.engine.onCommit((commit) => countCommit(commit, next.engine.ledger));
    },
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
    stop: stopProcess,
  };
}

/** All reasons from the start: a rate needs a value before the first refusal. */
function refusalCounter(registry: Registry): (reason: UnmetReason) => void {
  const refusals = new Counter({
    name: "broker_refusals_total",
    help: "Requests for a reservation that were refused, by the reason that most clusters had.",
    labelNames: ["reason"],
    registers: [registry],
  });
  for (const reason of UNMET_REASONS) refusals.inc({ reason }, 0);
  return (reason) => refusals.inc({ reason });
}

/** Requests are counted in a plain map and copied to the metric when it is scraped. */
function registerHttpMetrics(
  registry: Registry,
  answers: ReadonlyMap<string, number>,
  source: () => MetricsSource | undefined,
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
  const gauge = sourceGauge(registry, source);
  gauge("broker_http_connections", "Open connections of agents and admins.", ({ openConnections }) =>
    openConnections(),
  );
  gauge("broker_event_streams", "Open event streams.", ({ openStreams }) => openStreams());
}

/** What is known of the audit log. */
function auditMetrics(registry: Registry): AuditObserver {
  const registers = [registry];
  const broken = new Gauge({
    name: "broker_audit_chain_broken",
    help: "1 if a line of the audit log is missing or was changed, 0 otherwise.",
    registers,
  });
  const checked = new Counter({
    name: "broker_audit_lines_checked_total",
    help: "Lines of the audit log whose hash was computed again, in rounds from the oldest to the newest.",
    registers,
  });
  return {
    auditChecked: (lines) => checked.inc(lines),
    auditFound: (problem) => broken.set(problem === undefined ? 0 : 1),
  };
}

/** Role and health of this replica. All gauges are 0 on a standby replica. */
function registerReplicaGauges(registry: Registry, source: () => MetricsSource | undefined): void {
  const gauge = sourceGauge(registry, source);
  gauge(
    "broker_leading",
    "1 while this replica answers for the ledger, 0 while it stands by; 1 too where there is only one.",
    ({ isLeading }) => (isLeading() ? 1 : 0),
  );
  gauge(
    "broker_store_available",
    "1 while the ledger can be written, 0 while it cannot or this replica stands by.",
    ({ engine }) => (engine.health.state === "ready" ? 1 : 0),
  );
  gauge(
    "broker_advertisement_stale_after_seconds",
    "Age from which an advertisement does not count any more, by the policy in force.",
    ({ engine }) => engine.policy.stalenessMs / 1000,
  );
}

/** Adds gauges that read the metrics source at scrape time; 0 while there is none. */
function sourceGauge(registry: Registry, source: () => MetricsSource | undefined) {
  return (name: string, help: string, read: (from: MetricsSource) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const from = source();
        this.set(from === undefined ? 0 : read(from));
      },
    });
  };
}
