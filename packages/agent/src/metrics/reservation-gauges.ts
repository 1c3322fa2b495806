import { isFinal, PHASES } from "@resource-broker/domain";
import { Gauge, type Registry } from "prom-client";
import type { BookEntry } from "../reservations/reservation-book.ts";
import type { Role } from "../transport/broker-communicator.ts";
import type { Watched } from "./agent-metrics.ts";

const ROLES: readonly Role[] = ["requester", "provider"];
const LIVE_PHASES = PHASES.filter((phase) => !isFinal(phase));

/** Figures that are read off the book when Prometheus asks, so that they cost nothing otherwise. */
export function registerReservationGauges(registry: Registry, watched: () => Watched | undefined): void {
  const registers = [registry];
  const live = (role: Role): BookEntry[] => watched()?.book.live(role) ?? [];

  new Gauge({
    name: "agent_reservations",
    help: "Live reservations that this cluster is a party of.",
    labelNames: ["role", "phase"],
    registers,
    collect() {
      for (const role of ROLES) {
        for (const phase of LIVE_PHASES) this.set({ role, phase }, 0);
        for (const { reservation } of live(role)) this.inc({ role, phase: reservation.status.phase });
      }
    },
  });
  new Gauge({
    name: "agent_unknown_reservations",
    help: "Reservations that are held though the broker does not know them; they are offered for adoption.",
    registers,
    collect() {
      const entries = ROLES.flatMap(live);
      this.set(entries.filter(({ standing }) => standing === "unknown").length);
    },
  });
  new Gauge({
    name: "agent_broker_connected",
    help: "1 while the broker pushes instructions on an open stream, 0 while it is polled or not reached.",
    registers,
    collect() {
      this.set(watched()?.isStreaming() === true ? 1 : 0);
    },
  });
}
