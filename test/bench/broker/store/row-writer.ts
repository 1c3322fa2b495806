import { DatabaseSync } from "node:sqlite";
import type { Cell } from "@resource-broker/broker/testing";

/** One commit as plain rows: what a thread would send to another one that writes it. */
export interface CommitRows {
  readonly number: number;
  readonly reservations: readonly (readonly Cell[])[];
  readonly decisions: readonly (readonly Cell[])[];
  readonly lines: readonly (readonly Cell[])[];
}

/** Writes rows into a ledger that the product made. Knows nothing of the domain, to be as light as it can be. */
export function rowWriter(file: string, synchronous: "FULL" | "NORMAL"): (rows: CommitRows) => void {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 500`,
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const updateHeader = database.prepare("UPDATE ledger SET commit_number = ? WHERE commit_number = ?");
  const reservation = database.prepare(`INSERT INTO reservation (id, phase, body, seal) VALUES (?, ?, ?, ?)
    `);
  const decision = database.prepare("INSERT INTO decision (id, at, body, seal) VALUES (?, ?, ?, ?)");
  const line = database.prepare("INSERT INTO audit (sequence, line, hash) VALUES (?, ?, ?)");
  return ({ number, reservations, decisions, lines }) => {
    begin.run();
    for (const cells of reservations) reservation.run(...cells);
    for (const cells of decisions) decision.run(...cells);
    for (const cells of lines) line.run(...cells);
    updateHeader.run(number, number - 1);
    commit.run();
  };
}
