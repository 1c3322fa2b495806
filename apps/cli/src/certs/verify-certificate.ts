import { createPrivateKey, type X509Certificate } from "node:crypto";
import { distance } from "../output/when.ts";

export type Status =
  | "valid"
  | "expiring"
  | "expired"
  | "not yet valid"
  | "revoked"
  | "untrusted"
  | "key mismatch";

/** What a certificate is verified against. */
export interface VerificationContext {
  readonly now: number;
  /** The authorities it may have been signed by; none: trust is not judged. */
  readonly authorities: readonly X509Certificate[];
  /** Serial number → when it was revoked. */
  readonly revoked: ReadonlyMap<string, number>;
  /** The text of the private key beside it, when there is one to compare. */
  readonly keyPem?: string | undefined;
}

interface Finding {
  readonly status: Status;
  readonly problem: string;
}

/** "Soon" is a month, or the last third of a certificate that does not live that long. */
const SOON_MS = 30 * 86_400_000;
const SOON_SHARE = 1 / 3;

type Check = (
  certificate: X509Certificate,
  around: VerificationContext,
  above: readonly X509Certificate[],
) => Finding | undefined;

/** Worst first: the first one found is the certificate's status. */
const CHECKS: readonly Check[] = [
  isRevoked,
  isUntrusted,
  isKeyOfAnother,
  isExpired,
  isNotYetValid,
  isExpiring,
];

/** Everything that is wrong with a certificate, the worst first. */
export function verifyCertificate(
  certificate: X509Certificate,
  above: readonly X509Certificate[],
  around: VerificationContext,
): Finding[] {
  return CHECKS.flatMap((check) => check(certificate, around, above) ?? []);
}

function isRevoked(
  { serialNumber }: X509Certificate,
  { revoked, now }: VerificationContext,
): Finding | undefined {
  const at = revoked.get(serialNumber);
  return at === undefined ? undefined : { status: "revoked", problem: `revoked ${distance(at, now)}` };
}

function isUntrusted(
  certificate: X509Certificate,
  { authorities }: VerificationContext,
  above: readonly X509Certificate[],
): Finding | undefined {
  if (authorities.length === 0 || isSignedBelow(certificate, authorities, above)) return undefined;
  return { status: "untrusted", problem: "not signed by this authority" };
}

/** Signed by an authority, directly or through intermediates. Each intermediate is used once, so that a cycle ends. */
function isSignedBelow(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  between: readonly X509Certificate[],
): boolean {
  if (authorities.some((authority) => isSignedBy(certificate, authority))) return true;
  return between
    .filter((candidate) => candidate.ca && isSignedBy(certificate, candidate))
    .some((candidate) => {
      const others = between.filter((other) => other !== candidate);
      return isSignedBelow(candidate, authorities, others);
    });
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function isKeyOfAnother(certificate: X509Certificate, { keyPem }: VerificationContext): Finding | undefined {
  if (keyPem === undefined || isKeyOf(certificate, keyPem)) return undefined;
  return { status: "key mismatch", problem: "tls.key is not the key of tls.crt" };
}

/** True when the text is the private key that belongs to the certificate. */
export function isKeyOf(certificate: X509Certificate, keyPem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false; // not a key: the pair cannot be used either
  }
}

function isExpired({ validToDate }: X509Certificate, { now }: VerificationContext): Finding | undefined {
  const end = validToDate.getTime();
  return end > now ? undefined : { status: "expired", problem: `expired ${distance(end, now)}` };
}

function isNotYetValid(
  { validFromDate }: X509Certificate,
  { now }: VerificationContext,
): Finding | undefined {
  const start = validFromDate.getTime();
  return start <= now
    ? undefined
    : { status: "not yet valid", problem: `valid only ${distance(start, now)}` };
}

function isExpiring(
  { validFromDate, validToDate }: X509Certificate,
  { now }: VerificationContext,
): Finding | undefined {
  const end = validToDate.getTime();
  const soonMs = Math.min(SOON_MS, (end - validFromDate.getTime()) * SOON_SHARE);
  if (end <= now || end - now > soonMs) return undefined;
  return { status: "expiring", problem: `expires ${distance(end, now)}` };
}
