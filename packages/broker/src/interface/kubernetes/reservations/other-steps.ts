import type { Reservation } from "@resource-broker/contract";
import type { Reply } from "@resource-broker/domain";
import { objectKey } from "@resource-broker/kube";
import { reservationIn } from "../../shared/checked.ts";
import { renewalHappening, renewalRefusedHappening } from "../forge/happenings.ts";
import { identify } from "../forge/identify.ts";
import type { NewestObjects } from "../objects/newest-objects.ts";
import type { KubernetesDeps } from "../ports.ts";
import { adoptionIn, closingIn, quoteIn } from "./answers.ts";
import type { ReservationWriter } from "./reservation-writer.ts";
import type { RenewalWish, StepsOf } from "./step.ts";
import type { Teller } from "./teller.ts";

export interface OtherStepDeps extends Pick<KubernetesDeps, "engine" | "recorder"> {
  readonly writer: ReservationWriter;
  readonly newest: NewestObjects<Reservation>;
  readonly teller: Teller;
  /** This process has put the offer of that object before the ledger. */
  readonly offered: (object: Reservation) => void;
}

/** Steps for signals of the parties and for objects with another intent than Reserve. */
export function otherSteps(
  deps: OtherStepDeps,
): StepsOf<"submit" | "renew" | "quote" | "close-key" | "offer" | "delete"> {
  const { engine, recorder, writer, newest, teller, offered } = deps;

  const renew = async (object: Reservation, { durationMs, problem = "" }: RenewalWish): Promise<Reply> => {
    if (durationMs === undefined) return { kind: "rejected", code: "invalid", message: problem };
    const { requester, id } = identify(object);
    return engine.submit({ kind: "renew", by: { clusterId: requester, isAdmin: false }, id, durationMs });
  };

  return {
    submit: async (_, { command }) => {
      // The reply is not used: the next step reads the ledger.
      await engine.submit(command);
      return true;
    },
    renew: async (object, { wish }) => {
      const reply = await renew(object, wish);
      const isRefused = reply.kind === "rejected";
      const written = await writer.tellRenewal(object, {
        renewed: wish.text,
        ...(isRefused ? { code: reply.code, explanation: reply.message } : {}),
      });
      newest.wrote(written);
      recorder.record(
        isRefused
          ? renewalRefusedHappening(object, reply.message)
          : renewalHappening(object, reservationIn(reply).expiresAt),
      );
      return true;
    },
    quote: (object, { request }) => {
      const reply = engine.quote(identify(object).requester, request);
      return teller.answer(object, quoteIn(reply, engine.policy.disclosure));
    },
    "close-key": async (object) => {
      const { requester, key } = identify(object);
      const reply = await engine.submit({ kind: "release-by-key", requester, key });
      return teller.answer(object, closingIn(reply));
    },
    offer: async (object, step) => {
      const by = { clusterId: step.by, isAdmin: false };
      const reply = await engine.submit({ kind: "adopt", by, offer: step.offer });
      offered(object);
      return teller.answer(object, adoptionIn(reply, step));
    },
    delete: async (object) => {
      await writer.remove(object);
      newest.forget(objectKey(object));
      return false;
    },
  };
}
