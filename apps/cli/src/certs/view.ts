import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { type Column, properties, table } from "../output/table.ts";
import { when } from "../output/when.ts";
import type { CertificateFacts } from "./certificate-facts.ts";

/** Several certificates, one line each. */
export function printCertificates(
  facts: readonly CertificateFacts[],
  format: OutputFormat,
  host: Host,
): void {
  const columns = columnsAt(host.now());
  const view = {
    data: facts,
    table: () => table(columns, facts),
    wide: () => table([...columns, ...WIDE_COLUMNS], facts),
    names: () => facts.map(({ name }) => name),
  };
  print(view, format, host);
}

/** One certificate with everything about it. */
export function printCertificate(facts: CertificateFacts, format: OutputFormat, host: Host): void {
  const view = { data: [facts], table: () => describe(facts, host.now()), names: () => [facts.name] };
  print(view, format, host);
}

function columnsAt(now: number): readonly Column<CertificateFacts>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "USE", value: ({ use }) => use },
    { title: "EXPIRES", value: ({ notAfter }) => when(Date.parse(notAfter), now) },
    { title: "STATUS", value: ({ status }) => status },
    { title: "SERIAL", value: ({ serial }) => serial },
  ];
}

const WIDE_COLUMNS: readonly Column<CertificateFacts>[] = [
  { title: "SUBJECT", value: ({ subject }) => subject },
  { title: "HOSTS", value: ({ subjectAltNames }) => subjectAltNames.join(",") },
];

function describe(facts: CertificateFacts, now: number): string {
  return properties([
    ["Name", facts.name],
    ["File", facts.file],
    ["Subject", facts.subject],
    ["Issuer", facts.issuer],
    ["Serial", facts.serial],
    ["Valid from", when(Date.parse(facts.notBefore), now)],
    ["Expires", when(Date.parse(facts.notAfter), now)],
    ["Use", facts.use],
    ["Extended key usage", facts.extendedKeyUsages.join(", ") || "none"],
    ["Hosts", facts.subjectAltNames.join(", ") || "none"],
    ["SHA-256", facts.fingerprint256],
    ["Status", facts.problems.join("; ") || facts.status],
  ]);
}
