import { errorText, type Fault, type WireFaultCode } from "@resource-broker/base";
import { LimitError } from "@resource-broker/client";
import { CommandError, type Exit } from "../cli/exit-code.ts";
import { ADMIN_CERTIFICATE, type Credentials } from "./credentials.ts";

/** To whom a call was made, and with what. */
export interface Peer {
  readonly url: URL;
  readonly credentials: Pick<Credentials, "folder" | "name">;
}

interface ConnectionProblem {
  readonly exit: Exit;
  readonly describe: (line: Peer) => string;
}

const unreachable = (describe: ConnectionProblem["describe"]): ConnectionProblem => ({
  exit: "error",
  describe,
});
const untrusted = (describe: ConnectionProblem["describe"]): ConnectionProblem => ({
  exit: "auth",
  describe,
});

const UNREACHABLE = unreachable(() => "the address cannot be reached; check --broker and the network");
const BROKEN = unreachable(() => "the connection was closed before the answer; check the port");
const FOREIGN_CA = untrusted(
  ({ credentials }) =>
    `its certificate is not signed by the authority in ${credentials.folder}/ca.crt; if it is the right broker, put its ca.crt there`,
);

/** What Node and OpenSSL call a failure, and what a person can do about it. */
const BY_CODE: Readonly<Record<string, ConnectionProblem>> = {
  ENOTFOUND: unreachable(({ url }) => `the name ${url.hostname} is not known; check --broker`),
  EAI_AGAIN: unreachable(({ url }) => `the DNS does not answer for ${url.hostname}; check --broker`),
  ECONNREFUSED: unreachable(
    () => "connection refused; check that the broker runs and that --broker is right",
  ),
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: FOREIGN_CA,
  UNABLE_TO_GET_ISSUER_CERT: FOREIGN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: FOREIGN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: FOREIGN_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: FOREIGN_CA,
  CERT_SIGNATURE_FAILURE: FOREIGN_CA,
  CERT_UNTRUSTED: FOREIGN_CA,
  CERT_HAS_EXPIRED: untrusted(
    () => "the broker's own certificate has expired; renew it there: brokerctl certs renew broker",
  ),
  CERT_NOT_YET_VALID: untrusted(
    () => "the broker's own certificate is not valid yet; compare the clocks here and there",
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted(
    ({ url }) =>
      `its certificate is not valid for ${url.hostname}; use a name in the certificate, or: brokerctl certs renew broker --host ${url.hostname}`,
  ),
  // The files in the folder do not belong together, or are not certificates.
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: untrusted(
    ({ credentials }) => `${credentials.folder}: tls.key is not the key of tls.crt`,
  ),
};

const BY_WORDS: readonly (ConnectionProblem & { readonly sign: RegExp })[] = [
  {
    ...untrusted(
      ({ credentials }) =>
        `it refuses the certificate of ${credentials.name} in ${credentials.folder}: a certificate signed by the broker's authority is needed`,
    ),
    sign: /ALERT.*(CERTIFICATE|UNKNOWN CA|ACCESS DENIED)/u,
  },
  {
    ...unreachable(() => "the server does not use TLS; check the port"),
    sign: /WRONG VERSION NUMBER|PACKET LENGTH TOO LONG|HTTP REQUEST/u,
  },
];

/** A call that got no answer: what happened at which address, and the remedy. */
export function connectionError(error: unknown, line: Peer): CommandError {
  if (error instanceof LimitError && error.exceeded !== "bytes") return timeoutError(error, line);
  const { exit, describe } = problemIn(error);
  return new CommandError(exit, `${line.url.origin}: ${describe(line)}`, { cause: error });
}

function timeoutError(cause: LimitError, { url }: Peer): CommandError {
  const message = `${url.origin} gave no answer within ${cause.limit / 1000} s; --request-timeout allows more`;
  return new CommandError("timeout", message, { cause });
}

function problemIn(error: unknown): ConnectionProblem {
  if (error instanceof LimitError) return unreachable(() => "the answer is longer than any of a broker's");
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = wordsOf(error);
  const words = `${code} ${message}`.toUpperCase().replaceAll("_", " ");
  const known = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  return known ?? BY_WORDS.find(({ sign }) => sign.test(words)) ?? unreachable(() => message || code);
}

/** Several addresses of one name that all failed come without a message of their own. */
function wordsOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(wordsOf).join(", ") : errorText(error);
}

/** What a refusal of the broker means to a script. What is not named here is an error like any other. */
const EXITS: Readonly<Partial<Record<WireFaultCode, Exit>>> = {
  "no-certificate": "auth",
  forbidden: "auth",
  "wrong-instance": "conflict",
  "liqo-id-taken": "conflict",
  "no-capacity": "unsatisfiable",
  "quota-exceeded": "unsatisfiable",
  superseded: "conflict",
  "ledger-conflict": "conflict",
  "already-ended": "conflict",
  "key-released": "conflict",
  "key-mismatch": "conflict",
};

/** The broker's refusal in its own words, with what this person can do about it. */
export function asCommandError(
  fault: Fault,
  credentials: Pick<Credentials, "folder" | "name">,
): CommandError {
  const exits: Readonly<Record<string, Exit | undefined>> = EXITS;
  const exit = exits[fault.code] ?? "error";
  return new CommandError(exit, [fault.message, ...remedyFor(fault, credentials)].join("\n  "), {
    cause: fault,
  });
}

function remedyFor(fault: Fault, { folder, name }: Pick<Credentials, "folder" | "name">): string[] {
  switch (fault.code) {
    case "no-certificate":
      return [
        `The certificate of ${name} from ${folder} was used. Renew it: brokerctl certs renew ${name}; if it was revoked: brokerctl certs issue ${name} --force`,
      ];
    case "forbidden":
      return [
        `You are authenticated as ${name} (${folder}). An admin's certificate has the right: ${ADMIN_CERTIFICATE}`,
      ];
    case "no-capacity":
      return reasonsIn(fault);
    // Each message names what is in the way, and the next command; asking again does not help a person.
    case "ledger-conflict":
      return [];
    default:
      return fault.retry ? [fault.advice] : [];
  }
}

/** Why each cluster could not, and where to read more. */
function reasonsIn({ details: { reasons = [], decisionID } }: Fault): string[] {
  const lines = reasons.map(({ clusterID, message }) => `${clusterID}: ${message}`);
  return decisionID === undefined ? lines : [...lines, `More: brokerctl explain ${decisionID}`];
}
