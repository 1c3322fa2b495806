import { type Decision, type LedgerEvent, type Reservation, unmetReason } from "@resource-broker/domain";
import { Counter, type Registry } from "prom-client";
import type { Committed, Engine } from "../engine/engine.ts";
import type { BoundedNames } from "./ledger-gauges.ts";
import type { UnmetDemand } from "./unmet-demand.ts";

const HOUR_MS = 3_600_000;

export interface CommitCounterDeps {
  readonly registry: Registry;
  readonly clusters: BoundedNames;
  readonly unmet: UnmetDemand;
}

/** Counts what the ledger went through, commit by commit. */
export function commitCounters({ registry, clusters, unmet }: CommitCounterDeps) {
  const registers = [registry];
  const reservations = new Counter({
    name: "broker_reservations_total",
    help: "Reservations that came into a phase, by the cluster that asked.",
    labelNames: ["phase", "requester"],
    registers,
  });
  const ends = new Counter({
    name: "broker_reservation_ends_total",
    help: "Reservations that ended, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const savings = new Counter({
    name: "broker_cost_savings_total",
    help: "Saved against the mean price of the clusters that fitted; open-ended reservations count one hour.",
    labelNames: ["currency"],
    registers,
  });
  const countPhase = ({ phase, requester }: Reservation): void =>
    reservations.inc({ phase, requester: clusters.labelFor(requester) });

  const count = (event: LedgerEvent, ledger: Engine["ledger"]): void => {
    switch (event.kind) {
      case "granted":
        countPhase(event.reservation);
        savings.inc({ currency: event.decision.currency }, savingsOf(event.reservation, event.decision));
        return;
      case "adopted":
        return countPhase(event.reservation);
      case "refused":
        return unmet.add(unmetReason(event.decision), event.at);
      case "activated":
      case "ended": {
        const reservation = ledger.reservations.get(event.id);
        if (reservation !== undefined) countPhase(reservation);
        if (event.kind === "ended") ends.inc({ reason: event.reason });
        return;
      }
      default:
      // Changes no phase.
    }
  };

  return (commit: Committed, ledger: Engine["ledger"]): void => {
    for (const event of commit.events) count(event, ledger);
  };
}

/**
 * What the choice saved against the mean price of all clusters that fitted: for the time it was asked for, or for one
 * hour when it is open-ended. Never less than nothing: a counter only grows.
 */
function savingsOf(
  { cost, expiresAt, reservedAt }: Reservation,
  { market }: Pick<Decision, "market">,
): number {
  if (cost === undefined || market.meanPrice === undefined) return 0;
  const hours = expiresAt === undefined ? 1 : (expiresAt - reservedAt) / HOUR_MS;
  return Math.max(0, (market.meanPrice - cost.perHour) * hours);
}
