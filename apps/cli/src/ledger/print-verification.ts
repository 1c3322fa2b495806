import type { Verification } from "@resource-broker/broker";
import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";

export function printVerification(verification: Verification, format: OutputFormat, host: Host): void {
  const { file, problems, found } = verification;
  const rows: (readonly [string, string])[] = [
    ["File", file],
    ["State", problems.length === 0 ? "sound" : "damaged"],
  ];
  if (found !== undefined) {
    rows.push(
      ["Ledger ID", found.ledgerId],
      ["Commits", String(found.commitNumber)],
      ["Reservations", String(found.reservations)],
      ["Decisions", String(found.decisions)],
      ["Audit lines", `${found.auditLines}, from number ${found.firstAuditLine} on`],
      ["Last audit hash", found.lastAuditHash],
    );
  }
  for (const problem of problems) rows.push(["Problem", problem]);
  print({ data: verification, table: () => properties(rows), names: () => [file] }, format, host);
}
