import type { KeyObject } from "node:crypto";
import { errorText, Fault, formatTime, toFault } from "@resource-broker/base";
import {
  type CertificateReplyDTO,
  type CertificateRequestDTO,
  certificateRequestSchema,
  type EnrollmentDTO,
  enrollmentSchema,
  LIMIT,
  PATH,
  SIGNED_TEXT,
  type TrustDTO,
} from "@resource-broker/contract";
import { type ClusterId, memberOfToken } from "@resource-broker/domain";
import {
  fingerprintOf,
  isSignedText,
  publicKeyHash,
  readStrongKey,
  tokenSecretHash,
} from "@resource-broker/runtime";
import type { Signer } from "../../../enrollment/signer.ts";
import { checked, faultOf } from "../../shared/checked.ts";
import { type Call, ok, type PlainAnswer, type Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** What the log and the fault of a refused token may say. */
const NO_TOKEN = "the token is unknown or wrong; an admin makes a new one: brokerctl invite";

/** How an agent gets its certificates: the first with an invitation, the next ones with the identity key it has bound. */
export function joinRoutes(context: RouteContext): readonly Route[] {
  const { engine, joining, limits, log, metrics, enrollmentFailures, renewals, takeEnrollment } = context;
  let inFlight = 0;

  const trust = (): PlainAnswer => {
    const answer: TrustDTO = { authorities: authoritiesText(), signer: joining.signer?.kind ?? "none" };
    return ok(answer);
  };

  const authoritiesText = (): string => joining.authorities().map(String).join("");

  const enroll = async ({ body, address }: Call): Promise<PlainAnswer> => {
    const order = checked(enrollmentSchema, body);
    limitRate(order, address);
    if (inFlight >= limits.maxEnrollmentsInFlight) {
      metrics.enrolled("failed");
      throw new Fault("overloaded", `${inFlight} enrollments are under way; nothing was used up, retry`);
    }
    inFlight++;
    try {
      const answer = await enrolled(order);
      metrics.enrolled(answer.status === 200 ? "issued" : "waiting");
      return answer;
    } catch (error) {
      const { code, message } = toFault(error);
      metrics.enrolled(code === "overloaded" || code === "store-unavailable" ? "failed" : "refused");
      enrollmentFailures.note({ tokenID: order.tokenID, address, why: message });
      throw error;
    } finally {
      inFlight--;
    }
  };

  /** Strangers must not keep out whoever has a right token. */
  const limitRate = (order: EnrollmentDTO, address: string): void => {
    const tokenId = isRightToken(order) && !isOthers(order) ? order.tokenID : undefined;
    const retryAfterMs = takeEnrollment({ address, tokenId });
    if (retryAfterMs === 0) return;
    metrics.enrolled(tokenId === undefined ? "refused" : "failed");
    throw new Fault("rate-limited", "too many calls to enroll; wait as long as Retry-After says", {
      details: { retryAfterMs },
    });
  };

  const isRightToken = ({ tokenID, secret }: EnrollmentDTO): boolean =>
    memberOfToken(engine.ledger, tokenID)?.invitation?.secretHash === tokenSecretHash(secret);

  /** Whoever has stolen a used token is a stranger, too: its agent may still wait for an admin, or for a lost answer. */
  const isOthers = ({ tokenID, identityKey }: EnrollmentDTO): boolean =>
    (memberOfToken(engine.ledger, tokenID)?.invitation?.key ?? identityKey) !== identityKey;

  /** Nothing of the caller's is parsed before its token is known, and nothing is bound before all of it is checked. */
  const enrolled = async (order: EnrollmentDTO): Promise<PlainAnswer> => {
    const { clusterID, tokenID, identityKey } = order;
    const signer = signerOf(context);
    const secretHash = tokenSecretHash(order.secret);
    if (!isRightToken(order)) throw new Fault("no-certificate", `${NO_TOKEN} ${clusterID}`);
    const isSigned = joining.authorities().some(({ publicKey }) => {
      const caHash = publicKeyHash(publicKey);
      const text = SIGNED_TEXT.enrollment({ clusterID, tokenID, secretHash, caHash });
      return isSignedText(text, order.tokenSignature, identityKey);
    });
    if (!isSigned)
      throw new Fault(
        "invalid",
        "tokenSignature: the identity key has not signed token, authority and cluster",
      );
    const publicKey = vouchedKey(clusterID, order);
    signer.check({ clusterId: clusterID, publicKey, csr: order.csr });
    const command = {
      kind: "enroll",
      tokenId: tokenID,
      secretHash,
      clusterId: clusterID,
      key: identityKey,
    } as const;
    const reply = await engine.submit(command);
    if (reply.kind !== "enrolled") throw faultOf(reply);
    const fingerprint = fingerprintOf(identityKey);
    if (!reply.isConfirmed)
      return waiting(`an admin must accept it: brokerctl accept ${clusterID} --fingerprint ${fingerprint}`);
    const answer = await issue({ clusterId: clusterID, publicKey, csr: order.csr }, signer);
    if (answer.status !== 200) return answer;
    metrics.certificateIssued("enrollment");
    log.info({ cluster: clusterID, tokenID, fingerprint }, "an agent has joined");
    return answer;
  };

  const renew = async ({ caller, body }: Call): Promise<PlainAnswer> => {
    const order = checked(certificateRequestSchema, body);
    const { clusterId, isAdmin } = caller;
    const signer = signerOf(context);
    const key = engine.ledger.members.get(clusterId)?.key;
    if (isAdmin)
      throw new Fault("forbidden", "certificates of admins are not signed here: brokerctl certs renew");
    if (key === undefined)
      throw new Fault(
        "forbidden",
        `${clusterId} has no identity key here: give its agent one (--identity-secret)`,
      );
    if (order.identityKey !== key)
      throw new Fault("wrong-instance", `another identity key is bound to ${clusterId}`);
    const retryAfterMs = renewals.take(clusterId, engine.now());
    if (retryAfterMs > 0)
      throw new Fault("rate-limited", `${clusterId} renews its certificate too often`, {
        details: { retryAfterMs },
      });
    const signing = { clusterId, publicKey: vouchedKey(clusterId, order), csr: order.csr };
    signer.check(signing);
    const answer = await issue(signing, signer);
    if (answer.status === 200) metrics.certificateIssued("renewal");
    return answer;
  };

  const issue = async (order: Parameters<Signer["sign"]>[0], signer: Signer): Promise<PlainAnswer> => {
    const signed = await signer.sign(order);
    if (signed === "waiting") return waiting("the certificate is being signed; ask again with the same keys");
    const answer: CertificateReplyDTO = {
      state: "issued",
      certificate: signed.certificate,
      authorities: authoritiesText(),
      notAfter: formatTime(signed.notAfterMs),
    };
    return ok(answer);
  };

  return [
    { method: "GET", path: PATH.trust, access: "enrollment", handle: trust },
    {
      method: "POST",
      path: PATH.enroll,
      access: "enrollment",
      body: { limit: LIMIT.enrollmentBodyBytes },
      handle: enroll,
    },
    {
      method: "POST",
      path: PATH.certificates,
      access: "cluster",
      body: { limit: LIMIT.enrollmentBodyBytes },
      handle: renew,
    },
  ];
}

/** Throws where nobody can join. */
export function signerOf({ joining }: Pick<RouteContext, "joining">): Signer {
  if (joining.signer !== undefined) return joining.signer;
  const message =
    "this broker signs no certificates: start it with --enrollment-cert-path or --enrollment-issuer";
  throw new Fault("not-found", message);
}

function waiting(message: string): PlainAnswer {
  const answer: CertificateReplyDTO = { state: "waiting", message };
  return { status: 202, body: answer };
}

/** The key that a certificate is wanted for, if the identity key vouches for it. */
function vouchedKey(clusterId: ClusterId, order: CertificateRequestDTO): KeyObject {
  const publicKey = readKey(order.publicKey);
  const text = SIGNED_TEXT.certificateKey(clusterId, publicKeyHash(publicKey));
  if (isSignedText(text, order.keySignature, order.identityKey)) return publicKey;
  throw new Fault("invalid", "keySignature: the identity key does not vouch for publicKey");
}

function readKey(base64: string): KeyObject {
  try {
    return readStrongKey(Buffer.from(base64, "base64"));
  } catch (error) {
    const needs = "send P-256, P-384, P-521, Ed25519 or RSA of at least 2048 bits in DER (SPKI), in base64";
    throw new Fault("invalid", `publicKey: ${errorText(error)}; ${needs}`, { cause: error });
  }
}
