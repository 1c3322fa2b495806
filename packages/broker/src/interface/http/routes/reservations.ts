import { Fault, parseDuration } from "@resource-broker/base";
import {
  HEADER,
  LIMIT,
  PATH,
  present,
  refusalDetails,
  type ReservationRequestDTO,
  renewRequestSchema,
  reservationRequestSchema,
  toMilliseconds,
  toReservationRequest,
} from "@resource-broker/contract";
import {
  type Actor,
  type ClusterId,
  type Decision,
  headline,
  isClusterId,
  MARKET_PROTOCOL,
  type Reply,
  type Reservation,
  type Reserve,
  type Waiting,
} from "@resource-broker/domain";
import { checked, faultOf, reservationIn, valueOf } from "../../shared/checked.ts";
import { renderReservation, roleOf } from "../../shared/render.ts";
import { renderWaiting } from "../../shared/render-waiting.ts";
import type { RouteContext } from "./context.ts";
import { type Call, knowsOfWaiting, ok, type PlainAnswer, type Route, template } from "../route.ts";

const PARAMETER = "requester";

/**
 * The cluster that a call is made for: the caller, or the cluster that an admin names. An admin is not a cluster: nobody
 * would use or release its reservation. An agent may have an admin's certificate; its cluster has advertised.
 */
export function requesterOf(
  { caller, query }: Call,
  context: Pick<RouteContext, "renderContext">,
): ClusterId {
  const named = query.one(PARAMETER);
  if (!caller.isAdmin && named !== undefined && named !== caller.clusterId) {
    throw new Fault("forbidden", `only an admin may ask for another cluster; leave ?${PARAMETER}= out`);
  }
  const requester = named ?? caller.clusterId;
  if (!caller.isAdmin || hasAdvertised(requester, context)) return requester;
  if (named === undefined) {
    throw new Fault(
      "invalid",
      `${caller.clusterId} is an admin, not a cluster: name the cluster with ?${PARAMETER}=<cluster-id> (brokerctl: --for)`,
    );
  }
  throw new Fault(
    "invalid",
    `${PARAMETER}: no cluster ${JSON.stringify(named)} has advertised here; GET /api/v1/advertisements lists those that have`,
  );
}

function hasAdvertised(id: string, { renderContext }: Pick<RouteContext, "renderContext">): id is ClusterId {
  return isClusterId(id) && renderContext().ledger.accounts.get(id)?.advertisement !== undefined;
}

const VISIBLE = /^[\x21-\x7e]+$/;

/** Checks a key; Node joins a header that is sent twice by a comma and a space, which no key may hold. */
function checkKey(key: string, where: string = HEADER.idempotencyKey): string {
  if (key.length <= LIMIT.idempotencyKeyLength && VISIBLE.test(key)) return key;
  throw new Fault(
    "invalid",
    `${where} must be one key of 1 to ${LIMIT.idempotencyKeyLength} visible ASCII characters without spaces`,
  );
}

const KEY_HEADER = "idempotency-key";
const REPLAYED: readonly string[] = [HEADER.idempotencyReplayed, "true"];

/** How long the request may wait, for which tenant, and whose place it takes over. Agents that do not know of waiting are answered at once. */
function waitIn(
  { wait, namespace, resumes }: ReservationRequestDTO,
  { protocol }: Pick<Call, "protocol">,
): Pick<Reserve, "wait" | "namespace" | "protocol" | "resumes"> {
  const mayWait = wait !== undefined && protocol >= MARKET_PROTOCOL;
  const forMs = wait?.for === undefined ? undefined : toMilliseconds(wait.for);
  return present({ protocol, namespace, resumes, wait: mayWait ? present({ forMs }) : undefined });
}

/** To an agent that does not know of waiting. */
function waitsAlready({ id, phase }: Waiting): Fault {
  const where = phase === "Pending" ? "waits in the queue" : "has left the queue";
  return new Fault(
    "no-capacity",
    `${id} ${where} with this key; this agent is too old to follow it: update it, or release the key`,
  );
}

