import type { DecisionDTO } from "../wire/decision.ts";
import type { ReservationRequestDTO } from "../wire/reservation-request.ts";
import type { UiPage, UiTime } from "./common.ts";

/** `GET /ui/decisions/{id}` answers the API's `DecisionDTO`, with all figures. */

/** `GET /ui/decisions?outcome=granted|refused&requester=&offset=&limit=`: the newest first, as far as they are kept in memory (at most 1,000). */
export interface UiDecisionRow {
  readonly id: string;
  readonly at: UiTime;
  readonly requester: string;
  /** Null: refused. */
  readonly winner: string | null;
  readonly considered: number;
  readonly fitted: number;
  /** What was asked for, in words: "4 CPU / 8Gi Memory". */
  readonly asked: string;
  /** Of a refusal: the reason that most clusters had. */
  readonly reason: string | null;
}
export type UiDecisions = UiPage<UiDecisionRow>;

/** `POST /ui/quotes`: what would happen. Nothing is written. */
export interface UiQuoteRequest {
  /** The cluster that would ask; it is known to the broker. */
  readonly requesterID: string;
  readonly request: ReservationRequestDTO;
  /** In place of the policy's. */
  readonly weights?: Readonly<Record<string, number>>;
}
export interface UiQuote {
  readonly fits: boolean;
  readonly decision: DecisionDTO;
  /** The weights of the policy in force, to start from. */
  readonly policyWeights: Readonly<Record<string, number>>;
}
