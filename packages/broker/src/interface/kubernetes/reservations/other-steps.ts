import type { Reservation } from "@resource-broker/contract";
import { objectKey } from "@resource-broker/kube";
import { renewalHappening } from "../forge/happenings.ts";
import { identify } from "../forge/identify.ts";
import { cut, MAX_EXPLANATION } from "../forge/texts.ts";
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

/** The words of the parties, and objects that ask for something else than a reservation. */
export function otherSteps(
  deps: OtherStepDeps,
): StepsOf<"submit" | "renew" | "quote" | "close-key" | "offer" | "delete"> {
  const { engine, recorder, writer, newest, teller, offered } = deps;

  /** Undefined: it lasts as long as was wished. */
  const refusedRenewal = async (object: Reservation, { durationMs, problem = "" }: RenewalWish) => {
    if (durationMs === undefined) return { code: "invalid", message: problem };
    const { requester, id } = identify(object);
    const by = { clusterId: requester, isAdmin: false };
    const reply = await engine.submit({ kind: "renew", by, id, durationMs });
    return reply.kind === "rejected" ? reply : undefined;
  };

  return {
    submit: async (_, { command }) => {
      // Whatever the ledger answers, it is to be seen in the ledger.
      await engine.submit(command);
      return true;
    },
    renew: async (object, { wish }) => {
      const refusal = await refusedRenewal(object, wish);
      const written = await writer.tellRenewal(object, {
        renewed: wish.text,
        ...(refusal === undefined
          ? {}
          : { code: refusal.code, explanation: cut(refusal.message, MAX_EXPLANATION) }),
      });
      newest.wrote(written);
      recorder.record(renewalHappening(object, refusal?.message));
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
