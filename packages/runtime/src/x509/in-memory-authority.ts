import { generateKeyPairSync } from "node:crypto";
import { authorityName, makeAuthorityCertificate, makeLeafCertificate } from "./make-certificate.ts";
import { type Issuer, toKeyPem } from "./sign.ts";

/** Tolerance for clock skew. */
const CLOCK_SKEW_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;

export interface InMemoryAuthorityOptions {
  readonly commonName: string;
  /** The wall clock. */
  readonly now: () => number;
  /** Where serial numbers come from. */
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface LeafOptions {
  readonly commonName: string;
  readonly organizationalUnits?: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  readonly isServer?: boolean;
  readonly isClient?: boolean;
  readonly validForMs: number;
}

/** In PEM. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface InMemoryAuthority {
  /** Its own certificate, in PEM: what others trust. */
  readonly cert: string;
  readonly issue: (order: LeafOptions) => IssuedCertificate;
}

/** A CA in memory, for programs that start their own peers. Its key is never written to disk. */
export function inMemoryAuthority({
  commonName,
  now,
  randomBytes,
}: InMemoryAuthorityOptions): InMemoryAuthority {
  const issuer: Issuer = { name: authorityName(commonName), randomBytes, ...newKeys() };
  const own = makeAuthorityCertificate(issuer, validFor(now(), AUTHORITY_DAYS * DAY_MS));
  return {
    cert: own.toString(),
    issue: ({ validForMs, isServer = false, isClient = false, organizationalUnits = [], ...order }) => {
      const { publicKey, privateKey } = newKeys();
      const { notBefore, notAfter } = validFor(now(), validForMs);
      const leaf = makeLeafCertificate(
        {
          ...order,
          units: organizationalUnits,
          usages: [
            ...(isServer ? (["serverAuth"] as const) : []),
            ...(isClient ? (["clientAuth"] as const) : []),
          ],
          publicKey,
          notBefore,
          notAfter: Math.min(notAfter, own.validToDate.getTime()),
        },
        issuer,
      );
      return { cert: leaf.toString(), key: toKeyPem(privateKey) };
    },
  };
}

function newKeys() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function validFor(now: number, ms: number) {
  return { notBefore: now - CLOCK_SKEW_MS, notAfter: now + ms };
}
