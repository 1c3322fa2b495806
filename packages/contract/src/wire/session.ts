import * as t from "../schema/builders.ts";
import type { DashboardLink } from "./admin.ts";

/** `POST /api/v1/dashboard/session`, at the dashboard's port only: exchanges the token of a link for a session cookie. */
export const signInSchema = t.object({
  token: t.required(t.nonEmptyLine(128), "Of the link."),
});

/** `GET /api/v1/dashboard/session`: who is signed in; 401: nobody. `DELETE` signs out. */
export interface SessionDTO {
  /** A viewer reads everything; an admin may also act. */
  readonly role: DashboardLink["role"];
  /** The admin who made the link, or the certificate's name. */
  readonly name: string;
  readonly by: "link" | "certificate";
  readonly expiresAt: string;
  readonly ledgerID: string;
  readonly version: string;
  /** Where brokerctl reaches this broker; null: nowhere. */
  readonly apiURL: string | null;
  /** Namespace of the broker's objects; null while it shows none. */
  readonly objectsNamespace: string | null;
  readonly now: string;
}
