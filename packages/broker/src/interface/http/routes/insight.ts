import { Fault, formatTime } from "@resource-broker/base";
import {
  type AuditEntryDTO,
  type AuditPageDTO,
  COUNTED_RESOURCES,
  HISTORY_WINDOWS,
  type HistoryWindow,
  PATH,
} from "@resource-broker/contract";
import type { History } from "../../insight/history/history.ts";
import { flowsOf } from "../../insight/cluster-list.ts";
import { oneOf, type Query, readPage, textOf } from "../query.ts";
import { spendingOf } from "../../insight/money.ts";
import { timelineOf } from "../../insight/timeline.ts";
import { momentOf } from "../../shared/advertised-account.ts";
import { type Answer, type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";
import { CHAIN_START, canonical } from "../../../store/common/audit.ts";
import type { AuditEntry } from "../../../store/store.ts";

/** How the fleet came to its state. The dashboard reads the same calls. */
export function insightRoutes(context: RouteContext): readonly Route[] {
  const { engine, insight, renderContext, objectsNamespace } = context;

  const timeline = async ({ name }: Call): Promise<PlainAnswer> => {
    const found = reservation(name);
    const heldAt = await insight.acknowledgementTimes.find(found);
    const { ledgerId } = engine;
    const moment = momentOf(engine);
    return ok(
      timelineOf(reservation(name), { ...renderContext(), ...moment, ledgerId, heldAt, objectsNamespace }),
    );
  };

  const reservation = (id: string) => {
    const found = engine.ledger.reservations.get(id);
    if (found !== undefined) return found;
    throw new Fault("not-found", "no such reservation; ended ones are kept for a day, then forgotten");
  };

  const decisions = async ({ query }: Call): Promise<PlainAnswer> => {
    await insight.decisions.complete();
    return ok(insight.decisions.page(query));
  };

  const refusedRequests = ({ query }: Call): PlainAnswer => ok(insight.demand.refusedPage(query));
  const demandNow = (): PlainAnswer => ok(insight.demand.byTenant());

  const flows = ({ query }: Call): PlainAnswer =>
    ok(flowsOf(engine.ledger, oneOf(query, "resource", COUNTED_RESOURCES) ?? "cpu"));

  const capacity = ({ query }: Call): PlainAnswer => {
    const cluster = textOf(query, "cluster") || undefined;
    if (cluster !== undefined && !engine.ledger.accounts.has(cluster))
      throw new Fault("not-found", "this cluster has not advertised here");
    return ok(recorded().capacity(windowOf(query), cluster));
  };

  const demand = ({ query }: Call): PlainAnswer => ok(recorded().demand(windowOf(query)));

  const recorded = (): History => {
    if (insight.history !== undefined) return insight.history;
    throw new Fault("not-found", "no history is recorded: start the broker with --dashboard-bind-address");
  };

  const spending = async ({ query }: Call): Promise<PlainAnswer> => {
    const window = windowOf(query);
    const { meanPrices } = insight;
    await meanPrices.complete();
    const { ledger, policy } = engine;
    return ok(
      spendingOf(window, {
        reservations: ledger.reservations.values(),
        meanPriceOf: meanPrices.of,
        prices: policy.prices,
        now: engine.now(),
      }),
    );
  };

  const watch = ({ caller, headers, session }: Call): Answer => {
    const stated = headers["last-event-id"];
    return {
      stream: insight.live.open({
        id: session?.id ?? caller.clusterId,
        lastEventId: stated === undefined ? undefined : String(stated),
        // Without a session, the connection is closed when its certificate expires or is revoked.
        isAllowed: () => session === undefined || session.leftMs() > 0,
      }),
    };
  };

  return [
    { method: "GET", path: template(PATH.timeline, "id"), access: "admin", handle: timeline },
    { method: "GET", path: PATH.decisions, access: "admin", handle: decisions },
    { method: "GET", path: PATH.refusedRequests, access: "admin", handle: refusedRequests },
    { method: "GET", path: PATH.demand, access: "admin", handle: demandNow },
    { method: "GET", path: PATH.flows, access: "admin", handle: flows },
    { method: "GET", path: PATH.capacityHistory, access: "admin", handle: capacity },
    { method: "GET", path: PATH.demandHistory, access: "admin", handle: demand },
    { method: "GET", path: PATH.spending, access: "admin", handle: spending },
    { method: "GET", path: PATH.events, access: "admin", handle: watch },
  ];
}

function windowOf(query: Query): HistoryWindow {
  return oneOf(query, "window", HISTORY_WINDOWS) ?? "hour";
}

/** Who did what, when and why. */
export function auditRoutes({ store, insight, auditChain }: RouteContext): readonly Route[] {
  const listNewest = async (query: Query): Promise<PlainAnswer> => {
    const { limit, after } = readPage(query);
    const before = readSequence(after) || undefined;
    const text = textOf(query, "q").toLowerCase();
    const page = await insight.auditTail.page({ before, limit, text });
    const answer: AuditPageDTO = {
      items: page.entries.map((entry) => toDTO(entry, hashBefore(entry, page.entries))),
      ...(page.before === undefined ? {} : { next: String(page.before) }),
      chain: auditChain(),
    };
    return ok(answer);
  };

  const list = async ({ query }: Call): Promise<PlainAnswer> => {
    const order = oneOf(query, "order", ["asc", "desc"]);
    if (order === "desc") return listNewest(query);
    if (query.one("q") !== undefined)
      throw new Fault("invalid", "q needs order=desc: the newest are found first");
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
