import type { ResourceVector } from "@resource-broker/domain";
import { registerProcessGauges } from "@resource-broker/runtime";
import { Counter, Histogram, Registry } from "prom-client";
import type { AgentMetrics, Watched } from "./agent-metrics.ts";
import { registerReservationGauges } from "./reservation-gauges.ts";
import { registerResourceGauges } from "./resource-gauges.ts";

const PUBLISH_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const RESERVE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];
/** The broker's time is known to a second; finer delays show where both run on one clock. */
const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** The agent's figures, in a registry of their own. */
export function createAgentMetrics(): AgentMetrics {
  const registry = new Registry();
  const registers = [registry];
  let watched: Watched | undefined;
  let advertised: Readonly<Record<"reserved" | "available", ResourceVector>> | undefined;

  const publications = new Counter({
    name: "agent_publish_total",
    help: "Advertisements sent to the broker, by what came of them: `accepted`, or the code of the fault.",
    labelNames: ["result"],
    registers,
  });
  const publishTime = new Histogram({
    name: "agent_publish_seconds",
    help: "Time from sending an advertisement to its answer.",
    buckets: PUBLISH_BUCKETS,
    registers,
  });
  const reserveTime = new Histogram({
    name: "agent_time_to_reserve_seconds",
    help: "Time from the first sight of a ResourceRequest to its grant.",
    buckets: RESERVE_BUCKETS,
    registers,
  });
  const holdDelay = new Histogram({
    name: "agent_instruction_delay_seconds",
    help: "Time from a grant at the broker to the hold in this cluster, by the broker's clock.",
    buckets: DELAY_BUCKETS,
    registers,
  });
  const restarts = new Counter({
    name: "agent_watch_restarts_total",
    help: "Watches that ended otherwise than by their time and were begun again.",
    labelNames: ["resource"],
    registers,
  });
  const failures = new Counter({
    name: "agent_reconcile_errors_total",
    help: "Reconciliations that failed and are tried again.",
    labelNames: ["controller"],
    registers,
  });
  registerResourceGauges(registry, () => advertised);
  registerReservationGauges(registry, () => watched);
  const stopProcess = registerProcessGauges(registry);

  return {
    published: (result, tookMs) => {
      publications.inc({ result });
      publishTime.observe(tookMs / 1000);
    },
    advertised: (figures) => {
      advertised = figures;
    },
    reserved: (tookMs) => reserveTime.observe(tookMs / 1000),
    // Clocks that differ by less than their step may show a hold before its grant.
    held: (delayMs) => holdDelay.observe(Math.max(0, delayMs) / 1000),
    watchRestarted: (resource) => restarts.inc({ resource }),
    reconcileFailed: (controller) => failures.inc({ controller }),
    watch: (next) => {
      watched = next;
    },
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
    stop: stopProcess,
  };
}
