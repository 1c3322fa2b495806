import { formatTime, type UiAudit, type UiAuditRow } from "@resource-broker/contract";
import type { AuditEntry } from "../../../store/store.ts";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { limitOf, textOf, wholeNumber } from "../lists/list-query.ts";
import type { UiCall, UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";

const NEWEST = { fallback: 0, minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** Who did what, when and why, the newest first; and whether the log is whole. */
export function auditRoutes({ auditTail, chainCheck }: UiContext): readonly UiRoute[] {
  const list = async ({ parameters }: UiCall): Promise<PlainAnswer> => {
    const before = wholeNumber(parameters, "before", NEWEST) || undefined;
    const text = textOf(parameters, "q").toLowerCase();
    const page = await auditTail.page({ before, limit: limitOf(parameters), text });
    const answer: UiAudit = {
      rows: page.entries.map(rowOf),
      before: page.before ?? null,
      verified: chainCheck.status(),
    };
    return ok(answer);
  };
  return [{ method: "GET", path: "/ui/audit", access: "viewer", handle: list }];
}

function rowOf({ sequence, at, by, action, subject, detail, hash }: AuditEntry): UiAuditRow {
  return { sequence, at: formatTime(at), actor: by, action, subject, message: detail, hash };
}
