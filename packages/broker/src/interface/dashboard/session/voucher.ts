import { hash, type X509Certificate } from "node:crypto";
import type { CertificateSet } from "@resource-broker/runtime";
import { isRevoked } from "../../http/certificates/trust.ts";

/** Reference to an admin's certificate, used to check during a session that it is still valid. */
export interface Voucher {
  readonly serial: string;
  /** The authority that issued it, by name and key: one that is renewed with its key stays the same. */
  readonly issuer: string;
  readonly validToMs: number;
}

/** TLS has checked the certificate before. */
export function voucherOf(leaf: X509Certificate, { authorities }: CertificateSet): Voucher {
  const issuer = authorities.find(
    (authority) => authority.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey),
  );
  return {
    serial: leaf.serialNumber,
    issuer: issuer === undefined ? markOfAll(authorities) : markOf(issuer),
    validToMs: leaf.validToDate.getTime(),
  };
}

export function isStillGood(
  { serial, issuer, validToMs }: Voucher,
  set: CertificateSet,
  nowMs: number,
): boolean {
  if (nowMs > validToMs) return false;
  const { authorities, revocations } = set;
  const authority = authorities.find((each) => each.ca && markOf(each) === issuer);
  // Issued by an intermediate authority that is not in ca.crt: valid only while the authorities are unchanged.
  if (authority === undefined) return revocations.length === 0 && markOfAll(authorities) === issuer;
  const isTakenBack = revocations.some((list) => list.serials.has(serial) && markOf(list.issuer) === issuer);
  return !isTakenBack && !isRevoked({ leaf: authority, intermediates: [] }, set);
}

const marks = new WeakMap<X509Certificate, string>();

function markOf(authority: X509Certificate): string {
  const known = marks.get(authority);
  if (known !== undefined) return known;
  const key = authority.publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const mark = hash("sha256", JSON.stringify([authority.subject, key]), "base64url");
  marks.set(authority, mark);
  return mark;
}

function markOfAll(authorities: readonly X509Certificate[]): string {
  return hash("sha256", JSON.stringify(["all", ...authorities.map(markOf).sort()]), "base64url");
}
