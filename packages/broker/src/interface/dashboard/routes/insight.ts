import { Fault, formatTime } from "@resource-broker/base";
import {
  HISTORY_WINDOWS,
  type HistoryWindow,
  type UiAudit,
  type UiAuditRow,
} from "@resource-broker/contract/dashboard";
import type { AuditEntry } from "../../../store/store.ts";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { limitOf, oneOf, type Parameters, textOf, wholeNumber } from "../lists/list-query.ts";
import { moneyReport } from "../money.ts";
import type { UiCall, UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";

/** How capacity, demand and spending went. */
export function insightRoutes({ engine, history, meanPrices }: UiContext): readonly UiRoute[] {
  const capacity = ({ parameters }: UiCall): PlainAnswer => {
    const cluster = textOf(parameters, "cluster") || undefined;
    if (cluster !== undefined && !engine.ledger.accounts.has(cluster))
      throw new Fault("not-found", "this cluster has not advertised here");
    return ok(history.capacity(windowOf(parameters), cluster));
  };

  const money = async ({ parameters }: UiCall): Promise<PlainAnswer> => {
    const window = windowOf(parameters);
    await meanPrices.complete();
    const { ledger, policy } = engine;
    const { reservations } = ledger;
    const facts = { reservations: reservations.values(), meanPriceOf: meanPrices.of, prices: policy.prices };
    return ok(moneyReport(window, { ...facts, now: engine.now() }));
  };

  return [
    { method: "GET", path: "/ui/history", access: "viewer", handle: capacity },
    {
      method: "GET",
      path: "/ui/unmet",
      access: "viewer",
      handle: ({ parameters }) => ok(history.unmet(windowOf(parameters))),
    },
    { method: "GET", path: "/ui/money", access: "viewer", handle: money },
  ];
}

function windowOf(parameters: Parameters): HistoryWindow {
  return oneOf(parameters, "window", HISTORY_WINDOWS) ?? "hour";
}

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
