import { hash } from "node:crypto";
import type { AuditEntryDTO } from "@resource-broker/contract";

/** How far a chain is sound. */
export interface ChainState {
  readonly lines: number;
  readonly first: number | undefined;
  readonly last: { readonly sequence: number; readonly hash: string } | undefined;
  /** What is wrong with the first line that does not fit; nothing after it is looked at. */
  readonly problem: string | undefined;
}

export const NO_LINES: ChainState = { lines: 0, first: undefined, last: undefined, problem: undefined };

/** The chain with one more line; once broken it stays so. */
export function addLine(chain: ChainState, entry: AuditEntryDTO): ChainState {
  if (chain.problem !== undefined) return chain;
  const problem = problemOf(chain, entry);
  if (problem !== undefined) return { ...chain, problem: `line ${entry.sequence}: ${problem}` };
  return {
    lines: chain.lines + 1,
    first: chain.first ?? entry.sequence,
    last: { sequence: entry.sequence, hash: entry.hash },
    problem: undefined,
  };
}

function problemOf({ last }: ChainState, entry: AuditEntryDTO): string | undefined {
  const { sequence, record, previousHash } = entry;
  if (last !== undefined && sequence !== last.sequence + 1)
    return `it follows line ${last.sequence}; lines are missing`;
  if (last !== undefined && previousHash !== last.hash)
    return "its previous hash is not the hash of the line before";
  // Older lines than this were trimmed: the first that is left has to be taken as it is.
  if (previousHash === undefined) return undefined;
  if (record === undefined) return "the broker does not return the hashed record";
  if (hash("sha256", `${previousHash}\n${sequence}\n${record}`, "hex") !== entry.hash)
    return "its hash is not that of its content";
  return isAsRecorded(entry, record) ? undefined : "it differs from the recorded text";
}

function isAsRecorded({ at, actor, action, subject, message }: AuditEntryDTO, record: string): boolean {
  const fields: unknown = JSON.parse(record);
  if (!Array.isArray(fields)) return false;
  const [instant, , ...words] = fields.map(String);
  const shown = [actor, action, subject ?? "", message];
  return Number(instant) === Date.parse(at) && shown.every((text, index) => text === words[index]);
}
