import { isFinal, PHASES } from "@resource-broker/domain";
import type { MetricsRegistry } from "@resource-broker/runtime";
import type { CachedReservation } from "../reservations/reservation-book.ts";
import type { Role } from "../transport/broker-communicator.ts";
import type { MetricSources } from "./agent-metrics.ts";

const ROLES: readonly Role[] = ["requester", "provider"];
const LIVE_PHASES = PHASES.filter((phase) => !isFinal(phase));

/** Computed from the cache at each scrape. */
export function addReservationGauges(
  registry: MetricsRegistry,
  sources: () => MetricSources | undefined,
): void {
  const live = (role: Role): CachedReservation[] => sources()?.cache.live(role) ?? [];

  registry.collector(
    {
      name: "agent_reservations",
      help: "Live reservations of this cluster, by role and phase.",
      type: "gauge",
    },
    () =>
      ROLES.flatMap((role) => {
        const phases = live(role).map(({ reservation }) => reservation.status.phase);
        return LIVE_PHASES.map((phase) => ({
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
