import { Fault } from "@resource-broker/base";
import {
  fromDecision,
  fromReservationCost,
  LIMIT,
  PATH,
  type QuoteDTO,
  reservationRequestSchema,
  toReservationRequest,
} from "@resource-broker/contract";
import type { Decision, ReservationCost } from "@resource-broker/domain";
import { checked, faultOf, valueOf } from "../../shared/checked.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import type { RouteContext } from "./context.ts";
import { requesterOf } from "./requester.ts";

/** What would happen: the same deciding, nothing written. */
export function quoteRoutes(context: RouteContext): readonly Route[] {
  const { engine } = context;
  const quote = (call: Call): PlainAnswer => {
    const { caller, body, query } = call;
    const request = valueOf(toReservationRequest(checked(reservationRequestSchema, body)));
    // A quote reserves nothing: an admin may ask without naming a cluster.
    const isOwn = query.one("requester") === undefined;
    const reply = engine.quote(isOwn ? caller.clusterId : requesterOf(call, context), request);
    if (reply.kind !== "granted" && reply.kind !== "refused") throw faultOf(reply);
    const disclosure = caller.isAdmin ? "full" : engine.policy.disclosure;
    const cost = reply.kind === "granted" ? reply.reservation.cost : undefined;
    return ok(toQuote(reply.decision, disclosure, cost));
  };
  return [
    {
      method: "POST",
      path: PATH.quotes,
      access: "cluster",
      body: { limit: LIMIT.bodyBytes },
      isSheddable: true,
      handle: quote,
    },
  ];
}

function toQuote(
  decision: Decision,
  disclosure: Parameters<typeof fromDecision>[1],
  cost: ReservationCost | undefined,
): QuoteDTO {
  const { winner } = decision;
  return {
    fits: winner !== undefined,
    ...(winner === undefined ? {} : { targetClusterID: winner }),
    ...(cost === undefined ? {} : { cost: fromReservationCost(cost) }),
    decision: fromDecision(decision, disclosure),
  };
}

/** Why the broker decided as it did. */
export function decisionRoutes({ engine, store }: RouteContext): readonly Route[] {
  const read = async ({ caller, name }: Call): Promise<PlainAnswer> => {
    const decision = await store.findDecision(name);
    if (decision === undefined || (decision.requester !== caller.clusterId && !caller.isAdmin)) {
      throw new Fault(
        "not-found",
        "no such decision about a request of yours, or it was not recorded (docs/limits.md)",
      );
    }
    return ok(fromDecision(decision, caller.isAdmin ? "full" : engine.policy.disclosure));
  };
  return [{ method: "GET", path: template(PATH.decision, "id"), access: "cluster", handle: read }];
}
