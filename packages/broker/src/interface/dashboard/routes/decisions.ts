import { Fault } from "@resource-broker/base";
import { fromDecision, toReservationRequest } from "@resource-broker/contract";
import { type UiQuote, uiQuoteRequestSchema } from "@resource-broker/contract/dashboard";
import { DEFAULT_POLICY, decide, type Policy } from "@resource-broker/domain";
import { ok, type PlainAnswer } from "../../http/route.ts";
import { checked, faultOf, valueOf } from "../../shared/checked.ts";
import { readDecisionQuery } from "../lists/list-query.ts";
import type { UiCall, UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";

const UNSAVED = { reservationId: "quote", decisionId: "quote" } as const;

/** Recorded decisions and quotes. */
export function decisionRoutes({ engine, store, decisions }: UiContext): readonly UiRoute[] {
  const list = async ({ parameters }: UiCall): Promise<PlainAnswer> => {
    const query = readDecisionQuery(parameters);
    await decisions.complete();
    return ok(decisions.page(query, engine.commitNumber));
  };

  const read = async ({ name }: UiCall): Promise<PlainAnswer> => {
    const decision = await store.findDecision(name);
    if (decision === undefined) throw new Fault("not-found", "no such decision; old ones are forgotten");
    return ok(fromDecision(decision, "full"));
  };

  /** The same deciding on the same committed ledger as a reservation; nothing is written. */
  const quote = ({ body }: UiCall): PlainAnswer => {
    const { requesterID: requester, request: wanted, weights } = checked(uiQuoteRequestSchema, body ?? {});
    if (!engine.ledger.accounts.has(requester))
      throw new Fault("not-found", `${requester} is unknown: choose a cluster that has advertised`);
    const request = valueOf(toReservationRequest(wanted));
    const policy =
      weights === undefined
        ? engine.policy
        : { ...engine.policy, weights: checkedWeights(weights, engine.policy) };
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

type Weights = Policy["weights"];

/** Rejects unknown scorers: their weight would have no effect. */
function checkedWeights(weights: Weights, policy: Policy): Weights {
  const scorers = Object.keys({ ...DEFAULT_POLICY.weights, ...policy.weights, ...policy.ratings });
  const given = Object.keys(weights).filter((name) => (weights[name] ?? 0) > 0);
  if (given.length === 0) throw new Fault("invalid", "weights: at least one must be more than 0");
  const unknown = given.find((name) => !scorers.includes(name));
  if (unknown === undefined) return weights;
  throw new Fault("invalid", `weights: ${unknown} is none of ${scorers.join(", ")}`);
}
