import { createPublicKey, randomBytes, X509Certificate } from "node:crypto";
import { type EnrollmentDTO, PATH, SIGNED_TEXT } from "@resource-broker/contract";
import {
  isSignedText,
  makeLeafCertificate,
  publicKeyHash,
  subjectOf,
  tokenSecretHash,
} from "@resource-broker/runtime";
import { type FakeBroker, reply, startFakeBroker, type TestCertificates } from "@resource-broker/testkit";

/** A broker that does nothing but enroll. It checks what an agent proves, as the real one does. */
export interface JoiningBroker extends FakeBroker {
  readonly caHash: string;
  /** Its authority, in PEM. */
  readonly caText: string;
  /** The next replies say this instead of a certificate. Undefined: a certificate. */
  readonly waitFor: (message: string | undefined) => void;
  /** Called before each enrollment is answered. */
  readonly onEnroll: (listener: () => void) => void;
  readonly enrollments: () => number;
  /** The name in the certificates. Absent: the cluster's own. */
  readonly nameAll: (commonName: string) => void;
}

export async function joiningBroker(
  certificates: TestCertificates,
  whenDone: (cleanUp: () => Promise<void>) => void,
): Promise<JoiningBroker> {
  const { keys, cert } = certificates.ca;
  const authority = new X509Certificate(cert);
  const caHash = publicKeyHash(authority.publicKey);
  const boundKeys = new Map<string, string>();
  let waiting: string | undefined;
  let name: string | undefined;
  let listener = (): void => undefined;
  let enrollments = 0;

  const issue = (order: EnrollmentDTO): string => {
    const publicKey = createPublicKey({
      key: Buffer.from(order.publicKey, "base64"),
      format: "der",
      type: "spki",
    });
    const validity = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2046, 0, 1) };
    const issuer = { ...keys, name: subjectOf(authority), randomBytes };
    const commonName = name ?? order.clusterID;
    return makeLeafCertificate(
      { commonName, usages: ["clientAuth"], publicKey, ...validity },
      issuer,
    ).toString();
  };

  const answerTo = (order: EnrollmentDTO) => {
    const { clusterID, tokenID, identityKey } = order;
    const secretHash = tokenSecretHash(order.secret);
    const signed = SIGNED_TEXT.enrollment({ clusterID, tokenID, secretHash, caHash });
    if (!isSignedText(signed, order.tokenSignature, identityKey)) return refusal("invalid", "tokenSignature");
    const bound = boundKeys.get(tokenID) ?? identityKey;
    if (bound !== identityKey) return refusal("no-certificate", "the token was used by another agent");
    boundKeys.set(tokenID, bound);
    if (waiting !== undefined) return reply(202, { state: "waiting", message: waiting });
    return reply(200, { state: "issued", certificate: issue(order), authorities: cert });
  };

  const broker = await startFakeBroker({
    credentials: certificates.broker,
    takesAnyone: true,
    whenDone,
    script: (response, call) => {
      if (call.url === PATH.trust)
        return reply(200, { authorities: cert, signer: "embedded" })(response, call);
      enrollments++;
      listener();
      return answerTo(JSON.parse(call.body) as EnrollmentDTO)(response, call);
    },
  });
  return {
    ...broker,
    caHash,
    caText: cert,
    waitFor: (message) => {
      waiting = message;
    },
    onEnroll: (next) => {
      listener = next;
    },
    enrollments: () => enrollments,
    nameAll: (next) => {
      name = next;
    },
  };
}

function refusal(code: string, message: string) {
  return reply(code === "invalid" ? 400 : 401, { error: { code, message } });
}
