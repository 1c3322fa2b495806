import type { TrustedBroker } from "@resource-broker/client";
import {
  type CertificateReplyDTO,
  type CertificateRequestDTO,
  type EnrollmentDTO,
  type JoinToken,
  SIGNED_TEXT,
} from "@resource-broker/contract";
import { makeCsr, signText, SUBJECT_ATTRIBUTE, tokenSecretHash } from "@resource-broker/runtime";
import { type AgentKeys, vouchFor } from "../identity/agent-keys.ts";

/** What the broker answers to both messages. */
export type IssuedCertificate = CertificateReplyDTO;

/** Asks for the next certificate. The CSR is always there: the broker's signer may need one. */
export function renewalMessage(
  clusterID: string,
  { identity, tls }: AgentKeys,
): Required<CertificateRequestDTO> {
  return {
    identityKey: identity.id,
    publicKey: tls.publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    keySignature: vouchFor(tls.publicKey, clusterID, identity),
    csr: makeCsr([[SUBJECT_ATTRIBUTE.commonName, clusterID]], tls),
  };
}

export interface UsedInvitation extends TrustedBroker {
  readonly clusterId: string;
  readonly token: JoinToken;
}

/** Uses an invitation: the only message with the token's secret. */
export function enrollmentMessage(used: UsedInvitation, keys: AgentKeys): EnrollmentDTO {
  const { clusterId: clusterID, token, caHash, signer } = used;
  const { csr, ...proof } = renewalMessage(clusterID, keys);
  const secretHash = tokenSecretHash(token.secret);
  const signed = SIGNED_TEXT.enrollment({ clusterID, tokenID: token.id, secretHash, caHash });
  return {
    ...proof,
    ...(signer === "cert-manager" ? { csr } : {}),
    clusterID,
    tokenID: token.id,
    secret: token.secret,
    tokenSignature: signText(signed, keys.identity),
  };
}
