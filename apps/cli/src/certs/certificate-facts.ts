import { createPrivateKey, X509Certificate } from "node:crypto";
import { EXTENDED_KEY_USAGE_IDS, readPem, toPem } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import { distance } from "../output/text.ts";

/** What there is to say about a certificate. The shape of `-o json`. Times are RFC 3339. */
export interface CertificateFacts {
  /** `ca`, `broker`, a cluster ID, or the file's path. */
  readonly name: string;
  readonly file: string;
  readonly use: string;
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly subjectAltNames: readonly string[];
  readonly extendedKeyUsages: readonly string[];
  readonly isAuthority: boolean;
  readonly isAdmin: boolean;
  readonly fingerprint256: string;
  readonly status: Status;
  /** What is wrong, in words; empty when nothing is. */
  readonly problems: readonly string[];
}

interface ExamineOptions extends VerificationContext {
  readonly name: string;
  readonly file: string;
}

const USAGE_NAMES = new Map<string, string>(
  Object.entries(EXTENDED_KEY_USAGE_IDS).map(([name, id]) => [id, name]),
);

/** The certificates of a PEM text; a chain has its leaf first. */
export function readCertificates(text: string, file: string): X509Certificate[] {
  const blocks = readPem(text).filter(({ label }) => label === "CERTIFICATE");
  try {
    return blocks.map(({ der }) => new X509Certificate(toPem("CERTIFICATE", der)));
  } catch (error) {
    throw new CommandError("error", `${file} holds a certificate that cannot be read`, { cause: error });
  }
}

/** The facts of the first certificate of a chain. */
export function certificateFacts(
  chain: readonly [X509Certificate, ...X509Certificate[]],
  around: ExamineOptions,
): CertificateFacts {
  const [certificate, ...above] = chain;
  const found = verifyCertificate(certificate, above, around);
  const usages = (certificate.keyUsage ?? []).map((id) => USAGE_NAMES.get(id) ?? id);
  const subject = oneLine(certificate.subject);
  const units: unknown = certificate.toLegacyObject().subject.OU;
  const isAdmin = [units].flat().includes("broker-admin");
  return {
    name: around.name,
    file: around.file,
    use: useOf(certificate, usages, isAdmin),
    subject,
    issuer: oneLine(certificate.issuer),
    serial: certificate.serialNumber,
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
    subjectAltNames: (certificate.subjectAltName ?? "").split(", ").filter((name) => name !== ""),
    extendedKeyUsages: usages,
    isAuthority: certificate.ca,
    isAdmin,
    fingerprint256: certificate.fingerprint256,
    status: found[0]?.status ?? "valid",
    problems: found.map(({ problem }) => problem),
  };
}

function useOf(certificate: X509Certificate, usages: readonly string[], isAdmin: boolean): string {
  if (certificate.ca) return "authority";
  const uses = usages.map((usage) => usage.replace(/^(client|server)Auth$/u, "$1"));
  if (uses.length === 0) return "none";
  return isAdmin ? `${uses.join(", ")} (admin)` : uses.join(", ");
}

/**
 * Node puts each part of a name on a line of its own and escapes control characters; those that turn or hide text
 * are escaped here, so that a name cannot look like another one. An empty name is undefined, whatever its type says.
 */
function oneLine(name: string | undefined): string {
  const text = (name ?? "").replaceAll("\n", ", ");
  return (
    text.replaceAll(/\p{C}/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`) || "(empty)"
  );
}

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

/** Everything that is wrong with a certificate. Worst first: the first one found is the certificate's status. */
function verifyCertificate(
  certificate: X509Certificate,
  above: readonly X509Certificate[],
  { now, authorities, revoked, keyPem }: VerificationContext,
): Finding[] {
  const revokedAt = revoked.get(certificate.serialNumber);
  const start = certificate.validFromDate.getTime();
  const end = certificate.validToDate.getTime();
  const soonMs = Math.min(SOON_MS, (end - start) * SOON_SHARE);
  const isTrusted = authorities.length === 0 || isSignedBelow(certificate, authorities, above);
  const hasKey = keyPem === undefined || isKeyOf(certificate, keyPem);
  const found: readonly (Finding | false)[] = [
    revokedAt !== undefined && { status: "revoked", problem: `revoked ${distance(revokedAt, now)}` },
    !isTrusted && { status: "untrusted", problem: "not signed by this authority" },
    !hasKey && { status: "key mismatch", problem: "tls.key is not the key of tls.crt" },
    end <= now && { status: "expired", problem: `expired ${distance(end, now)}` },
    start > now && { status: "not yet valid", problem: `valid only ${distance(start, now)}` },
    end > now && end - now <= soonMs && { status: "expiring", problem: `expires ${distance(end, now)}` },
  ];
  return found.filter((finding) => finding !== false);
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

export function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** True when the text is the private key that belongs to the certificate. */
export function isKeyOf(certificate: X509Certificate, keyPem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false; // not a key: the pair cannot be used either
  }
}
