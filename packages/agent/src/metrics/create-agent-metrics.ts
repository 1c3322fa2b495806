import {
  addProcessMetrics,
  type CertificateSet,
  createMetricsRegistry,
  type Reloads,
} from "@resource-broker/runtime";
import type { ResourceVector } from "@resource-broker/domain";
import type { AgentMetrics, MetricSources } from "./agent-metrics.ts";
import { addCertificateGauge, addReloadGauge } from "./certificate-gauge.ts";
import { addReservationGauges } from "./reservation-gauges.ts";
import { addResourceGauges } from "./resource-gauges.ts";

const PUBLISH_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const RESERVE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];
/** The broker's time is known to a second; smaller delays are visible where both use one clock. */
const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** The agent's metrics; `reloads` reports files and objects that are reloaded. */
export function createAgentMetrics(reloads: Reloads["statuses"] = () => []): AgentMetrics {
  const registry = createMetricsRegistry();
  let sources: MetricSources | undefined;
  let certificates: CertificateSet | undefined;
  let advertised: Readonly<Record<"reserved" | "available", ResourceVector>> | undefined;

  const publications = registry.counter({
    name: "agent_publish_total",
    help: "Advertisements sent to the broker, by result: `accepted`, or the code of the fault.",
    isLabelled: true,
  });
  // Created with 0: Prometheus cannot see the increase of a counter that first appears with a value.
  publications.inc({ result: "accepted" }, 0);
  const publishTime = registry.histogram({
    name: "agent_publish_seconds",
    help: "Time from sending an advertisement to its answer.",
    buckets: PUBLISH_BUCKETS,
  });
  const reserveTime = registry.histogram({
    name: "agent_time_to_reserve_seconds",
    help: "Time from the first reconcile of a ResourceRequest to its grant.",
    buckets: RESERVE_BUCKETS,
  });
  const instructionDelay = registry.histogram({
    name: "agent_instruction_delay_seconds",
    help: "Time from a grant at the broker to the ProviderInstruction in this cluster, by the broker's clock.",
    buckets: DELAY_BUCKETS,
  });
  const restarts = registry.counter({
    name: "agent_watch_restarts_total",
    help: "Watches that ended early and were restarted.",
    isLabelled: true,
  });
  const failures = registry.counter({
    name: "agent_reconcile_errors_total",
    help: "Reconciliations that failed and are retried.",
    isLabelled: true,
  });
  addCertificateGauge(registry, () => certificates);
  addReloadGauge(registry, reloads);
  addResourceGauges(registry, () => advertised);
  addReservationGauges(registry, () => sources);
  addProcessMetrics(registry);

  return {
    published: (result, tookMs) => {
      publications.inc({ result });
      publishTime.observe(tookMs / 1000);
    },
    advertised: (offered) => {
      advertised = offered;
    },
    reserved: (tookMs) => reserveTime.observe(tookMs / 1000),
    // Clock differences below a second may give a negative delay.
    held: (delayMs) => instructionDelay.observe(Math.max(0, delayMs) / 1000),
    watchRestarted: (resource) => restarts.inc({ resource }),
    reconcileFailed: (controller) => failures.inc({ controller }),
    certificatesInForce: (set) => {
      certificates = set;
    },
    setSources: (next) => {
      sources = next;
    },
    scrape: registry.scrape,
    contentType: registry.contentType,
  };
}
