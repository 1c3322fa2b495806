import type { Clock } from "@resource-broker/base";
import type { UiRole } from "@resource-broker/contract/dashboard";
import type { CertificateSet } from "@resource-broker/runtime";
import { type CertificateRef, isStillValid } from "./certificate-ref.ts";
import { type LinkSubject, tokenFrom } from "./links.ts";
import type { Seal } from "./seal.ts";
import type { SignOuts } from "./sign-outs.ts";

const ID_BYTES = 16;
export const SESSION_MS = 12 * 3_600_000;
/** Allowed clock difference between replicas. */
const CLOCK_SKEW_MS = 60_000;

/** Somebody who is signed in. */
export interface Session {
  readonly role: UiRole;
  readonly name: string;
  readonly by: "link" | "certificate";
  /** Counted against the limits of calls and streams. */
  readonly id: string;
  readonly leftMs: () => number;
}

/**
 * Sessions of browsers that signed in by a link. The browser holds the whole session in a sealed cookie, so it survives a
 * restart, and every replica with the same key accepts it. The broker stores only sessions that were ended early.
 */
export interface Sessions {
  readonly open: (invitation: LinkSubject) => { readonly token: string; readonly session: Session };
  readonly find: (token: string) => Session | undefined;
  /** Ends the session; resolves when the sign-out is stored. */
  readonly end: (token: string) => Promise<void>;
}

export interface SessionsDeps {
  /** The wall clock, because the monotonic clock restarts with each process. */
  readonly clock: Pick<Clock, "wallMs">;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly certificates: () => CertificateSet;
  readonly seal: Seal;
  readonly signOuts: Pick<SignOuts, "has" | "add">;
}

interface Claims {
  readonly id: string;
  readonly role: UiRole;
  readonly name: string;
  readonly beganAt: number;
  readonly certificateRef: CertificateRef;
}

export function createSessions({ clock, randomBytes, seal, ...deps }: SessionsDeps): Sessions {
  const leftMs = (claims: Claims): number => {
    const { beganAt, certificateRef } = claims;
    const now = clock.wallMs();
    // A session from the future is invalid: a clock that was set back must not extend it.
    const isOver = beganAt > now + CLOCK_SKEW_MS || deps.signOuts.has(claims);
    if (isOver || !isStillValid(certificateRef, deps.certificates(), now)) return 0;
    return Math.max(0, Math.min(beganAt + SESSION_MS, certificateRef.validToMs) - now);
  };

  const sessionOf = (claims: Claims): Session => {
    const { id, role, name } = claims;
    return { id, role, name, by: "link", leftMs: () => leftMs(claims) };
  };

  /** Undefined: not ours. */
  const claimsIn = (token: string): Claims | undefined => readClaims(seal.open(token) ?? []);

  return {
    open: ({ role, by, certificateRef }) => {
      const id = tokenFrom(randomBytes(ID_BYTES));
      const claims: Claims = { id, role, name: by, beganAt: clock.wallMs(), certificateRef };
      return { token: seal.seal(fieldsOf(claims)), session: sessionOf(claims) };
    },
    find: (token) => {
      const claims = claimsIn(token);
      return claims === undefined || leftMs(claims) === 0 ? undefined : sessionOf(claims);
    },
    end: async (token) => {
      const claims = claimsIn(token);
      // Also one that counts for nothing just now: a clock or a revocation list that was wrong may be put right.
      if (claims !== undefined && !deps.signOuts.has(claims)) await deps.signOuts.add(claims);
    },
  };
}

function fieldsOf({ id, role, name, beganAt, certificateRef }: Claims): string[] {
  const { serial, issuer, validToMs } = certificateRef;
  return [id, role, name, String(beganAt), serial, issuer, String(validToMs)];
}

/** The seal was verified, so the fields are those of `fieldsOf`. */
function readClaims(fields: readonly string[]): Claims | undefined {
  const [id, role, name, beganAt, serial, issuer, validToMs] = fields;
  if (id === undefined || name === undefined || serial === undefined || issuer === undefined)
    return undefined;
  if (role !== "admin" && role !== "viewer") return undefined;
  const certificateRef = { serial, issuer, validToMs: Number(validToMs) };
  return { id, role, name, beganAt: Number(beganAt), certificateRef };
}
