import type { DatabaseSync } from "node:sqlite";
import type {
  AdoptionWindow,
  ClosedKey,
  ClusterId,
  Cordon,
  Decision,
  LedgerEvent,
  ReceivedAdvertisement,
} from "@resource-broker/domain";
import { changedReservations, decisionOf } from "../common/changes.ts";
import { decodeDecision, encodeDecision } from "../common/decision-codec.ts";
import type { Cell } from "../common/seal.ts";
import { parseStored } from "../common/stored-json.ts";
import type { TableSums } from "../common/table-sums.ts";
import { type ReservationTable, reservationTable } from "./reservation-table.ts";
import { type SealedTable, sealedTable, type TableMapping } from "./sealed-table.ts";

export interface CordonedCluster {
  readonly clusterId: ClusterId;
  readonly cordon: Cordon;
}

export interface Tables {
  readonly reservations: ReservationTable;
  readonly closedKeys: SealedTable<ClosedKey>;
  readonly cordons: SealedTable<CordonedCluster>;
  readonly adoption: SealedTable<AdoptionWindow>;
  readonly advertisements: SealedTable<ReceivedAdvertisement>;
  readonly decisions: SealedTable<Decision>;
}

const CLOSED_KEY: TableMapping<ClosedKey> = {
  table: "closed_key",
  columns: ["name", "body"],
  cells: (closedKey) => [closedKeyName(closedKey), JSON.stringify(closedKey)],
  parse: parseBody,
};

const CORDON: TableMapping<CordonedCluster> = {
  table: "cordon",
  columns: ["cluster_id", "body"],
  cells: (cordoned) => [cordoned.clusterId, JSON.stringify(cordoned)],
  parse: parseBody,
};

const ADOPTION: TableMapping<AdoptionWindow> = {
  table: "adoption",
  columns: ["name", "body"],
  cells: (window) => ["window", JSON.stringify(window)],
  parse: parseBody,
};

const ADVERTISEMENT: TableMapping<ReceivedAdvertisement> = {
  table: "advertisement",
  columns: ["cluster_id", "received_at", "body"],
  cells: (received) => [received.advertisement.clusterId, received.receivedAt, JSON.stringify(received)],
  parse: parseBody,
  newestBy: "received_at",
};

const DECISION: TableMapping<Decision> = {
  table: "decision",
  columns: ["id", "at", "body"],
  cells: (decision) => [decision.id, decision.at, encodeDecision(decision)],
  parse: (body) => decodeDecision(body instanceof Uint8Array ? body : Buffer.from(String(body))),
};

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

/** As JSON: keys are anybody's text, and no two pairs may share a name. */
function closedKeyName({ requester, key }: Pick<ClosedKey, "requester" | "key">): string {
  return JSON.stringify([requester, key]);
}

function parseBody<T>(body: Cell): T {
  return parseStored(String(body));
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
