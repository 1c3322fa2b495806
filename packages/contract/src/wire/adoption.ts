import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, reservationName, time } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { requestedQuantitiesSchema } from "./quantities.ts";
import { generationSchema, idempotencyKeySchema, reservationSchema } from "./reservation.ts";

/** What an agent knows of a hold that it offers; shared by the wire and the Reservation object. */
export const offeredHoldFields = {
  phase: t.required(t.oneOf("Reserved", "Active"), "The last phase the agent heard of.", "Active"),
  generation: t.required(generationSchema, "The last generation the agent heard of.", 2),
  createdAt: t.required(time(), "When it was asked for.", "2026-07-01T10:00:00.123Z"),
  expiresAt: t.optional(time(), "When it ends by itself.", "2026-07-01T11:30:00.123Z"),
  key: t.optional(idempotencyKeySchema, "Its idempotency key, if the requester offers it.", "5f1c8a3e-2"),
};

const offerSchema = t.object({
  id: t.required(reservationName(), "The reservation's name.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  requesterID: t.required(clusterId(), "The cluster that borrows.", "rome"),
  targetClusterID: t.required(clusterId(), "The cluster that lends.", "paris"),
  requestedResources: t.required(requestedQuantitiesSchema, "What is held."),
  ...offeredHoldFields,
});

export const adoptionRequestSchema = t.message(
  "AdoptionRequestDTO",
  "Offers holds to a broker that lost its memory. Both parties must report the same, or an admin decides.",
  {
    ledgerID: t.optional(t.nonEmptyLine(63), "The Ledger-ID under which they were granted.", "led-8c1f"),
    reservations: t.required(
      t.array(offerSchema, LIMIT.adoptionOffers, { minItems: 1 }),
      "Holds that this agent keeps and the broker has forgotten.",
    ),
  },
);
export type AdoptionRequestDTO = Infer<typeof adoptionRequestSchema>;

export const adoptionReplySchema = t.message(
  "AdoptionReplyDTO",
  "The broker's answer to an adoption request.",
  {
    results: t.required(
      t.array(
        t.object({
          id: t.required(reservationName(), "The reservation that was offered.", "rsv-rome-k3u7dq2hvmx5b4ta"),
          outcome: t.required(
            t.oneOf("adopted", "waiting", "disputed", "refused"),
            "adopted: in the ledger. waiting: the other party has not spoken. disputed: the two reports differ, an admin must decide. refused: see message.",
            "adopted",
          ),
          message: t.required(
            t.line(LIMIT.reasonLength),
            "The same in words.",
            "waits for paris to report the same hold",
          ),
          reservation: t.optional(
            reservationSchema,
            "The reservation as it stands now, when it is in the ledger.",
          ),
        }),
        LIMIT.adoptionOffers,
      ),
      "One answer for each offer, in the same order.",
    ),
  },
);
export type AdoptionReplyDTO = Infer<typeof adoptionReplySchema>;
