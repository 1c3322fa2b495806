import type { DatabaseSync } from "node:sqlite";
import type {
  AdoptionWindow,
  ClosedKey,
  Decision,
  LedgerEvent,
  ReceivedAdvertisement,
} from "@resource-broker/domain";
import { changedReservations, decisionOf } from "../common/changes.ts";
import {
  ADOPTION,
  ADVERTISEMENT,
  CLOSED_KEY,
  CORDON,
  type CordonedCluster,
  closedKeyName,
  DECISION,
} from "../common/record-tables.ts";
import type { TableSums } from "../common/table-sums.ts";
import { type ReservationTable, reservationTable } from "./reservation-table.ts";
import { type SealedTable, sealedTable } from "./sealed-table.ts";

export interface Tables {
  readonly reservations: ReservationTable;
  readonly closedKeys: SealedTable<ClosedKey>;
  readonly cordons: SealedTable<CordonedCluster>;
  readonly adoption: SealedTable<AdoptionWindow>;
  readonly advertisements: SealedTable<ReceivedAdvertisement>;
  readonly decisions: SealedTable<Decision>;
}

export function openTables(database: DatabaseSync, sums: TableSums): Tables {
  return {
    reservations: reservationTable(database, sums),
    closedKeys: sealedTable(database, CLOSED_KEY, sums),
    cordons: sealedTable(database, CORDON, sums),
    adoption: sealedTable(database, ADOPTION, sums),
    advertisements: sealedTable(database, ADVERTISEMENT, sums),
    decisions: sealedTable(database, DECISION, sums),
  };
}

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
