import { createPrivateKey, hash, hkdfSync, type X509Certificate } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import type { DashboardLink } from "@resource-broker/contract";
import type { CertificateSet } from "@resource-broker/runtime";
import { isRevoked } from "../../http/identity.ts";
import type { Session } from "../../http/route.ts";
import type { SignOuts } from "./sign-outs.ts";

/** Reference to an admin's certificate, used to check during a session that it is still valid. */
interface CertificateRef {
  readonly serial: string;
  /** The authority that issued it, by name and key: one that is renewed with its key stays the same. */
  readonly issuer: string;
  readonly validToMs: number;
}

/** TLS has checked the certificate before. */
export function certificateRefOf(leaf: X509Certificate, { authorities }: CertificateSet): CertificateRef {
  const issuer = authorities.find(
    (authority) => authority.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey),
  );
  return {
    serial: leaf.serialNumber,
    issuer: issuer === undefined ? authoritiesFingerprint(authorities) : authorityFingerprint(issuer),
    validToMs: leaf.validToDate.getTime(),
  };
}

export function isStillValid(
  { serial, issuer, validToMs }: CertificateRef,
  set: CertificateSet,
  nowMs: number,
): boolean {
  if (nowMs > validToMs) return false;
  const { authorities, revocations } = set;
  const authority = authorities.find((each) => each.ca && authorityFingerprint(each) === issuer);
  // Issued by an intermediate authority that is not in ca.crt: valid only while the authorities are unchanged.
  if (authority === undefined)
    return revocations.length === 0 && authoritiesFingerprint(authorities) === issuer;
  const isTakenBack = revocations.some(
    (list) => list.serials.has(serial) && authorityFingerprint(list.issuer) === issuer,
  );
  return !isTakenBack && !isRevoked({ leaf: authority, intermediates: [] }, set);
}

const fingerprints = new WeakMap<X509Certificate, string>();

function authorityFingerprint(authority: X509Certificate): string {
  const known = fingerprints.get(authority);
  if (known !== undefined) return known;
  const key = authority.publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const fingerprint = hash("sha256", JSON.stringify([authority.subject, key]), "base64url");
  fingerprints.set(authority, fingerprint);
  return fingerprint;
}

function authoritiesFingerprint(authorities: readonly X509Certificate[]): string {
  return hash(
    "sha256",
    JSON.stringify(["all", ...authorities.map(authorityFingerprint).sort()]),
    "base64url",
  );
}

const TOKEN_BYTES = 32;
const LINK_MS = 120_000;
/** Limit of open links; the oldest are removed. */
const MAX_LINKS = 100;

/** What a link is made for. */
interface LinkSubject {
  readonly role: DashboardLink["role"];
  /** The admin who made it. */
  readonly by: string;
  /** Of the admin's certificate: what comes of the link ends with it. */
  readonly certificateRef: CertificateRef;
}

interface IssuedLink {
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

interface LinksDeps {
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

function tokenFrom(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

function digestOf(token: string): string {
  return hash("sha256", token, "hex");
}

const ID_BYTES = 16;
export const SESSION_MS = 12 * 3_600_000;
/** Allowed clock difference between replicas. */
const CLOCK_SKEW_MS = 60_000;
const PURPOSE = "resource-broker dashboard session 2";
const KEY_BYTES = 32;
const ALGORITHM = "HS256";

/**
 * Sessions of browsers that signed in by a link. The browser holds the whole session in its cookie, as a signed token, so
 * it survives a restart, and every replica with the same key accepts it. The broker stores only sessions that were ended
 * early.
 */
export interface Sessions {
  readonly open: (link: LinkSubject) => Promise<{ readonly token: string; readonly session: Session }>;
  readonly find: (token: string) => Promise<Session | undefined>;
  /** Ends the session; resolves when the sign-out is stored. */
  readonly end: (token: string) => Promise<void>;
}

export interface SessionsDeps {
  /** The wall clock, because the monotonic clock restarts with each process. */
  readonly clock: Pick<Clock, "wallMs">;
  readonly randomBytes: (size: number) => Uint8Array;
  /** The broker's own: its key outlives a restart, every replica has it, and it is kept safe anyway. */
  readonly certificates: () => CertificateSet;
  /** Separates ledgers that share a key: a session of another realm is invalid. */
  readonly realm: () => string;
  readonly signOuts: Pick<SignOuts, "has" | "add">;
}

interface Claims {
  readonly id: string;
  readonly role: Session["role"];
  readonly name: string;
  readonly beganAt: number;
  readonly certificateRef: CertificateRef;
}

export function createSessions({ clock, randomBytes, signOuts, ...deps }: SessionsDeps): Sessions {
  const keyNow = derivedKey();

  const key = (): Uint8Array => keyNow(deps.certificates().files.key, deps.realm());

  const leftMs = (claims: Claims): number => {
    const { beganAt, certificateRef } = claims;
    const now = clock.wallMs();
    // A session from the future is invalid: a clock that was set back must not extend it.
    const isOver = beganAt > now + CLOCK_SKEW_MS || signOuts.has(claims);
    if (isOver || !isStillValid(certificateRef, deps.certificates(), now)) return 0;
    return Math.max(0, Math.min(beganAt + SESSION_MS, certificateRef.validToMs) - now);
  };

  const sessionOf = (claims: Claims): Session => {
    const { id, role, name } = claims;
    return { id, role, name, by: "link", leftMs: () => leftMs(claims) };
  };

  /** Undefined: not ours. When it ends is judged by `leftMs`. */
  const claimsIn = async (token: string): Promise<Claims | undefined> => {
    try {
      const { jwtVerify } = await jose.verify();
      const { payload } = await jwtVerify<Claims>(token, key(), { algorithms: [ALGORITHM] });
      return payload;
    } catch {
      return undefined;
    }
  };

  return {
    open: async ({ role, by, certificateRef }) => {
      const id = tokenFrom(randomBytes(ID_BYTES));
      const claims: Claims = { id, role, name: by, beganAt: clock.wallMs(), certificateRef };
      const { SignJWT } = await jose.sign();
      const token = await new SignJWT({ ...claims }).setProtectedHeader({ alg: ALGORITHM }).sign(key());
      return { token, session: sessionOf(claims) };
    },
    find: async (token) => {
      const claims = await claimsIn(token);
      return claims === undefined || leftMs(claims) === 0 ? undefined : sessionOf(claims);
    },
    end: async (token) => {
      const claims = await claimsIn(token);
      // Also one that counts for nothing just now: a clock or a revocation list that was wrong may be put right.
      if (claims !== undefined && !signOuts.has(claims)) await signOuts.add(claims);
    },
  };
}

/** Loaded with the first session. Not the index: it loads every algorithm and format, 12 MB instead of 3.5. */
const jose = {
  sign: () => import("jose/jwt/sign"),
  verify: () => import("jose/jwt/verify"),
};

/** The key itself counts, not how it is written down: PEM knows several ways. */
function derivedKey(): (pem: string, realm: string) => Uint8Array {
  let derived: { readonly pem: string; readonly realm: string; readonly key: Uint8Array } | undefined;
  return (pem, realm) => {
    if (derived?.pem !== pem || derived.realm !== realm) {
      const secret = createPrivateKey(pem).export({ format: "der", type: "pkcs8" });
      const key = new Uint8Array(hkdfSync("sha256", secret, realm, PURPOSE, KEY_BYTES));
      derived = { pem, realm, key };
    }
    return derived.key;
  };
}
