import { createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { readCsr, readPem, requireSubject, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { tenantNamespaceOf } from "../objects.ts";
import { creatorUserOf } from "../provider/liqo-informers.ts";
import type { Obstacle } from "../requester/steps.ts";
import { type AddressCheck, addressProblem } from "./api-address.ts";
import type { ProviderShare, RequesterShare } from "./statement.ts";

const NONCE_BYTES = 64;
/** The organisation of Liqo's control planes. */
const LIQO_ORGANIZATION = "liqo.io";

/** Liqo signs whatever it is given: only what Liqo itself makes as a nonce may be passed on. */
export function isNonce(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  return bytes.length === NONCE_BYTES && bytes.toString("base64") === text;
}

/** True: this key has signed the nonce's text, as Liqo does it. */
export function isSignedNonce(nonce: string, signature: string, publicKey: KeyObject): boolean {
  const hash = publicKey.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  try {
    return verify(hash, Buffer.from(nonce), publicKey, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}

/** What a requester must send before it gets a Tenant, checked. */
export interface TenantRequest {
  /** DER in base64. */
  readonly publicKey: string;
  /** PEM in base64. */
  readonly csr: string;
  readonly signedNonce: string;
}

/** Checks the share of a requester that has signed this nonce. Throws a RangeError that says what is wrong. */
export function readTenantRequest(
  share: RequesterShare,
  liqoId: string,
  nonce: string,
): TenantRequest | undefined {
  const { publicKey, csr, signedNonce } = share;
  if (share.nonce !== nonce || signedNonce === undefined) return undefined;
  if (publicKey === undefined || csr === undefined) return undefined;
  const key = derKey(publicKey);
  const wanted = [
    [SUBJECT_ATTRIBUTE.organization, LIQO_ORGANIZATION],
    [SUBJECT_ATTRIBUTE.commonName, liqoId],
  ] as const;
  requireCsr(csr, wanted, key);
  if (!isSignedNonce(nonce, signedNonce, key)) throw new RangeError("its key has not signed the nonce");
  return { publicKey, csr, signedNonce };
}

/** Why a replicated slice must not be signed; undefined: its request is what Liqo makes. */
export function sliceCsrProblem(
  slice: { readonly name: string; readonly csr: string },
  consumer: { readonly liqoId: string; readonly publicKey: string },
): string | undefined {
  const wanted = [
    [SUBJECT_ATTRIBUTE.commonName, creatorUserOf(slice.name, consumer.liqoId)],
    [SUBJECT_ATTRIBUTE.organization, consumer.liqoId],
  ] as const;
  try {
    requireCsr(slice.csr, wanted, createPublicKey(Buffer.from(consumer.publicKey, "base64")));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function requireCsr(csr: string, wanted: Parameters<typeof requireSubject>[1], key: KeyObject): void {
  const request = readCsr(Buffer.from(csr, "base64").toString("utf8"));
  requireSubject(request, wanted);
  if (!request.publicKey.equals(key)) throw new RangeError("it is for another key than Liqo's");
}

function derKey(base64: string): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
  } catch (cause) {
    throw new RangeError("its public key cannot be read", { cause });
  }
}

export type IdentityShare = NonNullable<ProviderShare["identity"]>;

export interface IdentityCheck extends AddressCheck {
  readonly ownLiqoId: string;
  readonly publicKey: KeyObject;
}

/** Why Liqo must not get this identity; undefined: it may use it. */
export function identityProblem(share: IdentityShare, check: IdentityCheck): Obstacle | undefined {
  const problem =
    addressProblem(share.apiServer, check) ??
    certificateProblem(share.signedCRT, check) ??
    authorityProblem(share.ca) ??
    (share.proxyURL === undefined ? undefined : "it names a proxy, and peering in-band is not supported") ??
    (share.tenantNamespace === tenantNamespaceOf(check.ownLiqoId) ? undefined : "its namespace is not ours");
  return problem === undefined ? undefined : { reason: "IdentityRefused", message: problem };
}

function certificateProblem(base64: string, { ownLiqoId, publicKey }: IdentityCheck): string | undefined {
  const [certificate] = certificatesOf(base64);
  if (certificate === undefined) return "its certificate cannot be read";
  if (!certificate.publicKey.equals(publicKey)) return "its certificate is for another key than this Liqo's";
  const names = certificate.subject.split("\n");
  if (names.length === 2 && names.includes(`CN=${ownLiqoId}`) && names.includes(`O=${LIQO_ORGANIZATION}`))
    return undefined;
  return "its certificate is for another name than this Liqo's";
}

function authorityProblem(ca: string | undefined): string | undefined {
  return ca === undefined || certificatesOf(ca).length > 0 ? undefined : "its authority cannot be read";
}

function certificatesOf(base64: string): X509Certificate[] {
  try {
    const blocks = readPem(Buffer.from(base64, "base64").toString("utf8"));
    return blocks.map(({ der }) => new X509Certificate(Buffer.from(der)));
  } catch {
    return [];
  }
}
