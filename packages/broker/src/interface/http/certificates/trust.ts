import type { X509Certificate } from "node:crypto";
import type { CertificateSet } from "@resource-broker/runtime";

const LONGEST_CHAIN = 8;

/** A client's certificate and the ones it sent to link it to an authority. */
export interface Chain {
  readonly leaf: X509Certificate;
  readonly intermediates: readonly X509Certificate[];
}

type Link = (certificate: X509Certificate, issuer: X509Certificate) => boolean;

/** Names and key ids only: enough where TLS has checked the signatures before. */
const isNamedIssuer: Link = (certificate, issuer) => certificate.checkIssued(issuer);
const isProvenIssuer: Link = (certificate, issuer) =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/**
 * True when an authority has taken back the certificate or one above it. Serial numbers are unique to one issuer only, and
 * names are not unique at all: the authority whose list it is must have signed the certificate.
 */
export function isRevoked(chain: Chain, { revocations, authorities }: CertificateSet): boolean {
  if (revocations.length === 0) return false;
  const above = pathUp(chain, authorities, isNamedIssuer) ?? [chain.leaf];
  return above.some((certificate) =>
    revocations.some(
      ({ issuer, serials }) => serials.has(certificate.serialNumber) && isProvenIssuer(certificate, issuer),
    ),
  );
}

/** True when every certificate between the client's and an authority of ours is known, so that all can be looked up. */
export function isTraceable(chain: Chain, { authorities }: CertificateSet): boolean {
  return pathUp(chain, authorities, isNamedIssuer) !== undefined;
}

/** True when the signatures lead from the certificate to one of the authorities. */
export function isChained(chain: Chain, { authorities }: CertificateSet): boolean {
  return pathUp(chain, authorities, isProvenIssuer) !== undefined;
}

/** The path from the leaf to the topmost known authority; undefined if it reaches none. */
function pathUp(
  { leaf, intermediates }: Chain,
  authorities: readonly X509Certificate[],
  isIssuer: Link,
): X509Certificate[] | undefined {
  const path = [leaf];
  let hasArrived = false;
  for (let certificate = leaf; path.length < LONGEST_CHAIN; ) {
    const above = (candidate: X509Certificate): boolean => candidate.ca && isIssuer(certificate, candidate);
    const authority = authorities.find(above);
    const next = authority ?? intermediates.find(above);
    hasArrived ||= authority !== undefined;
    if (next === undefined || next.fingerprint256 === certificate.fingerprint256) break;
    path.push(next);
    certificate = next;
  }
  return hasArrived ? path : undefined;
}
