import type { FailureKind } from "../../store.ts";
import { sealOf } from "../seals.ts";

/** What was done to the tables of a ledger with three reservations, and how the next process refuses it. */
export interface Damage {
  readonly name: string;
  /** `S` stands for the schema. */
  readonly sql: string;
  readonly kind: FailureKind;
  readonly says: RegExp;
}

/** A row that nobody committed, whose seal fits. */
const CELLS = ["rsv-x", "Reserved", "{}"];

/** What every SQL store notices when it opens a ledger. */
export const DAMAGES: readonly Damage[] = [
  {
    name: "a newer version",
    sql: "INSERT INTO S.migration SELECT max(number) + 1 FROM S.migration",
    kind: "not-committed",
    says: /newer broker \(schema \d+, this one knows \d+\)/,
  },
  corrupt("a list of migrations with a gap", "INSERT INTO S.migration VALUES (8)", /gap/),
  corrupt(
    "a changed reservation",
    `UPDATE S.reservation SET body = replace(body, '"cpuMillis":1000', '"cpuMillis":9000')`,
    /row of table reservation \(rsv-rome-.*\) is damaged/,
  ),
  corrupt(
    "a reservation that was taken away",
    "DELETE FROM S.reservation WHERE id = (SELECT min(id) FROM S.reservation)",
    /table reservation holds 2 rows, and 3 were committed/,
  ),
  corrupt(
    "a reservation that was put in place of another one",
    `UPDATE S.reservation SET id = '${CELLS[0]}', phase = '${CELLS[1]}', body = '${CELLS[2]}',
      seal = ${sealOf("reservation", CELLS)} WHERE id = (SELECT min(id) FROM S.reservation)`,
    /table reservation does not hold the rows that were committed/,
  ),
  corrupt(
    "a waiting request that nobody committed",
    `INSERT INTO S.waiting (id, phase, body, seal) VALUES ('${CELLS.join("', '")}', ${sealOf("waiting", CELLS)})`,
    /table waiting holds 1 rows, and 0 were committed/,
  ),
  corrupt(
    "an advertisement that was taken away",
    "DELETE FROM S.advertisement WHERE cluster_id = 'paris'",
    /table advertisement holds 1 rows, and 2 were committed/,
  ),
  corrupt(
    "the beginning of the audit log that is gone",
    "DELETE FROM S.audit WHERE sequence = 1",
    /audit log begins at line 2, not at 1/,
  ),
  corrupt(
    "the end of the audit log that is gone",
    "DELETE FROM S.audit WHERE sequence = 3",
    /end of the audit log/,
  ),
];

export function corrupt(name: string, sql: string, says: RegExp): Damage {
  return { name, sql, kind: "corrupt", says };
}
