import type { Reservation } from "@resource-broker/contract/crd";
import type { Reply } from "@resource-broker/domain";
import { objectKey } from "@resource-broker/kube";
import { reservationIn } from "../../shared/checked.ts";
import { renewalRefusedEvent, renewedEvent } from "../builders/events.ts";
import { identify } from "../builders/identify.ts";
import type { AssumeCache } from "../objects/assume-cache.ts";
import type { KubernetesDeps } from "../ports.ts";
import { adoptionStatus, keyClosedStatus, quoteStatus } from "./reply-status.ts";
import type { ReservationWriter } from "./reservation-writer.ts";
import type { StatusWriter } from "./status-writer.ts";
import type { RenewalRequest, StepsOf } from "./step.ts";

export interface IntentStepDeps extends Pick<KubernetesDeps, "engine" | "recorder"> {
  readonly writer: ReservationWriter;
  readonly cache: AssumeCache<Reservation>;
  readonly statusWriter: StatusWriter;
  /** This process has put the offer of that object before the ledger. */
  readonly offered: (object: Reservation) => void;
}

/** Steps for signals of the parties and for objects with another intent than Reserve. */
export function intentSteps(
  deps: IntentStepDeps,
): StepsOf<"submit" | "renew" | "quote" | "close-key" | "offer" | "delete"> {
  const { engine, recorder, writer, cache, statusWriter, offered } = deps;

  const renew = async (object: Reservation, { durationMs, problem = "" }: RenewalRequest): Promise<Reply> => {
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
    renew: async (object, { renewal }) => {
      const reply = await renew(object, renewal);
      const isRefused = reply.kind === "rejected";
      const written = await writer.writeRenewal(object, {
        renewed: renewal.text,
        ...(isRefused ? { code: reply.code, explanation: reply.message } : {}),
      });
      cache.assume(written);
      recorder.record(
        isRefused
          ? renewalRefusedEvent(object, reply.message)
          : renewedEvent(object, reservationIn(reply).expiresAt),
      );
      return true;
    },
    quote: (object, { request }) => {
      const reply = engine.quote(identify(object).requester, request);
      return statusWriter.answer(object, quoteStatus(reply, engine.policy.disclosure));
    },
    "close-key": async (object) => {
      const { requester, key } = identify(object);
      const reply = await engine.submit({ kind: "release-by-key", requester, key });
      return statusWriter.answer(object, keyClosedStatus(reply));
    },
    offer: async (object, step) => {
      const by = { clusterId: step.by, isAdmin: false };
      const reply = await engine.submit({ kind: "adopt", by, offer: step.offer });
      offered(object);
      return statusWriter.answer(object, adoptionStatus(reply, step));
    },
    delete: async (object) => {
      await writer.remove(object);
      cache.forget(objectKey(object));
      return false;
    },
  };
}
