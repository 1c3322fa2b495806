import { type KeyObject, verify } from "node:crypto";
import { authorityKeyId, crlNumber, extension } from "./extensions.ts";
import { readPem, toPem } from "./pem.ts";
import { type Element, elementAt, readElements, readTime } from "./read-der.ts";
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

const SEQUENCE = 0x30;

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
    ...(revoked.length === 0 ? [] : [sequence(...revoked.map(entry))]), // an empty list must be left out
    tagged(0, sequence(authorityKeyId(keyIdOf(issuer.publicKey)), crlNumber(number))),
  );
  return toPem("X509 CRL", signed(body, issuer.privateKey));
}

function entry({ serial, at, reason }: Revocation): Buffer {
  // "unspecified" is said by saying nothing.
  const code = extension("2.5.29.21", enumerated(REVOCATION_REASONS[reason]));
  const extensions = reason === "unspecified" ? [] : [sequence(code)];
  return sequence(integer(Buffer.from(serial, "hex")), time(at), ...extensions);
}

export interface CrlFacts {
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Serial number → when it was revoked. */
  readonly revoked: ReadonlyMap<string, number>;
}

/**
 * Reads a list that was signed as this authority signs; undefined for any other signature, because anybody can
 * write a list. Throws a RangeError when it is no list.
 */
export function readCrl(pem: string, authorityKey: KeyObject): CrlFacts | undefined {
  const block = readPem(pem).find(({ label }) => label === "X509 CRL");
  if (block === undefined) throw new RangeError("no X509 CRL block");
  const body = elementAt(block.der, 0, 0);
  const signature = elementAt(block.der, 0, 2).content.subarray(1);
  if (authorityKey.asymmetricKeyType !== "ec" || !verify("sha256", body.whole, authorityKey, signature))
    return undefined;
  const [, , , thisUpdate, nextUpdate, ...rest] = readElements(body.content);
  if (thisUpdate === undefined || nextUpdate === undefined) throw new RangeError("the list has no dates");
  const list = rest.find(({ tag }) => tag === SEQUENCE);
  const revoked = list === undefined ? [] : readElements(list.content).map(readEntry);
  return { thisUpdate: readTime(thisUpdate), nextUpdate: readTime(nextUpdate), revoked: new Map(revoked) };
}

function readEntry({ content }: Element): [serial: string, at: number] {
  const [serial, at] = readElements(content);
  if (serial === undefined || at === undefined) throw new RangeError("an entry of the list is cut short");
  return [serialText(serial.content), readTime(at)];
}

/** As Node prints serial numbers: upper-case hex without a leading zero byte. */
function serialText(content: Buffer): string {
  return content
    .toString("hex")
    .toUpperCase()
    .replace(/^00(?=..)/u, "");
}
