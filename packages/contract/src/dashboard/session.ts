import { line, number, object, optional, record, required } from "../schema/builders.ts";
import type { Schema } from "../schema/node.ts";
import { clusterId } from "../schema/terms.ts";
import { reservationRequestSchema } from "../wire/reservation-request.ts";
import type { UiTime } from "./common.ts";
import type { UiQuoteRequest } from "./decisions.ts";

/** A viewer reads everything; an admin may also release, cordon and uncordon. */
export type UiRole = "viewer" | "admin";

/** `POST /ui/session`: exchanges the link's token for a session cookie. */
export interface UiSignIn {
  readonly token: string;
}

/** `GET /ui/session`; 401 without one. `DELETE /ui/session` signs out. */
export interface UiSession {
  readonly role: UiRole;
  /** Who is signed in: the admin who made the link, or the certificate's name. */
  readonly name: string;
  readonly by: "link" | "certificate";
  readonly expiresAt: UiTime;
  readonly ledgerID: string;
  readonly version: string;
  readonly currency: string;
  /** Where brokerctl reaches this broker, for the commands that are shown. */
  readonly apiURL: string | null;
  /** Namespace of the broker's objects; null while it shows none. */
  readonly objectsNamespace: string | null;
  readonly now: UiTime;
}

/** What a browser may send: checked like everything that comes in. */
const MAX_TOKEN_LENGTH = 128;
const MAX_WEIGHT = 1e6;
const MAX_SCORERS = 32;

export const uiSignInSchema: Schema<UiSignIn> = object({
  token: required(line({ minLength: 1, maxLength: MAX_TOKEN_LENGTH }), "Of the link."),
});

export const uiQuoteRequestSchema: Schema<UiQuoteRequest> = object({
  requesterID: required(clusterId(), "The cluster that would ask.", { examples: ["rome"] }),
  request: required(reservationRequestSchema, "What it would ask for."),
  weights: optional(
    record(line({ minLength: 1, maxLength: 63 }), number({ minimum: 0, maximum: MAX_WEIGHT }), {
      maxProperties: MAX_SCORERS,
    }),
    "Weight of each scorer, in place of the policy's.",
    { examples: [{ resources: 0.7, cost: 0.3 }] },
  ),
});
