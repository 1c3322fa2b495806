import { type ChainLink, fromCanonical, nextLink } from "../audit.ts";
import type { AuditEntry } from "../store.ts";

const HASH_LENGTH = 64;

/** A line of the audit log as it is kept: its hash, and the text that was hashed. */
export function auditText(hash: string, canonicalText: string): string {
  return `${hash} ${canonicalText}`;
}

export function hashIn(text: string): string {
  return text.slice(0, HASH_LENGTH);
}

/** What was hashed. */
export function textIn(text: string): string {
  return text.slice(HASH_LENGTH + 1);
}

export function entryFrom(text: string, sequence: number): AuditEntry {
  return { ...fromCanonical(textIn(text)), sequence, hash: hashIn(text) };
}

/** Where the chain stands after these lines; undefined: one of them does not fit the one before it. */
export function linkAfter(start: ChainLink, lines: readonly string[]): ChainLink | undefined {
  let link = start;
  for (const line of lines) {
    link = nextLink(link, textIn(line));
    if (link.hash !== hashIn(line)) return undefined;
  }
  return link;
}
