import type { UiDecisionRow } from "./decisions.ts";
import type { UiCluster } from "./fleet.ts";
import type { UiReservation } from "./reservations.ts";

/**
 * `GET /ui/events?after=`: server-sent events for every page. The id of an event is its commit number; `Last-Event-ID` resumes
 * (or `after`, for a page that opens a new stream by itself), and what is too old answers `reset` (read your lists again). A
 * comment line comes every 4 s, so that 12 s of silence mean that the connection is dead. Changes are gathered for 200 ms: the
 * newest state of each row, once.
 */
export type UiEvent =
  | { readonly event: "hello"; readonly data: { readonly commit: number; readonly ledgerID: string } }
  | { readonly event: "reset"; readonly data: { readonly commit: number } }
  | {
      readonly event: "changes";
      readonly data: {
        readonly commit: number;
        readonly clusters: readonly UiCluster[];
        readonly reservations: readonly UiReservation[];
        readonly decisions: readonly UiDecisionRow[];
        /** More than 200 rows changed: list again. */
        readonly more: boolean;
      };
    };

/**
 * The reply, with status 200, to an action of an admin: `POST /ui/reservations/{id}/release`,
 * `POST /ui/clusters/{id}/cordon` (optional `reason`), `POST /ui/clusters/{id}/uncordon`.
 * Each needs the header `X-Broker-Dashboard: 1` and an empty or JSON body.
 */
export interface UiDone {
  readonly message: string;
}
