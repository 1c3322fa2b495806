import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "@resource-broker/base";
import type { Decision, DecisionId, LedgerView } from "@resource-broker/domain";
import type { AuditEntry, Store } from "../../../store/store.ts";

type AuditReader = Pick<Store, "readAudit">;

/** How far one call looks for lines with a certain text. */
const SCANNED_AT_ONCE = 500;
const SCANNED_AT_MOST = 20_000;
const FIRST_STRIDE = 64;
/** The embedded store reads on the thread that commits, so searches run one at a time. */
const MAX_SEARCHES_WAITING = 8;

export interface AuditTailQuery {
  /** Only lines before this one; undefined: from the newest on. */
  readonly before: number | undefined;
  readonly limit: number;
  /** In lower case; "": every line. */
  readonly text: string;
}

export interface AuditTailPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Where to continue; undefined: the log begins here. */
  readonly before: number | undefined;
}

/** Reads the audit log from its end. Stores read forwards only, so the end is found by a few short reads and cached. */
export interface AuditTail {
  /** Number of the newest line; 0: there is none. */
  readonly last: () => Promise<number>;
  readonly page: (query: AuditTailQuery) => Promise<AuditTailPage>;
}

export function newestLines(store: AuditReader): AuditTail {
  let known = 0;

  const hasAfter = async (sequence: number): Promise<boolean> =>
    (await store.readAudit({ after: sequence, limit: 1 })).length > 0;

  const last = async (): Promise<number> => {
    let low = known;
    if (!(await hasAfter(low))) return low;
    let stride = FIRST_STRIDE;
    while (await hasAfter(low + stride)) {
      low += stride;
      stride *= 4;
    }
    let high = low + stride;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (await hasAfter(middle)) low = middle;
      else high = middle;
    }
    known = Math.max(known, high);
    return high;
  };

  /** The last lines up to `end`, newest first. */
  const upTo = async (end: number, size: number): Promise<AuditEntry[]> => {
    const lines = await store.readAudit({ after: Math.max(0, end - size), limit: Math.min(size, end) });
    return lines.filter(({ sequence }) => sequence <= end).reverse();
  };

  const read = async ({ before, limit, text }: AuditTailQuery): Promise<AuditTailPage> => {
    const entries: AuditEntry[] = [];
    const size = text === "" ? limit : SCANNED_AT_ONCE;
    let end = Math.min(await last(), (before ?? Number.MAX_SAFE_INTEGER) - 1);
    for (let left = SCANNED_AT_MOST; end > 0 && left > 0 && entries.length < limit; left -= size) {
      const found = (await upTo(end, size)).filter((line) => matchesText(line, text));
      entries.push(...found.slice(0, limit - entries.length));
      end -= size;
      // Yield to the event loop: an embedded store answers without yielding.
      await nextTurn();
    }
    const lowest = entries.length === limit ? entries.at(-1)?.sequence : undefined;
    return { entries, before: await ifAnyBefore(lowest ?? end + 1) };
  };

  const ifAnyBefore = async (sequence: number): Promise<number | undefined> => {
    const [first] = await store.readAudit({ after: 0, limit: 1 });
    return first !== undefined && first.sequence < sequence ? sequence : undefined;
  };

  let searches: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  /** Searches are queued: a search without matches reads the most, and several at once would block the broker. */
  const search = async (query: AuditTailQuery): Promise<AuditTailPage> => {
    if (waiting > MAX_SEARCHES_WAITING)
      throw new Fault("overloaded", "too many searches of the log are waiting; retry");
    waiting++;
    const found = searches.then(() => read(query));
    searches = found.catch(() => undefined);
    return found.finally(() => waiting--);
  };

  return { last, page: (query) => (query.text === "" ? read(query) : search(query)) };
}

function matchesText({ by, action, subject, detail }: AuditEntry, text: string): boolean {
  return text === "" || [by, action, subject, detail].some((word) => word.toLowerCase().includes(text));
}

const WANTED = 200;
const LINES_AT_ONCE = 200;
const MAX_LINES = 2000;

interface RecentDecisionsDeps {
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
