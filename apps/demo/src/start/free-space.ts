import { statfs } from "node:fs/promises";
import { Fault } from "@resource-broker/contract";

const MIB = 1024 ** 2;
/** Ledger, logs and certificates of a fleet for an afternoon. */
const NEEDED_MIB = 16;

/** Throws a Fault with the remedy when what a demo writes would not fit there. */
export async function checkSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const leftMib = (bavail * bsize) / MIB;
  if (leftMib >= NEEDED_MIB) return;
  throw new Fault(
    "store-unavailable",
    `the disk with ${folder} is full (${leftMib.toFixed(1)} MiB left of the ${NEEDED_MIB} that a demo needs): free some space there, or name a folder on another disk with --keep`,
  );
}
