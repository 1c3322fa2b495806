import {
  type AdoptionReplyDTO,
  adoptionRequestSchema,
  LIMIT,
  PATH,
  toAdoptionOffers,
} from "@resource-broker/contract";
import type { Actor, AdoptionOffer, Reply } from "@resource-broker/domain";
import { checked, faultOf, valueOf } from "../../shared/checked.ts";
import { renderReservation, roleOf } from "../../shared/render.ts";
import { type Call, ok, type PlainAnswer, type Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

type Result = AdoptionReplyDTO["results"][number];

/** Holds offered to a broker that lost its memory. Offering again is harmless, so a failed call may be repeated whole. */
export function adoptionRoutes({ engine, books }: RouteContext): readonly Route[] {
  const adopt = async ({ caller, body }: Call): Promise<PlainAnswer> => {
    const offers = valueOf(toAdoptionOffers(checked(adoptionRequestSchema, body)));
    const replies = await Promise.all(
      offers.map((offer) => engine.submit({ kind: "adopt", by: caller, offer })),
    );
    const results = offers.flatMap((offer, position) => {
      const reply = replies[position];
      return reply === undefined ? [] : [resultOf(offer, reply, caller)];
    });
    const answer: AdoptionReplyDTO = { results };
    return ok(answer);
  };

  const resultOf = (offer: AdoptionOffer, reply: Reply, caller: Actor): Result => {
    const { id } = offer;
    if (reply.kind === "current") {
      const { reservation } = reply;
      const shown = renderReservation(books(), reservation, { role: roleOf(caller, reservation) });
      return { id, outcome: "adopted", message: "it is in the ledger", reservation: shown };
    }
    if (reply.kind === "rejected") return { id, outcome: "refused", message: reply.message };
    if (reply.kind !== "adoption-offered") throw faultOf(reply);
    const other = caller.clusterId === offer.requester ? offer.provider : offer.requester;
    return reply.isDisputed
      ? { id, outcome: "disputed", message: `${other} reports it differently; an admin must decide` }
      : { id, outcome: "waiting", message: `waits for ${other} to report the same hold` };
  };

  const body = { limit: LIMIT.bodyBytes };
  return [{ method: "POST", path: PATH.adoptions, access: "cluster", body, handle: adopt }];
}
