import { Fault } from "@resource-broker/base";
import {
  fromDecision,
  fromTenantStatus,
  PATH,
  type QueuePageDTO,
  type TenantPageDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import { explainWaiting, tenantStatuses, type Waiting } from "@resource-broker/domain";
import { isWaitingVisible, placesOf, renderWaiting } from "../../shared/render-waiting.ts";
import { readSlice, textOf } from "../query.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Reading the queue of waiting requests, and who shares the fleet. */
export function queueRoutes({ engine, ids }: RouteContext): readonly Route[] {
  const list = ({ caller, query }: Call): PlainAnswer => {
    const { offset, limit } = readSlice(query);
    const requester = textOf(query, "requester");
    const isListed = (entry: Waiting): boolean =>
      isWaitingVisible(caller, entry) && (requester === "" || entry.requester === requester);
    let total = 0;
    const isOnPage = (entry: Waiting): boolean => {
      if (!isListed(entry)) return false;
      const place = total++;
      return place >= offset && place < offset + limit;
    };
    const items: WaitingRequestDTO[] = [];
    for (const place of placesOf(engine, isOnPage))
      items.push(renderWaiting(engine, place.entry, { reader: caller, place }));
    const next = offset + items.length < total ? { next: String(offset + items.length) } : {};
    const page: QueuePageDTO = { items, total, ...next };
    return ok(page);
  };

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
