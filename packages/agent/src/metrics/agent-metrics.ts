import { inBaseUnits } from "@resource-broker/base";
import { isFinal, PHASES } from "@resource-broker/domain";
import {
  addProcessMetrics,
  type CertificateSet,
  addCertificateMetric,
  createMetricsRegistry,
  type MetricsRegistry,
  type MetricsSource,
  type Reloads,
} from "@resource-broker/runtime";
import type { AdvertisedResources, AgentObserver } from "../core/agent-deps.ts";
import type { CachedReservation, ReservationCache } from "../reservations/reservation-cache.ts";
import type { WaitingCache } from "../reservations/waiting-cache.ts";
import type { Role } from "../transport/broker-communicator.ts";

/** The sources of metrics that are read at each scrape. */
export interface MetricSources {
  readonly cache: Pick<ReservationCache, "live">;
  readonly waiting: Pick<WaitingCache, "pending">;
  /** True while the broker pushes. */
  readonly isStreaming: () => boolean;
}

/** The agent's metrics. */
export interface AgentMetrics extends AgentObserver, MetricsSource {
  /** Counts a try to renew the own certificate; "none" only makes the series appear. */
  readonly certificateRenewal: (result: "renewed" | "failed" | "none") => void;
  /** Sets the certificates in use. */
  readonly certificatesInForce: (set: CertificateSet) => void;
  /** Sets the sources to read from. */
  readonly setSources: (watched: MetricSources) => void;
}

const ROLES: readonly Role[] = ["requester", "provider"];
/** Pending: the requests that wait at the broker. */
const OPEN_PHASES = PHASES.filter((phase) => !isFinal(phase));

const PUBLISH_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const RESERVE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600];
/** The broker's time is known to a second; smaller delays are visible where both use one clock. */
const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/** The agent's metrics; `reloads` reports files and objects that are reloaded. */
export function createAgentMetrics(reloads: Reloads["statuses"] = () => []): AgentMetrics {
  const registry = createMetricsRegistry();
  let sources: MetricSources | undefined;
  let certificates: CertificateSet | undefined;
  let advertised: AdvertisedResources | undefined;

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
  const renewals = registry.counter({
    name: "agent_certificate_renewals_total",
    help: "Tries to renew the agent's own certificate, by result: `renewed` or `failed`. Only agents that renew it themselves have it.",
    isLabelled: true,
  });
  addCertificateMetric(registry, "agent", () => certificates);
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
    certificateRenewal: (result) => {
      for (const each of ["renewed", "failed"]) renewals.inc({ result: each }, each === result ? 1 : 0);
    },
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

function addReloadGauge(registry: MetricsRegistry, reloads: Reloads["statuses"]): void {
  registry.collector(
    {
      name: "agent_last_reload_successful",
      help: "1 while the last reload succeeded, 0 while it failed and the previous version stays in use, by source.",
      type: "gauge",
    },
    () =>
      reloads().map(({ source, problem }) => ({ labels: { source }, value: problem === undefined ? 1 : 0 })),
  );
}

/** Computed from the cache at each scrape. */
function addReservationGauges(registry: MetricsRegistry, sources: () => MetricSources | undefined): void {
  const live = (role: Role): CachedReservation[] => sources()?.cache.live(role) ?? [];

  registry.collector(
    {
      name: "agent_reservations",
      help: "Live reservations of this cluster, by role and phase; `Pending`: requests that wait at the broker.",
      type: "gauge",
    },
    () =>
      ROLES.flatMap((role) => {
        const phases = live(role).map(({ reservation }) => reservation.phase);
        if (role === "requester")
          phases.push(...(sources()?.waiting.pending() ?? []).map(({ phase }) => phase));
        return OPEN_PHASES.map((phase) => ({
          labels: { role, phase },
          value: phases.filter((each) => each === phase).length,
        }));
      }),
  );
  registry.collector(
    {
      name: "agent_unknown_reservations",
      help: "Live reservations that the broker does not know; they are offered for adoption.",
      type: "gauge",
    },
    () => [{ value: ROLES.flatMap(live).filter(({ syncState }) => syncState === "unknown").length }],
  );
  registry.collector(
    {
      name: "agent_broker_connected",
      help: "1 while the broker pushes instructions on an open stream, 0 while it is polled or not reached.",
      type: "gauge",
    },
    () => [{ value: sources()?.isStreaming() === true ? 1 : 0 }],
  );
}

/** Reserved and available resources; nothing before the first advertisement. */
function addResourceGauges(
  registry: MetricsRegistry,
  advertised: () => AdvertisedResources | undefined,
): void {
  const gauge = (of: keyof AdvertisedResources, help: string): void =>
    registry.collector(
      { name: `agent_${of}`, help: `${help}; CPU in cores, memory and storage in bytes.`, type: "gauge" },
      () => {
        const vector = advertised()?.[of];
        if (vector === undefined) return [];
        return inBaseUnits(vector).map(([resource, value]) => ({ labels: { resource }, value }));
      },
    );
  gauge("reserved", "Reserved for other clusters, as last advertised");
  gauge("available", "Available to lend, as last advertised");
}
