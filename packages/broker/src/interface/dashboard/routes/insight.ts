import { Fault, HISTORY_WINDOWS, type HistoryWindow } from "@resource-broker/contract";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { oneOf, type Parameters, textOf } from "../lists/list-query.ts";
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
