import type { X509Certificate } from "node:crypto";
import { type Actor, CLUSTER_ID_FORM, isClusterId } from "@resource-broker/domain";
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

/** True when the signatures lead from the certificate to one of these authorities, over whatever others are trusted. */
export function leadsTo(
  { leaf, intermediates }: Chain,
  wanted: readonly X509Certificate[],
  { authorities }: CertificateSet,
): boolean {
  const between = { leaf, intermediates: [...intermediates, ...authorities] };
  return pathUp(between, wanted, isProvenIssuer) !== undefined;
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

/** Identity fields of a certificate. Node returns a list if an attribute occurs more than once. */
export interface ClientCertificate {
  readonly subject: Readonly<Record<string, unknown>>;
  /** Object identifiers; undefined: the certificate names no use. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  readonly isAuthority: boolean;
  readonly validFromMs: number;
  readonly validToMs: number;
}

export interface IdentityRules {
  /** Certificates with this organizational unit belong to admins. */
  readonly adminUnit: string;
  /** Names that no cluster may have: those of the broker itself. */
  readonly reservedNames: readonly string[];
  readonly nowMs: number;
}

export type Identification =
  | { readonly ok: true; readonly caller: Actor }
  | { readonly ok: false; readonly problem: string };

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const SHOWN_LENGTH = 64;

/**
 * Returns the caller that a certificate identifies. TLS has verified its signatures. This function checks what TLS does
 * not: Node accepts certificates without extended key usage and with two names.
 */
export function identify(certificate: ClientCertificate, rules: IdentityRules): Identification {
  const names = valuesOf(certificate.subject["CN"]);
  const [name] = names;
  const problem = problemOf(certificate, rules) ?? nameProblem(names, rules);
  if (problem !== undefined || name === undefined) return { ok: false, problem: problem ?? "" };
  const isAdmin = valuesOf(certificate.subject["OU"]).includes(rules.adminUnit);
  return { ok: true, caller: { clusterId: name, isAdmin } };
}

/** The parts of a certificate that say who owns it. */
export function readClientCertificate(certificate: X509Certificate): ClientCertificate {
  return {
    subject: subjectOf(certificate),
    extendedKeyUsage: certificate.keyUsage,
    isAuthority: certificate.ca,
    validFromMs: certificate.validFromDate.getTime(),
    validToMs: certificate.validToDate.getTime(),
  };
}

/** The Common Names of a certificate: the broker's own are no cluster's. */
export function commonNames(certificate: X509Certificate): string[] {
  return valuesOf(subjectOf(certificate)["CN"]);
}

function problemOf(certificate: ClientCertificate, { nowMs }: IdentityRules): string | undefined {
  const { extendedKeyUsage, isAuthority, validFromMs, validToMs } = certificate;
  if (nowMs > validToMs) return "it has expired; renew it";
  if (nowMs < validFromMs) return "it is not valid yet; compare the clocks";
  if (isAuthority) return "it belongs to a certificate authority; use a certificate issued to a cluster";
  if (extendedKeyUsage?.includes(CLIENT_AUTH) !== true)
    return "it is not made for clients (extended key usage clientAuth)";
  return undefined;
}

function nameProblem(names: readonly string[], { reservedNames }: IdentityRules): string | undefined {
  const [name] = names;
  if (name === undefined) return "it has no Common Name; the Common Name is the cluster ID";
  if (names.length > 1) return "it has more than one Common Name; a certificate speaks for one cluster";
  const isWellFormed: boolean = isClusterId(name);
  if (!isWellFormed) {
    const shown = JSON.stringify(name.slice(0, SHOWN_LENGTH));
    return `its Common Name ${shown} is not a cluster ID: ${CLUSTER_ID_FORM}`;
  }
  if (reservedNames.includes(name))
    return `its Common Name ${name} is reserved for the broker: no cluster can be called so`;
  return undefined;
}

/** Node's types promise one value per attribute, but a certificate may have several. */
function subjectOf(certificate: X509Certificate): Readonly<Record<string, unknown>> {
  return { ...certificate.toLegacyObject().subject };
}

function valuesOf(attribute: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(attribute) ? attribute : [attribute];
  return values.filter((value) => typeof value === "string");
}
