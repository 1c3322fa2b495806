import { ledgerFrom, subtract } from "@resource-broker/domain";
import { sqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

export interface LedgerCounts {
  readonly reservations: number;
  /** Providers that lend more than they have, or whose key made two reservations. */
  readonly doubled: number;
}

/** Counts what the ledger of a stopped broker holds. */
export async function countLedger(directory: string): Promise<LedgerCounts> {
  const store = sqliteStore({ directory });
  const { records } = await store.open();
  await store.close();
  const keys = new Set(records.reservations.map(({ requester, key }) => `${requester}/${key}`));
  const accounts = [...ledgerFrom(records, records.time).accounts.values()];
  const overlent = accounts.filter(({ advertisement, reserved }) => {
    const left = advertisement && subtract(advertisement.allocatable, reserved);
    return left !== undefined && (left.cpuMillis < 0 || left.memoryBytes < 0);
  });
  return {
    reservations: records.reservations.length,
    doubled: records.reservations.length - keys.size + overlent.length,
  };
}
