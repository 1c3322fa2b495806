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
import { DEFAULT_POLICY, type Decision, type Policy, type ReservationCost } from "@resource-broker/domain";
import { checked, faultOf, valueOf } from "../../shared/checked.ts";
import type { RouteContext } from "./context.ts";
import { textOf } from "../query.ts";
import { type Call, ok, type PlainAnswer, type Route, template } from "../route.ts";
import { requesterOf } from "./reservations.ts";

type Weights = Policy["weights"];

const MAX_WEIGHT = 1e6;

/** What would happen: the same deciding, nothing written. */
export function quoteRoutes(context: RouteContext): readonly Route[] {
  const { engine } = context;
  const quote = (call: Call): PlainAnswer => {
    const { caller, body, query } = call;
    const dto = checked(reservationRequestSchema, body);
    const request = valueOf(toReservationRequest(dto));
    // A quote reserves nothing: an admin may ask without naming a cluster.
    const isOwn = query.one("requester") === undefined;
    const requester = isOwn ? caller.clusterId : requesterOf(call, context);
    const weights = weightsIn(call, engine.policy);
    const { namespace } = dto;
    const reply = engine.quote(requester, request, { ...(weights && { weights }), namespace });
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
      isReadOnly: true,
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

/** `resources:0.7,cost:0.3`. Rejects unknown scorers: their weight would have no effect. */
function weightsIn({ caller, query }: Call, policy: Policy): Weights | undefined {
  const text = textOf(query, "weights");
  if (text === "") return undefined;
  if (!caller.isAdmin) throw new Fault("forbidden", "only an admin may try other weights");
  const weights = text.split(",").map((part): readonly [name: string, weight: number] => {
    const [name = "", value = ""] = part.split(":");
    const weight = value === "" ? Number.NaN : Number(value);
    if (weight >= 0 && weight <= MAX_WEIGHT) return [name, weight];
    throw new Fault("invalid", `weights: ${part} is not a scorer and a number from 0 to ${MAX_WEIGHT}`);
  });
  const scorers = Object.keys({ ...DEFAULT_POLICY.weights, ...policy.weights, ...policy.ratings });
  const given = weights.filter(([, weight]) => weight > 0);
  if (given.length === 0) throw new Fault("invalid", "weights: at least one must be more than 0");
  const [unknown] = given.find(([name]) => !scorers.includes(name)) ?? [];
  if (unknown === undefined) return Object.fromEntries(weights);
  throw new Fault("invalid", `weights: ${unknown} is none of ${scorers.join(", ")}`);
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
    return ok(fromDecision(decision, caller.isAdmin ? "admin" : engine.policy.disclosure));
  };
  return [{ method: "GET", path: template(PATH.decision, "id"), access: "cluster", handle: read }];
}
