import type { CrlSummary } from "@resource-broker/runtime";
import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import { when } from "../output/when.ts";

/** What a revocation list says. */
export function printCrl(
  file: string,
  crl: CrlSummary,
  { format, host }: { format: OutputFormat; host: Host },
): void {
  const now = host.now();
  const revoked = [...crl.revoked].map(([serial, at]) => ({ serial, at }));
  const data = {
    file,
    thisUpdate: new Date(crl.thisUpdate).toISOString(),
    nextUpdate: new Date(crl.nextUpdate).toISOString(),
    revoked: revoked.map(({ serial, at }) => ({ serial, at: new Date(at).toISOString() })),
  };
  const table = (): string =>
    properties([
      ["File", file],
      ["Signed", when(crl.thisUpdate, now)],
      ["Good until", when(crl.nextUpdate, now)],
      ["Revoked", revoked.length === 0 ? "none" : revoked.map(({ serial }) => serial).join(", ")],
    ]);
  print({ data, table, names: () => revoked.map(({ serial }) => serial) }, format, host);
}
