import { type KeyObject, X509Certificate } from "node:crypto";
import { Fault } from "@resource-broker/base";
import type { ClusterId } from "@resource-broker/domain";

/** A certificate that is wanted. Everything in it comes from the invitation, nothing from the caller but the key. */
export interface SigningOrder {
  readonly clusterId: ClusterId;
  readonly publicKey: KeyObject;
  /** In PEM, where the caller sent one. */
  readonly csr: string | undefined;
}

export interface SignedCertificate {
  /** In PEM, followed by its intermediates. */
  readonly certificate: string;
  readonly notAfterMs: number;
}

/** Who signs the certificates of agents. */
export interface Signer {
  readonly kind: "embedded" | "cert-manager";
  /** Throws the Fault of an order that will never be signed as it is; called before a token is bound. */
  readonly check: (order: SigningOrder) => void;
  /** `waiting`: ask again with the same keys. */
  readonly sign: (order: SigningOrder) => Promise<SignedCertificate | "waiting">;
}

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** Checks what a signer of others has issued. Throws an Error that says what is wrong with it. */
export function checkIssued(pem: string, { clusterId, publicKey }: SigningOrder): X509Certificate {
  const issued = new X509Certificate(pem);
  // OpenSSL writes one attribute per line: any other attribute makes this another text.
  if (issued.subject !== `CN=${clusterId}`)
    throw new Error(`its subject is ${JSON.stringify(issued.subject)} instead of CN=${clusterId}`);
  if (issued.ca) throw new Error("it belongs to an authority");
  if (issued.subjectAltName !== undefined) throw new Error("it has alternative names");
  const usages: readonly string[] = issued.keyUsage ?? [];
  if (usages.length !== 1 || usages[0] !== CLIENT_AUTH) throw new Error("it is not for clients alone");
  if (!issued.publicKey.equals(publicKey)) throw new Error("it is for another key");
  return issued;
}

/** The answer while certificates cannot be signed; the same call may work later. */
export function cannotSign(problem: string, cause?: unknown): Fault {
  return new Fault("overloaded", `no certificate can be signed now: ${problem}`, { cause });
}
