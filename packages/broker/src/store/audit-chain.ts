import { CHAIN_START, type ChainLink, canonical, nextLink } from "./audit.ts";
import type { AuditEntry } from "./store.ts";

/** How far a look along the chain has come. */
export interface ChainLook {
  /** The last line that fits. Undefined: no line was seen yet. */
  readonly link: ChainLink | undefined;
  /** How many lines fit. */
  readonly count: number;
  /** What is wrong with the line after it. */
  readonly problem?: string;
}

/**
 * Goes on along the chain. The first line ever follows the chain's start; where older lines were trimmed away, the first
 * that is left has to be taken as it is. `known` is a line that was seen before and must still be the same.
 */
export function followChain(
  from: ChainLink | undefined,
  lines: readonly AuditEntry[],
  known?: ChainLink,
): ChainLook {
  let link = from;
  for (const [count, line] of lines.entries()) {
    const problem = problemWith(line, link, known);
    if (problem !== undefined) return { link, count, problem };
    link = { sequence: line.sequence, hash: line.hash };
  }
  return { link, count: lines.length };
}

function problemWith(
  line: AuditEntry,
  before: ChainLink | undefined,
  known: ChainLink | undefined,
): string | undefined {
  const { sequence, hash } = line;
  if (sequence === known?.sequence && hash !== known.hash)
    return `line ${sequence} is another one than it was before`;
  const link = sequence === CHAIN_START.sequence + 1 ? CHAIN_START : before;
  if (link === undefined) return undefined;
  const expected = nextLink(link, canonical(line));
  if (sequence !== expected.sequence) return `line ${expected.sequence} is missing`;
  return hash === expected.hash ? undefined : `line ${sequence} was changed: it does not fit its hash`;
}
