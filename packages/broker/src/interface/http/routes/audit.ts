import { Fault, formatTime } from "@resource-broker/base";
import { type AuditEntryDTO, type AuditPageDTO, PATH } from "@resource-broker/contract";
import { CHAIN_START, canonical } from "../../../store/common/audit.ts";
import type { AuditEntry } from "../../../store/store.ts";
import { readPage } from "../query.ts";
import { type Call, ok, type PlainAnswer, type Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Who did what, when and why. */
export function auditRoutes({ store }: RouteContext): readonly Route[] {
  const list = async ({ query }: Call): Promise<PlainAnswer> => {
    const { limit, after } = readPage(query);
    const from = readSequence(after);
    // One before the page for its hash, one behind it to know whether there is more.
    const before = Math.max(0, from - 1);
    const entries = await store.readAudit({ after: before, limit: limit + 2 });
    const page = entries.filter(({ sequence }) => sequence > from);
    const items = page.slice(0, limit);
    const last = page.length > limit ? items.at(-1) : undefined;
    const answer: AuditPageDTO = {
      items: items.map((entry) => toDTO(entry, hashBefore(entry, entries))),
      ...(last === undefined ? {} : { next: String(last.sequence) }),
    };
    return ok(answer);
  };
  return [{ method: "GET", path: PATH.audit, access: "admin", handle: list }];
}

function readSequence(after: string): number {
  if (after === "") return 0;
  const sequence = /^[0-9]{1,15}$/.test(after) ? Number(after) : Number.NaN;
  if (Number.isNaN(sequence)) throw new Fault("invalid", "after must be the sequence number of an entry");
  return sequence;
}

/** Undefined if the previous line was trimmed: the store keeps its hash. */
function hashBefore({ sequence }: AuditEntry, entries: readonly AuditEntry[]): string | undefined {
  if (sequence === CHAIN_START.sequence + 1) return CHAIN_START.hash;
  return entries.find((entry) => entry.sequence === sequence - 1)?.hash;
}

function toDTO(entry: AuditEntry, previousHash: string | undefined): AuditEntryDTO {
  return {
    sequence: entry.sequence,
    at: formatTime(entry.at),
    actor: entry.by,
    action: entry.action,
    subject: entry.subject,
    message: entry.detail,
    record: canonical(entry),
    ...(previousHash === undefined ? {} : { previousHash }),
    hash: entry.hash,
  };
}
