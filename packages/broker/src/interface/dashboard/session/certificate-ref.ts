import { hash, type X509Certificate } from "node:crypto";
import type { CertificateSet } from "@resource-broker/runtime";
import { isRevoked } from "../../http/certificates/trust.ts";

/** Reference to an admin's certificate, used to check during a session that it is still valid. */
export interface CertificateRef {
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