/** Making reservations, and what their requesters do with them. */
export function reservationRoutes(context: RouteContext): readonly Route[] {
  const { engine, renderContext, ids, log, metrics } = context;

  const render = (reservation: Reservation, caller: Actor) =>
    renderReservation(renderContext(), reservation, { role: roleOf(caller, reservation) });

  const reserve = async (call: Call): Promise<PlainAnswer> => {
    const { caller, headers } = call;
    const stated = headers[KEY_HEADER];
    const key = stated === undefined ? undefined : checkKey(String(stated));
    const dto = checked(reservationRequestSchema, call.body);
    const request = valueOf(toReservationRequest(dto));
    const requester = requesterOf(call, context);
    const asked = { requester, request, ...(key === undefined ? {} : { key }), ...waitIn(dto, call) };
    const reply = await engine.submit({
      kind: "reserve",
      by: caller,
      ...asked,
      reservationId: ids.reservation(requester, key),
      decisionId: ids.decision(),
    });
    if (reply.kind === "rejected" && reply.code === "quota-exceeded") metrics.demandUnmet("quota", asked);
    if (reply.kind !== "granted") return answer(reply, call);
    if (key === undefined && call.isCallerGone())
      return releaseUnanswered(reply.reservation, "the requester closed the connection");
    try {
      return answer(reply, call);
    } catch (error) {
      await releaseUnanswered(reply.reservation, "the reply could not be sent");
      throw error;
    }
  };

  const answer = (reply: Reply, { caller, protocol }: Call): PlainAnswer => {
    switch (reply.kind) {
      case "waiting":
        if (protocol < MARKET_PROTOCOL) throw waitsAlready(reply.waiting);
        return answerWaiting(reply, caller);
      case "granted":
        return { status: 201, body: render(reply.reservation, caller) };
      case "current":
        return { status: 200, body: render(reply.reservation, caller), headers: REPLAYED };
      case "refused":
        throw noCapacity(reply.decision, caller);
      default:
        throw faultOf(reply);
    }
  };

  /** 202 while it waits; a retry learns how it has left the queue. */
  const answerWaiting = (
    { waiting, isReplay }: Extract<Reply, { readonly kind: "waiting" }>,
    reader: Actor,
  ): PlainAnswer => ({
    status: waiting.phase === "Pending" ? 202 : 200,
    body: renderWaiting(engine, waiting, { reader }),
    ...(isReplay ? { headers: REPLAYED } : {}),
  });

  /**
   * The requester did not receive the reservation. Without a key it would request another one and never release this one,
   * and a 5xx reply promises that nothing was reserved.
   */
  const releaseUnanswered = async ({ id, requester }: Reservation, why: string): Promise<PlainAnswer> => {
    log.warn({ reservation: id, requester, why }, "a reservation is released again");
    await engine.submit({ kind: "release", by: { clusterId: requester, isAdmin: false }, id });
    return { status: 503 };
  };

  const noCapacity = (decision: Decision, { isAdmin }: Actor): Fault =>
    new Fault("no-capacity", headline(decision), {
      details: refusalDetails(decision, isAdmin ? "full" : engine.policy.disclosure),
    });

  const activate = async ({ caller, name }: Call): Promise<PlainAnswer> =>
    ok(render(reservationIn(await engine.submit({ kind: "activate", by: caller, id: name })), caller));

  const renew = async ({ caller, name, body }: Call): Promise<PlainAnswer> => {
    const { duration } = checked(renewRequestSchema, body);
    const parsed = parseDuration(duration);
    if (!parsed.ok) throw new Fault("invalid", `duration: ${parsed.problem}`);
    const reply = await engine.submit({ kind: "renew", by: caller, id: name, durationMs: parsed.ms });
    return ok(render(reservationIn(reply), caller));
  };

  const release = async (call: Call): Promise<PlainAnswer> => {
    const { caller, name } = call;
    if (engine.ledger.waiting.byId.has(name) && !knowsOfWaiting(call))
      throw new Fault("not-found", "no such reservation that you are party to");
    return released(await engine.submit({ kind: "release", by: caller, id: name }), caller);
  };

  const released = (reply: Reply, caller: Actor): PlainAnswer =>
    ok(
      reply.kind === "waiting"
        ? renderWaiting(engine, reply.waiting, { reader: caller })
        : render(reservationIn(reply), caller),
    );

  const releaseByKey = async (call: Call): Promise<PlainAnswer> => {
    const { caller, query } = call;
    const key = query.one("key");
    if (key === undefined) throw new Fault("invalid", "name the key: ?key=<Idempotency-Key>");
    checkKey(key, "key");
    const requester = requesterOf(call, context);
    const reply = await engine.submit({ kind: "release-by-key", requester, by: caller, key });
    // No reservation exists for the key, and none will be made.
    const isNothing = reply.kind === "key-closed" || (reply.kind === "waiting" && !knowsOfWaiting(call));
    return isNothing ? { status: 204 } : released(reply, caller);
  };

  const body = { limit: LIMIT.bodyBytes };
  return [
    { method: "POST", path: PATH.reservations, access: "cluster", body, isSheddable: true, handle: reserve },
    { method: "DELETE", path: PATH.reservations, access: "cluster", handle: releaseByKey },
    { method: "POST", path: template(PATH.activate, "id"), access: "cluster", handle: activate },
    { method: "POST", path: template(PATH.renew, "id"), access: "cluster", body, handle: renew },
    { method: "DELETE", path: template(PATH.reservation, "id"), access: "cluster", handle: release },
  ];
}
