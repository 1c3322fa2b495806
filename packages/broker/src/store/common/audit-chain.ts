import type { AuditEntry } from "../store.ts";
import { CHAIN_START, type ChainLink, canonical, nextLink } from "./audit.ts";

/** The result of checking a part of the chain. */
export interface ChainProgress {
  /** The last line that fits. Undefined: no line was seen yet. */
  readonly link: ChainLink | undefined;
  /** How many lines fit. */
  readonly count: number;
  /** What is wrong with the line after it. */
  readonly problem?: string;
}

/**
 * Verifies the next lines of the chain. The first line follows the chain's start. If older lines were trimmed, the first
 * remaining line is accepted unchecked. `known` is a line that was seen before and must not have changed.
 */
export function verifyChain(
  from: ChainLink | undefined,
  lines: readonly AuditEntry[],
  known?: ChainLink,
): ChainProgress {
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
    return `line ${sequence} has changed since it was last checked`;
  const link = sequence === CHAIN_START.sequence + 1 ? CHAIN_START : before;
  if (link === undefined) return undefined;
  const expected = nextLink(link, canonical(line));
  if (sequence !== expected.sequence) return `line ${expected.sequence} is missing`;
  return hash === expected.hash ? undefined : `line ${sequence} was changed: it does not match its hash`;
}
