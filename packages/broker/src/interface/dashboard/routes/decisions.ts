import {
  Fault,
  fromDecision,
  toReservationRequest,
  type UiQuote,
  uiQuoteRequestSchema,
} from "@resource-broker/contract";
import { decide } from "@resource-broker/domain";
import { checked, faultOf, valueOf } from "../../shared/checked.ts";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { readDecisionQuery } from "../lists/decision-list.ts";
import type { UiCall, UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";

const UNSAVED = { reservationId: "quote", decisionId: "quote" } as const;

/** Why decisions fell as they did, and how one would. */
export function decisionRoutes({ engine, store, decisions }: UiContext): readonly UiRoute[] {
  const list = ({ parameters }: UiCall): PlainAnswer =>
    ok(decisions.page(readDecisionQuery(parameters), engine.commitNumber));

  const read = async ({ name }: UiCall): Promise<PlainAnswer> => {
    const decision = await store.findDecision(name);
    if (decision === undefined) throw new Fault("not-found", "no such decision; old ones are forgotten");
    return ok(fromDecision(decision, "full"));
  };

  /** The same deciding on the same committed ledger as a reservation; nothing is written. */
  const quote = ({ body }: UiCall): PlainAnswer => {
    const { requesterID: requester, request: wanted, weights } = checked(uiQuoteRequestSchema, body ?? {});
    if (!engine.ledger.accounts.has(requester))
      throw new Fault(
        "not-found",
        `${requester} is not known here: choose a cluster that the broker has heard`,
      );
    const request = valueOf(toReservationRequest(wanted));
    const policy =
      weights === undefined ? engine.policy : { ...engine.policy, weights: checkedWeights(weights) };
    const command = { kind: "reserve", requester, request, ...UNSAVED } as const;
    const { reply } = decide(engine.ledger, command, { now: engine.now(), policy });
    if (reply.kind !== "granted" && reply.kind !== "refused") throw faultOf(reply);
    const answer: UiQuote = {
      fits: reply.kind === "granted",
      decision: fromDecision(reply.decision, "full"),
      policyWeights: engine.policy.weights,
    };
    return ok(answer);
  };

  return [
    { method: "GET", path: "/ui/decisions", access: "viewer", handle: list },
    { method: "GET", path: "/ui/decisions/{id}", access: "viewer", handle: read },
    { method: "POST", path: "/ui/quotes", access: "viewer", handle: quote },
  ];
}

function checkedWeights(weights: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  if (Object.values(weights).some((weight) => weight > 0)) return weights;
  throw new Fault("invalid", "weights: at least one must be more than 0");
}
