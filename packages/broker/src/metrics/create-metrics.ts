import { UNMET_REASONS, type UnmetReason, unmetReason } from "@resource-broker/domain";
import {
  addCertificateMetric,
  addEventLoopMetric,
  addProcessMetrics,
  type CertificateSet,
  createMetricsRegistry,
  type MetricsRegistry,
  type Reloads,
  revokedCount,
} from "@resource-broker/runtime";
import type { AskedRequest } from "../engine/request-identity.ts";
import type { AuditObserver } from "../store/audit-watch.ts";
import { BoundedNames, commitCounters, registerLedgerGauges, UnmetDemand } from "./ledger-metrics.ts";
import { type BrokerMetrics, CERTIFICATE_CAUSES, ENROLLMENT_RESULTS, type MetricsSource } from "./metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";

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
  const registry = createMetricsRegistry();
  const clusters = new BoundedNames(maxClusters);
  const unmet = new UnmetDemand();
  const countRefusal = refusalCounter(registry);
  const answers = new Map<string, number>();
  let source: MetricsSource | undefined;
  let certificates: CertificateSet | undefined;

  const decisions = registry.histogram({
    name: "broker_decision_seconds",
    help: "Time to decide one command, mean of each batch.",
    buckets: DECISION_BUCKETS,
  });
  const commits = registry.histogram({
    name: "broker_commit_seconds",
    help: "Time until a batch was durable.",
    buckets: COMMIT_BUCKETS,
  });
  const reserveTime = registry.histogram({
    name: "broker_time_to_reserve_seconds",
    help: "Time from a request for a reservation to its durable grant.",
    buckets: RESERVE_BUCKETS,
  });
  const committedCommands = registry.counter({
    name: "broker_commands_committed_total",
    help: "Commands that changed the ledger; divided by the count of commits it is the size of a batch.",
  });
  const failures = registry.counter({
    name: "broker_commit_failures_total",
    help: "Commits that failed, by what is known of their outcome.",
    isLabelled: true,
  });
  // Always 0: one writer decides. Dashboards made for earlier brokers ask for it.
  registry.counter({
    name: "broker_lock_conflicts_total",
    help: "Decisions taken again because another writer was faster.",
  });
  const countCommit = commitCounters({ registry, clusters, unmet });
  const queue = queueMetrics({ registry, source: () => source });
  registerLedgerGauges({ registry, clusters, unmet, source: () => source });
  registerReplicaGauges(registry, () => source);
  addCertificateMetric(registry, "broker", () => certificates);
  registerCertificateGauges(registry, () => certificates, reloads);
  const audit = auditMetrics(registry);
  const joining = joiningMetrics(registry, () => source);
  registerHttpMetrics(registry, answers, () => source);
  addProcessMetrics(registry);
  const stopEventLoop = addEventLoopMetric(registry);

  const demandUnmet = (reason: UnmetReason, asked: AskedRequest): void => {
    countRefusal(reason);
    unmet.refused(asked, reason, source?.engine.now() ?? 0);
  };

  return {
    decided: (count, milliseconds) => {
      if (count > 0) decisions.observe(milliseconds / 1000 / count);
    },
    committed: (count, milliseconds) => {
      commits.observe(milliseconds / 1000);
      committedCommands.inc({}, count);
    },
    planned: queue.planned,
    granted: (milliseconds) => reserveTime.observe(milliseconds / 1000),
    commitFailed: (kind) => failures.inc({ kind }),
    answered: (route, status) => {
      const name = `${status} ${route}`;
      answers.set(name, (answers.get(name) ?? 0) + 1);
    },
    demandUnmet,
    certificatesInForce: (set) => {
      certificates = set;
    },
    ...audit,
    ...joining,
    watch: (next) => {
      source = next;
      const unsubscribe = [
        next.engine.onCommit((commit) => {
          countCommit(commit, next.engine.ledger);
          queue.committed(commit);
        }),
        next.engine.onRefused(({ command, decision }) => demandUnmet(unmetReason(decision), command)),
      ];
      return () => {
        for (const end of unsubscribe) end();
      };
    },
    scrape: registry.scrape,
    contentType: registry.contentType,
    stop: stopEventLoop,
  };
}

