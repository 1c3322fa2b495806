import type { DatabaseSync } from "node:sqlite";
import type { Reservation, ReservationId } from "@resource-broker/domain";
import { RESERVATION } from "../common/record-tables.ts";
import { sealOf } from "../common/seal.ts";
import { checkSum, type TableSum, type TableSums, withRow } from "../common/table-sums.ts";
import { StoreFailure } from "../store.ts";
import { type Row, unseal } from "./unseal.ts";

/**
 * The reservations, in order of creation. Their ids are hashes, so an index on disk would change a random page for each
 * insert and double the written bytes. Instead, this process keeps the row number of each id in memory.
 */
export interface ReservationTable {
  /** Reads all of them, which must be those that were committed, and learns where they are: comes before everything else. */
  readonly load: () => Reservation[];
  readonly find: (id: ReservationId) => Reservation | undefined;
  readonly put: (reservation: Reservation) => void;
  readonly remove: (id: ReservationId) => void;
  /** The transaction is through: what it changed stays. */
  readonly confirm: () => void;
  /** The transaction was undone, and so is what it changed. */
  readonly revert: () => void;
}

const { table: TABLE } = RESERVATION;
const COLUMNS = RESERVATION.columns.map(([name]) => name);

export function reservationTable(database: DatabaseSync, sums: TableSums): ReservationTable {
  const all = database.prepare("SELECT sequence, id, phase, body, seal FROM reservation");
  const find = database.prepare("SELECT id, phase, body, seal FROM reservation WHERE sequence = ?");
  const put = database.prepare(
    "REPLACE INTO reservation (sequence, id, phase, body, seal) VALUES (?, ?, ?, ?, ?)",
  );
  const sealBefore = database.prepare("SELECT seal FROM reservation WHERE sequence = ?");
  const remove = database.prepare("DELETE FROM reservation WHERE sequence = ? RETURNING seal");
  const sequences = new Map<ReservationId, number>();
  /** Where the open transaction puts things; undefined: nowhere any more. */
  const uncommittedSequences = new Map<ReservationId, number | undefined>();
  let last = 0;
  const sequenceOf = (id: ReservationId) =>
    uncommittedSequences.has(id) ? uncommittedSequences.get(id) : sequences.get(id);
  const uncount = (before: Row | undefined): void => {
    if (before !== undefined) sums.remove(TABLE, Number(before["seal"]));
  };

  return {
    load: () => {
      const reservations: Reservation[] = [];
      let found: TableSum = [0, 0];
      for (const row of all.iterate()) {
        const reservation = reservationFrom(row);
        if (sequences.has(reservation.id)) {
          throw new StoreFailure(
            "corrupt",
            `reservation ${reservation.id} is stored twice; restore a backup`,
          );
        }
        found = withRow(found, Number(row["seal"]));
        last = Math.max(last, Number(row["sequence"]));
        sequences.set(reservation.id, Number(row["sequence"]));
        reservations.push(reservation);
      }
      checkSum(`table ${TABLE}`, found, sums.of(TABLE));
      return reservations;
    },
    find: (id) => {
      const sequence = sequenceOf(id);
      const row = sequence === undefined ? undefined : find.get(sequence);
      return row === undefined ? undefined : reservationFrom(row);
    },
    put: (reservation) => {
      const { id } = reservation;
      const known = sequenceOf(id);
      if (known !== undefined) uncount(sealBefore.get(known));
      const sequence = known ?? ++last;
      const cells = RESERVATION.cells(reservation);
      const seal = sealOf(TABLE, cells);
      put.run(sequence, ...cells, seal);
      sums.add(TABLE, seal);
      uncommittedSequences.set(id, sequence);
    },
    remove: (id) => {
      const sequence = sequenceOf(id);
      if (sequence !== undefined) uncount(remove.get(sequence));
      uncommittedSequences.set(id, undefined);
    },
    confirm: () => {
      for (const [id, sequence] of uncommittedSequences) {
        if (sequence === undefined) sequences.delete(id);
        else sequences.set(id, sequence);
      }
      uncommittedSequences.clear();
    },
    revert: () => uncommittedSequences.clear(),
  };
}

function reservationFrom(row: Row): Reservation {
  return RESERVATION.parse(unseal(TABLE, row, COLUMNS).at(-1) ?? "");
}
