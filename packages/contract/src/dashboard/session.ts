import type { UiTime } from "./common.ts";

/** A viewer reads everything; an admin may also release, cordon and uncordon. */
export type UiRole = "viewer" | "admin";

/** `POST /api/v1/dashboard/links` on the broker's API, by an admin: a link that signs one browser in, once. */
export interface DashboardLinkRequest {
  readonly role?: UiRole;
}
export interface DashboardLink {
  /** The token stands behind `#`, so that no proxy, log or preview ever sees it. */
  readonly url: string;
  readonly role: UiRole;
  readonly expiresAt: UiTime;
}

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
