import type { CertificateSet, MetricsSource } from "@resource-broker/runtime";
import type { AgentObserver } from "../core/agent-deps.ts";
import type { ReservationCache } from "../reservations/reservation-book.ts";

/** The sources of metrics that are read at each scrape. */
export interface MetricSources {
  readonly cache: Pick<ReservationCache, "live">;
  /** True while the broker pushes. */
  readonly isStreaming: () => boolean;
}

/** The agent's metrics. */
export interface AgentMetrics extends AgentObserver, MetricsSource {
  /** Sets the certificates in use. */
  readonly certificatesInForce: (set: CertificateSet) => void;
  /** Sets the sources to read from. */
  readonly setSources: (watched: MetricSources) => void;
}
