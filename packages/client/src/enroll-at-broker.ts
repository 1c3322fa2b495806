import { X509Certificate } from "node:crypto";
import { Agent } from "node:https";
import { type Clock, errorText, Fault } from "@resource-broker/base";
import {
  type CertificateReplyDTO,
  certificateReplySchema,
  type EnrollmentDTO,
  LIMIT,
  PATH,
  type TrustDTO,
  trustSchema,
} from "@resource-broker/contract";
import { publicKeyHash, readPem, toPem } from "@resource-broker/runtime";
import { type TypedCall, typedCall } from "./calls.ts";
import { type BrokerUrl, type ClientHints, readBrokerUrls } from "./endpoints.ts";
import { createExchanger, messageOf } from "./exchange.ts";
import { answerOf, connectionFault, faultIn, isSuccess, readReply } from "./reply.ts";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 4 * LIMIT.certificatesLength;

/** Where a broker is, and which authorities its certificate may lead to. */
export interface JoinAddress {
  readonly brokerUrls: readonly string[];
  /** SHA-256 of an authority's SubjectPublicKeyInfo, hexadecimal. */
  readonly caHashes: readonly string[];
}

/** What is known of the broker before anything secret is sent. */
export interface TrustedBroker {
  /** Of the authority that the invitation names. */
  readonly caHash: string;
  readonly signer: TrustDTO["signer"];
}

export interface JoinDeps {
  readonly clock: Clock;
  readonly hints: ClientHints;
}

/**
 * Uses an invitation, once at each address until one answers. The broker's authority is read over a connection that is
 * not verified and carries nothing secret; the enrollment is sent over a new one, verified against that authority and
 * the host name. Throws a Fault; `unreachable` and other retryable ones may succeed later with the same keys.
 */
export async function enrollAtBroker(
  { brokerUrls, caHashes }: JoinAddress,
  enrollmentFor: (broker: TrustedBroker) => EnrollmentDTO,
  deps: JoinDeps,
): Promise<CertificateReplyDTO> {
  const faults: Fault[] = [];
  for (const url of readBrokerUrls(brokerUrls, deps.hints)) {
    let hasSent = false;
    try {
      const { authorities, ...broker } = await findAuthority(url, caHashes, deps);
      hasSent = true;
      const toSend = typedCall("POST", PATH.enroll, certificateReplySchema, { body: enrollmentFor(broker) });
      return await send(toSend, { url, tls: { ca: authorities } }, deps);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(error);
      // What the broker itself refuses, its other addresses refuse too.
      if (hasSent && !error.retry) break;
    }
  }
  const last = faults.at(-1) ?? new Fault("unreachable", "no address of the broker was tried");
  if (faults.length < 2) throw last;
  const message = faults.map(({ message: each }) => each).join("; ");
  throw new Fault(last.code, message, { cause: last, details: last.details });
}

async function findAuthority(url: BrokerUrl, caHashes: readonly string[], deps: JoinDeps) {
  // Not verified: the authority is checked by its hash, and the next connection by the authority.
  const tls = { rejectUnauthorized: false } as const;
  const { authorities, signer } = await send(typedCall("GET", PATH.trust, trustSchema), { url, tls }, deps);
  const found = authoritiesIn(authorities, url).map((certificate) => ({
    certificate,
    caHash: publicKeyHash(certificate.publicKey),
  }));
  const trusted = found.filter(({ certificate, caHash }) => certificate.ca && caHashes.includes(caHash));
  const [first] = trusted;
  if (first === undefined) {
    const shown = found.map(({ caHash }) => caHash).join(", ") || "none";
    throw new Fault(
      "no-certificate",
      `${url.text}: no authority of this server is one that the invitation names (it has ${shown}); nothing was sent to it. Check ${deps.hints.url}: either another server answers there, or the broker has a new authority and brokerctl invite must be run again`,
    );
  }
  if (signer === "none") {
    throw new Fault(
      "unsupported",
      `${url.text}: this broker issues no certificates; set --enrollment-cert-path or --enrollment-issuer at the broker`,
    );
  }
  return {
    authorities: trusted.map(({ certificate }) => toPem("CERTIFICATE", certificate.raw)),
    caHash: first.caHash,
    signer,
  };
}

function authoritiesIn(pem: string, url: BrokerUrl): X509Certificate[] {
  try {
    return readPem(pem).map(({ der }) => new X509Certificate(der));
  } catch (cause) {
    throw new Fault("unreachable", `${url.text}: its authorities cannot be read: ${errorText(cause)}`, {
      cause,
    });
  }
}

interface Connection {
  readonly url: BrokerUrl;
  readonly tls: { readonly ca: readonly string[] } | { readonly rejectUnauthorized: false };
}

/** One call on a connection of its own. */
async function send<T>(call: TypedCall<T>, { url, tls }: Connection, deps: JoinDeps): Promise<T> {
  const { clock, hints } = deps;
  const { ca, ...rest } = "ca" in tls ? { ca: [...tls.ca] } : { ...tls, ca: undefined };
  const agent = new Agent({
    ...rest,
    ...(ca === undefined ? {} : { ca }),
    minVersion: "TLSv1.2",
    keepAlive: false,
  });
  const route = { url, agent, deadlineMs: clock.monotonicMs() + TIMEOUT_MS };
  const exchanger = createExchanger(clock, hints.program);
  const sent = await exchanger
    .exchange(messageOf(call), route, (response) => readReply(response, url, MAX_BYTES))
    .finally(() => agent.destroy());
  if (sent.kind === "failed") throw connectionFault(sent.exceeded ?? sent.error, url, hints);
  if (!isSuccess(sent.value)) throw faultIn(sent.value, hints);
  return answerOf(call.schema, sent.value).value;
}
