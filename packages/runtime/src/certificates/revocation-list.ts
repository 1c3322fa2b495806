import type { X509Certificate } from "node:crypto";
import { openCrl } from "../x509/open-crl.ts";
import { pemBlocks } from "../x509/pem.ts";

/** What one authority has taken back. */
export interface RevocationList {
  readonly issuer: X509Certificate;
  /** Serial numbers as Node prints them: upper-case hex. */
  readonly serials: ReadonlySet<string>;
  /** When a newer list should have come; undefined: the list does not say. */
  readonly nextUpdateMs: number | undefined;
}

/** Reads every list in a PEM text. Each must be signed by one of the authorities, or it would protect from nothing. */
export function readRevocationLists(
  pem: string,
  authorities: readonly X509Certificate[],
): readonly RevocationList[] {
  const blocks = pemBlocks(pem, "X509 CRL");
  if (blocks.length === 0) throw new Error("it holds no revocation list (-----BEGIN X509 CRL-----)");
  return blocks.map((bytes) => readRevocationList(bytes, authorities));
}

function readRevocationList(bytes: Buffer, authorities: readonly X509Certificate[]): RevocationList {
  const { isSignedBy, nextUpdate, entries } = openCrl(bytes);
  const issuer = authorities.find(({ publicKey }) => isSignedBy(publicKey));
  if (issuer === undefined) throw new Error("it is not signed by any certificate in ca.crt");
  const serials = new Set<string>();
  for (const { serial } of entries()) serials.add(serial);
  return { issuer, serials, nextUpdateMs: nextUpdate };
}
