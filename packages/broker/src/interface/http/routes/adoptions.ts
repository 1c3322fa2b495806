import { formatTime, parseDuration } from "@resource-broker/base";
import {
  type AdoptionReplyDTO,
  type AdoptionWindowDTO,
  adoptionOpeningSchema,
  adoptionRequestSchema,
  LIMIT,
  PATH,
  toAdoptionOffers,
} from "@resource-broker/contract";
import {
  type Actor,
  type AdoptionOffer,
  isAdoptionOpen,
  type Reply,
  type SetAdoptionWindow,
} from "@resource-broker/domain";
import { checked, faultOf, pendingOutcome, valueOf } from "../../shared/checked.ts";
import { renderReservation, roleOf } from "../../shared/render.ts";
import type { RouteContext } from "./context.ts";
import { type Call, ok, type PlainAnswer, type Route } from "../route.ts";

type Result = AdoptionReplyDTO["results"][number];

/** Adoption of reservations that a new or restored ledger does not know, and the adoption window. Offers are idempotent, so a failed call may be repeated. */
export function adoptionRoutes({ engine, renderContext }: RouteContext): readonly Route[] {
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
      const showWindow = renderReservation(renderContext(), reservation, {
        role: roleOf(caller, reservation),
      });
      return { id, outcome: "adopted", message: "it is in the ledger", reservation: showWindow };
    }
    if (reply.kind === "rejected") return { id, outcome: "refused", message: reply.message };
    if (reply.kind !== "adoption-offered") throw faultOf(reply);
    return { id, ...pendingOutcome(reply, { by: caller.clusterId, offer }) };
  };

  const showWindow = (): PlainAnswer => {
    const { adoption } = engine.ledger;
    const answer: AdoptionWindowDTO = {
      open: isAdoptionOpen(engine.ledger, engine.now()),
      ...(adoption && {
        since: formatTime(adoption.since),
        until: formatTime(adoption.until),
        cause: adoption.cause,
        ...(adoption.by === undefined ? {} : { by: adoption.by }),
      }),
    };
    return ok(answer);
  };

  const set = async (command: SetAdoptionWindow): Promise<PlainAnswer> => {
    const reply = await engine.submit(command);
    if (reply.kind !== "adoption-window-set") throw faultOf(reply);
    return showWindow();
  };

  const open = ({ caller, body }: Call): Promise<PlainAnswer> => {
    const { duration } = checked(adoptionOpeningSchema, body);
    const parsed = parseDuration(duration);
    return set({ kind: "open-adoption", by: caller, durationMs: parsed.ok ? parsed.ms : 0 });
  };

  const body = { limit: LIMIT.bodyBytes };
  const path = PATH.adoptionWindow;
  return [
    { method: "POST", path: PATH.adoptions, access: "cluster", body, handle: adopt },
    { method: "GET", path, access: "admin", handle: showWindow },
    { method: "POST", path, access: "admin", body, handle: open },
    {
      method: "DELETE",
      path,
      access: "admin",
      handle: ({ caller }) => set({ kind: "close-adoption", by: caller }),
    },
  ];
}
