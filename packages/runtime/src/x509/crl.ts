import type { KeyObject } from "node:crypto";
import { authorityKeyId, crlNumber, extension } from "./extensions.ts";
import { parseCrl } from "./parse-crl.ts";
import { pemBlocks, toPem } from "./pem.ts";
import { type Issuer, keyIdOf, SIGNATURE_ALGORITHM, signed } from "./sign.ts";
import { enumerated, integer, sequence, smallInteger, tagged, time } from "./write-der.ts";

/** RFC 5280 §5.3.1, those that make sense for a cluster. */
export const REVOCATION_REASONS = {
  unspecified: 0,
  keyCompromise: 1,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  privilegeWithdrawn: 9,
} as const;
export type RevocationReason = keyof typeof REVOCATION_REASONS;

export interface Revocation {
  /** Upper-case hex, as Node prints serial numbers. */
  readonly serial: string;
  readonly at: number;
  readonly reason: RevocationReason;
}

export interface CrlRequest {
  readonly number: number;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  readonly revoked: readonly Revocation[];
}

export function makeCrl({ number, thisUpdate, nextUpdate, revoked }: CrlRequest, issuer: Issuer): string {
  const body = sequence(
    smallInteger(1), // version 2
    SIGNATURE_ALGORITHM,
    issuer.name,
    time(thisUpdate),
    time(nextUpdate),
    ...(revoked.length === 0 ? [] : [sequence(Buffer.concat(revoked.map(entry)))]), // an empty list must be left out
    tagged(0, sequence(authorityKeyId(keyIdOf(issuer.publicKey)), crlNumber(number))),
  );
  return toPem("X509 CRL", signed(body, issuer.privateKey));
}

function entry({ serial, at, reason }: Revocation): Buffer {
  // "unspecified" is the default and must be omitted.
  const code = extension("2.5.29.21", enumerated(REVOCATION_REASONS[reason]));
  const extensions = reason === "unspecified" ? [] : [sequence(code)];
  return sequence(integer(Buffer.from(serial, "hex")), time(at), ...extensions);
}

export interface CrlSummary {
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Serial number → when it was revoked. */
  readonly revoked: ReadonlyMap<string, number>;
}

/** Reads the list that the key signed; undefined when there is none. Throws a RangeError when a block is no list. */
export function readCrl(pem: string, authorityKey: KeyObject): CrlSummary | undefined {
  const blocks = pemBlocks(pem, "X509 CRL");
  if (blocks.length === 0) throw new RangeError("no X509 CRL block");
  const own = blocks.map(parseCrl).find(({ isSignedBy }) => isSignedBy(authorityKey));
  if (own === undefined) return undefined;
  const { thisUpdate, nextUpdate, entries } = own;
  if (nextUpdate === undefined) throw new RangeError("the list has no nextUpdate");
  const revoked = new Map<string, number>();
  for (const { serial, revokedAt } of entries()) revoked.set(serial, revokedAt());
  return { thisUpdate, nextUpdate, revoked };
}
