import { createHash } from "node:crypto";
import type { AuditEntry } from "@resource-broker/broker";

type Link = Pick<AuditEntry, "sequence" | "hash">;

/** Before the first line of every log. */
export const NO_LINK: Link = { sequence: 0, hash: "0".repeat(64) };

/**
 * The link that must follow, written down a second time on purpose: the suite judges the stores' chains by this and
 * not by the code under test.
 */
export function expectedLink(previous: Link, line: Omit<AuditEntry, "sequence" | "hash">): Link {
  const sequence = previous.sequence + 1;
  const { at, commitNumber, by, action, subject, detail } = line;
  const text = JSON.stringify([at, commitNumber, by, action, subject, detail]);
  return {
    sequence,
    hash: createHash("sha256").update(`${previous.hash}\n${sequence}\n${text}`).digest("hex"),
  };
}
