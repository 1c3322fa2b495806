import { Fault } from "@resource-broker/base";
import type { BrokerUrl, ClientHints } from "./endpoints.ts";
import { LimitError } from "./exchange.ts";

type Describe = (url: BrokerUrl, hints: ClientHints) => string;

const UNKNOWN_CA: Describe = (_, { certificates }) =>
  `its certificate is not signed by the authority in ca.crt; put the broker's ca.crt into ${certificates}`;
const BROKEN: Describe = (_, { certificates }) =>
  `the connection broke before the whole answer came; if it always does, check whether the broker accepts tls.crt in ${certificates}`;
const NO_ROUTE: Describe = (_, hints) =>
  `there is no route to that address; check ${hints.url} and the network`;

/** Error codes of Node and OpenSSL, with a remedy. */
const BY_CODE: Readonly<Record<string, Describe>> = {
  ENOTFOUND: ({ host }, hints) => `the name ${host} is not known; check ${hints.url} and the DNS`,
  EAI_AGAIN: ({ host }, hints) => `the DNS does not answer for ${host}; check ${hints.url} and the DNS`,
  ECONNREFUSED: (_, hints) =>
    `nothing listens there; check the port in ${hints.url} and whether the broker runs`,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CA,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CA,
  CERT_SIGNATURE_FAILURE: UNKNOWN_CA,
  CERT_UNTRUSTED: UNKNOWN_CA,
  CERT_HAS_EXPIRED: () =>
    "its certificate has expired; renew tls.crt at the broker, or correct the local clock",
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet; compare the clocks here and at the broker",
  INVALID_PURPOSE: () =>
    "its certificate is not made for servers; issue the broker's tls.crt with serverAuth",
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host }, hints) =>
    `its certificate is not made for ${host}; use a name in ${hints.url} that it holds, or issue the broker's tls.crt with this one`,
};
const TLS_PROBLEMS: readonly { readonly sign: RegExp; readonly problem: Describe }[] = [
  {
    // How a server rejects our certificate; the prefix differs between OpenSSL releases.
    sign: /ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/,
    problem: (_, { certificates }) =>
      `it refuses our certificate; put a valid tls.crt and tls.key, issued by the broker's authority, into ${certificates}`,
  },
  {
    sign: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/,
    problem: (_, hints) => `it does not speak TLS; check the port in ${hints.url}`,
  },
  {
    sign: /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|HANDSHAKE_FAILURE|NO_SHARED_CIPHER/,
    problem: (_, { program }) =>
      `it and this ${program} share no version of TLS; the broker must allow 1.2 or 1.3`,
  },
];

/** A call without an answer, as a Fault: the address, the problem and the remedy. */
export function connectionFault(error: unknown, url: BrokerUrl, hints: ClientHints): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof LimitError) return new Fault("unreachable", `${url.text}: ${limitText(error, hints)}`);
  return new Fault("unreachable", `${url.text}: ${problemOf(error, url, hints)}`, { cause: error });
}

function limitText({ exceeded, limit }: LimitError, hints: ClientHints): string {
  switch (exceeded) {
    case "connect":
      return `no connection within ${limit / 1000} s; check ${hints.url}, the network and firewalls`;
    case "answer":
      return `it accepted the call and did not answer within ${limit / 1000} s`;
    case "call":
      return "no answer within the time for the whole call";
    case "bytes":
      return `an answer of more than ${limit / 1024 / 1024} MiB came`;
  }
}

function problemOf(error: unknown, url: BrokerUrl, hints: ClientHints): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  const known = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  const describe = known ?? tlsProblem(`${code} ${error.message}`);
  return describe?.(url, hints) ?? messageOf(error, code);
}

/** OpenSSL's error name is in the code or only in the message. */
function tlsProblem(text: string): Describe | undefined {
  const words = text.toUpperCase().replaceAll(" ", "_");
  return TLS_PROBLEMS.find(({ sign }) => sign.test(words))?.problem;
}

/** When several addresses of one name fail, the error has no message of its own. */
function messageOf(error: Error, code: string): string {
  if (error instanceof AggregateError) {
    const each = error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one)));
    return each.join(", ");
  }
  return error.message === "" ? code : error.message;
}
