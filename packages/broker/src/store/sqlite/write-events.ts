import type { LedgerEvent } from "@resource-broker/domain";
import { changedReservations, decisionOf } from "../changes.ts";
import { closedKeyName, type Tables } from "./tables.ts";

/** Brings the tables to where the events lead. Throws on events that contradict what is stored. */
export function writeEvents(tables: Tables, events: readonly LedgerEvent[]): void {
  for (const [id, reservation] of changedReservations(events, tables.reservations.find)) {
    if (reservation === undefined) tables.reservations.remove(id);
    else tables.reservations.put(reservation);
  }
  for (const event of events) {
    const decision = decisionOf(event);
    if (decision !== undefined) tables.decisions.put(decision);
    else writeOthers(tables, event);
  }
}

function writeOthers(tables: Tables, event: LedgerEvent): void {
  switch (event.kind) {
    case "key-closed":
      return tables.closedKeys.put(event.closedKey);
    case "key-reopened":
      return tables.closedKeys.remove(closedKeyName(event));
    case "cordoned":
      return tables.cordons.put({ clusterId: event.clusterId, cordon: event.cordon });
    case "uncordoned":
      return tables.cordons.remove(event.clusterId);
    case "adoption-window-set":
      return tables.adoption.put(event.window);
    default:
      return;
  }
}
