import { Fault } from "@resource-broker/base";
import { fromDecision, fromTenantStatus, PATH, type TenantPageDTO } from "@resource-broker/contract";
import { explainWaiting, tenantStatuses } from "@resource-broker/domain";
import { queuePage } from "../../insight/queue-list.ts";
import { isWaitingVisible } from "../../shared/render-waiting.ts";
import { readSlice } from "../query.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Reading the queue of waiting requests, and who shares the fleet. */
export function queueRoutes({ engine, ids }: RouteContext): readonly Route[] {
  const list = ({ caller, query }: Call): PlainAnswer => ok(queuePage(engine, query, caller));

  /** The decision that would be made about it now. */
  const explain = ({ caller, name }: Call): PlainAnswer => {
    const entry = engine.ledger.waiting.byId.get(name);
    const moment = { now: engine.now(), policy: engine.policy, decisionId: ids.decision() };
    const isKnown = entry !== undefined && isWaitingVisible(caller, entry);
    const decision = isKnown ? explainWaiting(engine.ledger, name, moment) : undefined;
    if (decision === undefined) throw new Fault("not-found", "no such request of yours waits");
    return ok(fromDecision(decision, caller.isAdmin ? "full" : engine.policy.disclosure));
  };

  const tenants = ({ query }: Call): PlainAnswer => {
    const { offset, limit } = readSlice(query);
    const all = tenantStatuses(engine.ledger, { policy: engine.policy, now: engine.now() });
    const { currency } = engine.policy.prices;
    const items = all.slice(offset, offset + limit).map((each) => fromTenantStatus(each, currency));
    const end = offset + items.length;
    const page: TenantPageDTO = {
      items,
      total: all.length,
      ...(end < all.length ? { next: String(end) } : {}),
    };
    return ok(page);
  };

  return [
    { method: "GET", path: PATH.tenants, access: "admin", handle: tenants },
    { method: "GET", path: PATH.queue, access: "cluster", handle: list },
    { method: "GET", path: template(PATH.queueExplanation, "id"), access: "cluster", handle: explain },
  ];
}
