import type { UiTime } from "./common.ts";

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
