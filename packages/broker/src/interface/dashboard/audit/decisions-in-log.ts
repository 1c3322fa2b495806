import type { Decision, DecisionId, LedgerView } from "@resource-broker/domain";
import type { AuditEntry, Store } from "../../../store/store.ts";
import type { AuditTail } from "./newest-lines.ts";

const WANTED = 200;
const LINES_AT_ONCE = 200;
const MAX_LINES = 2000;

export interface RecentDecisionsDeps {
  readonly store: Pick<Store, "findDecision">;
  readonly auditTail: Pick<AuditTail, "page">;
  readonly ledger: () => Pick<LedgerView, "reservations">;
}

/** The newest decisions, oldest first, found through the audit log: after a restart only the audit log has their order. */
export async function recentDecisionsInAudit({
  store,
  auditTail,
  ledger,
}: RecentDecisionsDeps): Promise<Decision[]> {
  const found: Decision[] = [];
  let before: number | undefined;
  for (let read = 0; read < MAX_LINES && found.length < WANTED; read += LINES_AT_ONCE) {
    const page = await auditTail.page({ before, limit: LINES_AT_ONCE, text: "" });
    for (const entry of page.entries) {
      const id = decisionOf(entry, ledger());
      const decision = id === undefined ? undefined : await store.findDecision(id);
      if (decision !== undefined) found.push(decision);
    }
    before = page.before;
    if (before === undefined) break;
  }
  return found.reverse();
}

/** Lines of refusals are about a decision, those of grants about a reservation, which names its own. */
function decisionOf(
  { action, subject }: AuditEntry,
  { reservations }: Pick<LedgerView, "reservations">,
): DecisionId | undefined {
  if (action !== "reserve") return undefined;
  const reservation = reservations.get(subject);
  return reservation === undefined ? subject : reservation.decisionId;
}
