import { array, line, object, oneOf, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, reservationName, time } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { requestedQuantitiesSchema } from "./quantities.ts";
import { generationSchema, idempotencyKeySchema, reservationSchema } from "./reservation.ts";

const offerSchema = object({
  id: required(reservationName(), "The reservation's name.", { examples: ["rsv-rome-k3u7dq2hvmx5b4ta"] }),
  requesterID: required(clusterId(), "The cluster that borrows.", { examples: ["rome"] }),
  targetClusterID: required(clusterId(), "The cluster that lends.", { examples: ["paris"] }),
  requestedResources: required(requestedQuantitiesSchema, "What is held."),
  phase: required(oneOf("Reserved", "Active"), "The last phase the agent heard of.", {
    examples: ["Active"],
  }),
  generation: required(generationSchema, "The last generation the agent heard of.", { examples: [2] }),
  createdAt: required(time(), "When it was asked for.", { examples: ["2026-07-01T10:00:00.123Z"] }),
  expiresAt: optional(time(), "When it ends by itself.", { examples: ["2026-07-01T11:30:00.123Z"] }),
  key: optional(idempotencyKeySchema, "Its idempotency key, if the requester offers it.", {
    examples: ["5f1c8a3e-2"],
  }),
});

export const adoptionRequestSchema = titled(
  "AdoptionRequestDTO",
  object({
    ledgerID: optional(
      line({ minLength: 1, maxLength: 63 }),
      "The Ledger-ID under which they were granted.",
      {
        examples: ["led-8c1f"],
      },
    ),
    reservations: required(
      array(offerSchema, { minItems: 1, maxItems: LIMIT.adoptionOffers }),
      "Holds that this agent keeps and the broker has forgotten.",
    ),
  }),
  "Offers holds to a broker that lost its memory. Both parties must report the same, or an admin decides.",
);
export type AdoptionRequestDTO = Infer<typeof adoptionRequestSchema>;

export const adoptionReplySchema = titled(
  "AdoptionReplyDTO",
  object({
    results: required(
      array(
        object({
          id: required(reservationName(), "The reservation that was offered.", {
            examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
          }),
          outcome: required(
            oneOf("adopted", "waiting", "disputed", "refused"),
            "adopted: in the ledger. waiting: the other party has not spoken. disputed: the two reports differ, an admin must decide. refused: see message.",
            { examples: ["adopted"] },
          ),
          message: required(line({ maxLength: LIMIT.reasonLength }), "The same in words.", {
            examples: ["waits for paris to report the same hold"],
          }),
          reservation: optional(
            reservationSchema,
            "The reservation as it stands now, when it is in the ledger.",
          ),
        }),
        { maxItems: LIMIT.adoptionOffers },
      ),
      "One answer for each offer, in the same order.",
    ),
  }),
  "The broker's answer to an adoption request.",
);
export type AdoptionReplyDTO = Infer<typeof adoptionReplySchema>;
