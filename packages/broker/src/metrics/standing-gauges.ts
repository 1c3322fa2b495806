import type { Registry } from "prom-client";
import type { MetricsSource } from "./metrics.ts";
import { sourceGauge } from "./watched-gauge.ts";

/** Role and health of this replica. All gauges are 0 on a standby replica. */
export function registerReplicaGauges(registry: Registry, source: () => MetricsSource | undefined): void {
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
