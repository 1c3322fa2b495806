import { hash } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import type { UiRole } from "@resource-broker/contract/dashboard";
import type { CertificateRef } from "./certificate-ref.ts";

const TOKEN_BYTES = 32;
const LINK_MS = 120_000;
/** Limit of open links; the oldest are removed. */
const MAX_LINKS = 100;

/** What a link is made for. */
export interface LinkSubject {
  readonly role: UiRole;
  /** The admin who made it. */
  readonly by: string;
  /** Of the admin's certificate: what comes of the link ends with it. */
  readonly certificateRef: CertificateRef;
}

export interface IssuedLink {
  readonly token: string;
  readonly validForMs: number;
}

/**
 * One-time sign-in links. Only a digest of each token is stored, so a memory leak reveals no token. Links exist in this process
 * only: a restart drops unused links, and a used link cannot become valid again.
 */
export interface Links {
  readonly issue: (invitation: LinkSubject) => IssuedLink;
  /** The subject of the link; undefined if it is unknown, used or expired, without telling which. */
  readonly redeem: (token: string) => LinkSubject | undefined;
}

export interface LinksDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly randomBytes: (size: number) => Uint8Array;
}

export function createLinks({ clock, randomBytes }: LinksDeps): Links {
  const open = new Map<string, { readonly invitation: LinkSubject; readonly until: number }>();

  const forgetOld = (): void => {
    const now = clock.monotonicMs();
    for (const [digest, { until }] of open) if (until <= now || open.size > MAX_LINKS) open.delete(digest);
  };

  return {
    issue: (subject) => {
      const token = tokenFrom(randomBytes(TOKEN_BYTES));
      open.set(digestOf(token), { invitation: subject, until: clock.monotonicMs() + LINK_MS });
      forgetOld();
      return { token, validForMs: LINK_MS };
    },
    redeem: (token) => {
      forgetOld();
      const digest = digestOf(token);
      const link = open.get(digest);
      open.delete(digest);
      return link?.invitation;
    },
  };
}

export function tokenFrom(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function digestOf(token: string): string {
  return hash("sha256", token, "hex");
}