/** All reasons from the start: a rate needs a value before the first refusal. */
function refusalCounter(registry: MetricsRegistry): (reason: UnmetReason) => void {
  const refusals = registry.counter({
    name: "broker_refusals_total",
    help: "Requests for a reservation that were refused, repetitions included, by what stopped the cluster that came furthest.",
    isLabelled: true,
  });
  for (const reason of UNMET_REASONS) refusals.inc({ reason }, 0);
  return (reason) => refusals.inc({ reason });
}

/** Requests are counted in a plain map and copied to the metric when it is scraped. */
function registerHttpMetrics(
  registry: MetricsRegistry,
  answers: ReadonlyMap<string, number>,
  source: () => MetricsSource | undefined,
): void {
  registry.collector(
    {
      name: "broker_http_requests_total",
      help: "Answered requests by route and status.",
      type: "counter",
    },
    () =>
      Array.from(answers, ([name, value]) => ({
        labels: { route: name.slice(4), status: name.slice(0, 3) },
        value,
      })),
  );
  const gauge = sourceGauge(registry, source);
  gauge("broker_http_connections", "Open connections of agents and admins.", ({ openConnections }) =>
    openConnections(),
  );
  gauge("broker_event_streams", "Open event streams.", ({ openStreams }) => openStreams());
}

/** Every label value from the start: a rate needs a value before the first one. */
function joiningMetrics(
  registry: MetricsRegistry,
  source: () => MetricsSource | undefined,
): Pick<BrokerMetrics, "enrolled" | "certificateIssued"> {
  const enrollments = registry.counter({
    name: "broker_enrollments_total",
    help: "Calls to enroll that were not malformed, by result: issued, waiting (for an admin or the signer), refused, failed (may work later).",
    isLabelled: true,
  });
  for (const result of ENROLLMENT_RESULTS) enrollments.inc({ result }, 0);
  const issued = registry.counter({
    name: "broker_certificates_issued_total",
    help: "Certificates of agents that were signed, by cause: enrollment or renewal.",
    isLabelled: true,
  });
  for (const cause of CERTIFICATE_CAUSES) issued.inc({ cause }, 0);
  sourceGauge(registry, source)(
    "broker_statements",
    "Statements between clusters that are kept, one per sender and receiver.",
    ({ statements }) => statements(),
  );
  return {
    enrolled: (result) => enrollments.inc({ result }),
    certificateIssued: (cause) => issued.inc({ cause }),
  };
}

/** What is known of the audit log. */
function auditMetrics(registry: MetricsRegistry): AuditObserver {
  let isBroken = false;
  registry.gauge(
    {
      name: "broker_audit_chain_broken",
      help: "1 if a line of the audit log is missing or was changed, 0 otherwise.",
    },
    () => (isBroken ? 1 : 0),
  );
  const checked = registry.counter({
    name: "broker_audit_lines_checked_total",
    help: "Lines of the audit log whose hash was computed again, in rounds from the oldest to the newest.",
  });
  return {
    auditChecked: (lines) => checked.inc({}, lines),
    auditFound: (problem) => {
      isBroken = problem !== undefined;
    },
  };
}

function registerCertificateGauges(
  registry: MetricsRegistry,
  inForce: () => CertificateSet | undefined,
  reloads: Reloads["statuses"],
): void {
  registry.collector(
    {
      name: "broker_revoked_certificates",
      help: "Certificates that are revoked by the lists of `crl.pem` in force.",
      type: "gauge",
    },
    () => {
      const set = inForce();
      // Unset instead of 0: the number is not known yet.
      return set === undefined ? [] : [{ value: revokedCount(set) }];
    },
  );
  registry.collector(
    {
      name: "broker_last_reload_successful",
      help: "1 while what is in force is what was found last, 0 while it could not be read again and the one before stays in force, by what it is.",
      type: "gauge",
    },
    () =>
      reloads().map(({ source, problem }) => ({ labels: { source }, value: problem === undefined ? 1 : 0 })),
  );
}

/** Role and health of this replica. All gauges are 0 on a standby replica. */
function registerReplicaGauges(registry: MetricsRegistry, source: () => MetricsSource | undefined): void {
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
function sourceGauge(registry: MetricsRegistry, source: () => MetricsSource | undefined) {
  return (name: string, help: string, read: (from: MetricsSource) => number): void =>
    registry.gauge({ name, help }, () => {
      const from = source();
      return from === undefined ? 0 : read(from);
    });
}
